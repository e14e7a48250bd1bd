"""Aggregates over a bag that add its multiplicities up, in the place of counting every row out.

    γ(rows of B) = finish(Σ m · x, Σ m over B)

(A. Gupta, I. S. Mumick, V. S. Subrahmanian, *Maintaining Views Incrementally*, SIGMOD 1993: counting.) What is
evaluated as batch needs plain rows: a bag of what is stored and of what has changed is grouped by all of its columns,
and each row repeated as often as it is there, before it is grouped once more. The memo has both forms, and prices them
alike, as which of its groups are plain rows is known of a chosen plan alone.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Column
from slacktide.algebra.tree import fresh_ids
from slacktide.algebra.types import DataType
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.states import finished, state_of, summarised
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_rowable
from slacktide.program.operator import Operator


def aggregate_by_multiplicity(operator: Operator) -> Operator | None:
    """The same rows by sums of multiplicities; None where that is no sum or count over a bag."""
    match operator:
        case o.Evaluate(r.Aggregate(child=r.Scan()) as query, (o.Input(operator=bag),)):
            if is_rowable(bag) or not is_additive(query):
                return None
        case _:
            return None
    ids = fresh_ids(query)

    def fresh(name: str, data_type: DataType) -> Column:
        return Column(next(ids), name, data_type, nullable=False)

    # Nothing is stored under the id of its chain, so that settings, which it tells apart, do not matter.
    state = state_of(query, fresh)
    merged: Operator = summarised(query, state, bag)
    if not state.keys:  # of nothing there is one row all the same
        merged = o.Combine(merged, ())
    return finished(query, state, merged)
