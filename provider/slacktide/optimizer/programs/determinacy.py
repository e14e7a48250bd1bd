"""Whether what is stored of a view follows from the rows of its sources alone.

Sums of floating-point numbers depend on the order in which they are added up, lists on that in which rows come, and of ties
or equals that are told apart any may be taken. An answer that was made by another query than such a state need not hold
what the state does, though both are of the same rows: changes that follow from the one are none of the other.
"""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.order import IN_ANY_ORDER
from slacktide.algebra.tree import relations
from slacktide.algebra.types import (
    DataType,
    decimal_of,
    has_floating,
    is_averaged_in_doubles,
    is_collated,
)
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.additive import is_additive

_AVERAGES: Final = frozenset({"avg", "try_avg"})
_RANKS: Final = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})


def are_states_determined(analysis: Maintainability) -> bool:
    """Whether all results below the answer, which states hold, follow from the rows of the sources.

    What is recomputed at the root has the answer itself for its old result; what adds up has it from its state.
    """
    root = analysis.root
    is_stored = not (isinstance(root, r.Aggregate) and is_additive(root))
    return all(_is_determined(rel) for rel in relations(root) if rel != root or not is_stored)


def is_determined(analysis: Maintainability) -> bool:
    """Whether the answer and all results below it follow from the rows of the sources, so that any two computations agree."""
    return all(map(_is_determined, relations(analysis.root)))


def _is_determined(rel: r.Rel) -> bool:
    match rel:
        case r.Limit():
            return False
        case r.Aggregate():
            keys = all(_is_exact(key.column.type) for key in rel.keys)
            return keys and all(_is_in_any_order(measure.call) for measure in rel.measures)
        case r.Window():
            return all(one.call.function in _RANKS for one in rel.functions)
        case _:
            return True


def _is_in_any_order(call: s.AggregateCall) -> bool:
    """Whether an aggregate is the same in whatever order rows come."""
    if call.function in _AVERAGES and not _is_averaged_exactly(call):
        return False
    return call.function in IN_ANY_ORDER and all(_is_exact(one.type) for one in call.arguments)


def _is_averaged_exactly(call: s.AggregateCall) -> bool:
    """Whether Spark adds up what it averages without rounding, as states do; it adds integers up as doubles."""
    return decimal_of(call.type) is not None and not is_averaged_in_doubles(call.type)


def _is_exact(data_type: DataType) -> bool:
    """Whether equal values are the same, and sums of them exact."""
    return not (has_floating(data_type) or is_collated(data_type))
