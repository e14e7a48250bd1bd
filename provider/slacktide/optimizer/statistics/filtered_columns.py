"""What is known of columns once a filter has left some of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjuncts
from slacktide.optimizer.statistics.bounds import ORDERED, Bound, bound_of, ends_of
from slacktide.optimizer.statistics.computed import Known
from slacktide.optimizer.statistics.facts import ColumnFacts, Figure

_REJECTING: Final = frozenset({"=", "isnotnull", "like", *ORDERED})


def null_rejected(predicate: s.Scalar | None) -> Iterator[int]:
    """The columns that have no NULL where a predicate is true, by id."""
    for part in conjuncts(predicate):
        if isinstance(part, s.Call) and part.function in _REJECTING:
            for argument in part.arguments:
                inner = argument
                while isinstance(inner, s.Cast):
                    inner = inner.operand
                if isinstance(inner, s.Reference):
                    yield inner.column


def narrowed_columns(predicate: s.Scalar | None, known: Known) -> Iterator[tuple[int, ColumnFacts]]:
    """The columns of which a predicate leaves few values, by id, with what is known of those.

    Without it a join by such a column, or groups of it, would have the rows of one value share all of them.
    """
    bounds: dict[int, list[Bound]] = {}
    for part in conjuncts(predicate):
        bound = bound_of(part, known)
        if bound is not None and isinstance(bound.value, s.Reference):
            bounds.setdefault(bound.value.column, []).append(bound)
        match part:
            case s.Call("=", (s.Reference(column), s.Literal())):
                yield column, _of_values(known(column), 1.0)
            case s.Call("in", (s.Reference(column), *listed)) if _are_constants(listed):
                yield column, _of_values(known(column), float(len(listed)))
    for column, found in bounds.items():
        low, high = ends_of(found)
        yield column, _within(known(column), low, max(low, high))


def _are_constants(listed: Sequence[s.Scalar]) -> bool:
    return all(isinstance(one, s.Literal) for one in listed)


def _of_values(facts: ColumnFacts, values: float) -> ColumnFacts:
    if facts.sure is not None:
        values = min(values, max(facts.sure.value, 1.0))
    return replace(facts, kept=Figure(values, "observed"), source_column=None)


def _within(facts: ColumnFacts, low: float, high: float) -> ColumnFacts:
    """A part of the range of a column, and as much of its values."""
    if facts.ends is None:
        return facts
    width, kept = facts.ends[1] - facts.ends[0], facts.values
    if kept is not None:
        kept = replace(kept, value=max(kept.value * (high - low), min(kept.value, 1.0)))
    least = facts.ends[0]
    return replace(
        facts, low=least + low * width, high=least + high * width, kept=kept, source_column=None
    )
