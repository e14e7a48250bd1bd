"""The share of rows for which a predicate is true, from what is known of columns.

Values are taken for evenly spread and conditions for independent, but for those that bound one column
(P. Selinger and others, *Access Path Selection in a Relational Database Management System*, SIGMOD 1979,
§4, whose defaults are used where nothing is known: a tenth for an equality, a third for an inequality). A
comparison is never true of NULL. A share comes from where the least certain figure comes from that it is made of.

A column of a source of which nobody knows how many values it has may be a key (`source_columns`), and an
equality then true of one row. A tenth was tried in its place, and foretold increments worse (ADR 0009).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final, NamedTuple

from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjuncts
from slacktide.optimizer.statistics.bounds import Bound, bound_of, ends_of
from slacktide.optimizer.statistics.computed import Known, facts_of
from slacktide.optimizer.statistics.facts import Figure, comparable

EQUAL: Final = Figure(0.1)
RANGE: Final = Figure(1 / 3)
LIKE: Final = Figure(0.1)
OTHER: Final = Figure(0.5)
ALWAYS: Final = Figure(1.0, "observed")
NEVER: Final = Figure(0.0, "observed")


def selectivity(predicate: s.Scalar | None, known: Known) -> Figure:
    """The share of rows for which a predicate is true, between 0 and 1.

    Args:
        predicate: None is true of all.
        known: what is known of a column, by its id.
    """
    done: dict[bytes, _Truth] = {}
    stack = [] if predicate is None else [(predicate, False)]
    while stack:
        part, expanded = stack.pop()
        inner = _connected(part)
        if inner and not expanded:
            stack += [(part, True), *((one, False) for one in inner)]
        elif inner:
            done[part.digest] = _joined(part, inner, [done[one.digest] for one in inner], known)
        else:
            found = _leaf(part, known)
            true = Figure(min(max(found.value, 0.0), 1.0), found.origin)
            false = Figure(max(_told(part, known).value - true.value, 0.0), true.origin)
            done[part.digest] = _Truth(true, false)
    return ALWAYS if predicate is None else done[predicate.digest].true


class _Truth(NamedTuple):
    """The shares of rows for which a predicate is true, and false; for the others it is NULL."""

    true: Figure
    false: Figure


def _connected(part: s.Scalar) -> tuple[s.Scalar, ...]:
    if not isinstance(part, s.Call) or part.function not in {"and", "or", "not"}:
        return ()
    return tuple(conjuncts(part)) if part.function == "and" else part.arguments


def _joined(
    part: s.Scalar, inner: Sequence[s.Scalar], found: Sequence[_Truth], known: Known
) -> _Truth:
    function = part.function if isinstance(part, s.Call) else ""
    if function == "not":
        return _Truth(found[0].false, found[0].true)
    if function == "or":
        return _Truth(_either([one.true for one in found]), both([one.false for one in found]))
    true = both(_conjoined(inner, [one.true for one in found], known))
    most = but(true).value  # conditions that bound one column are not independent
    false = _either([one.false for one in found])
    return _Truth(true, replace(false, value=min(false.value, most)))


def _either(shares: Sequence[Figure]) -> Figure:
    """The rows for which at least one of some independent conditions is true."""
    return but(both([but(share) for share in shares]))


def _conjoined(parts: Sequence[s.Scalar], shares: Sequence[Figure], known: Known) -> list[Figure]:
    """The shares of conditions that all hold: those that bound one column are one."""
    apart: list[Figure] = []
    bounded: dict[bytes, list[tuple[Bound, Figure]]] = {}
    for part, share in zip(parts, shares, strict=True):
        bound = bound_of(part, known)
        if bound is None:
            apart.append(share)
        else:
            bounded.setdefault(bound.value.digest, []).append((bound, share))
    return [*apart, *(_between(found, known) for found in bounded.values())]


def _between(found: Sequence[tuple[Bound, Figure]], known: Known) -> Figure:
    """The share of rows of which a value lies between bounds.

    One of all values at least, as far as each bound leaves one: who asks for a range takes it for one that has rows.
    """
    if len(found) == 1:
        return found[0][1]
    bounded = found[0][0].value
    low, high = ends_of(bound for bound, _ in found)
    distinct = facts_of(bounded, known).values
    value = Figure(0.0, "observed") if distinct is None else distinct
    least = min(1.0 / value.value if value.value >= 1.0 else 0.0, high, 1.0 - low)
    shares = [share for _, share in found]
    if high - low < least:
        shares.append(value)
    return not_null(bounded, known).scaled(max(high - low, least), *shares)


def but(share: Figure) -> Figure:
    """The other rows."""
    return Figure(1.0 - share.value, share.origin)


def both(shares: Sequence[Figure]) -> Figure:
    """The rows for which several independent conditions are true."""
    return ALWAYS.scaled(prod(share.value for share in shares), *shares)


def _leaf(part: s.Scalar, known: Known) -> Figure:
    match part:
        case s.Literal():
            return ALWAYS if part.sql.lower() == "true" else NEVER
        case s.Call("=" | "<=>" as function, (left, right)):
            return _equality(function, left, right, known)
        case s.Call("<" | "<=" | ">" | ">="):
            return _inequality(part, known)
        case s.Call("in", (value, *listed)):
            return _equality("=", value, listed[0], known).scaled(len(listed)) if listed else NEVER
        case s.Call("isnull", (value,)):
            return _nulls(value, known)
        case s.Call("isnotnull", (value,)):
            return but(_nulls(value, known))
        case s.Call("like" | "startswith" | "endswith" | "contains" | "rlike"):
            return LIKE
        case _:
            return OTHER


def _equality(function: str, left: s.Scalar, right: s.Scalar, known: Known) -> Figure:
    facts = [facts_of(one, known) for one in (left, right) if not isinstance(one, s.Literal)]
    found = comparable(*facts) if len(facts) == 2 else facts
    counts = [one.values for one in found if one.values is not None]
    if not counts:
        return EQUAL
    counts = [count for count in counts if count.origin != "default"] or counts
    valued = [not_null(value, known) for value in (left, right) if function == "="]
    return both(valued).scaled(1.0 / max(1.0, *(count.value for count in counts)), *counts)


def _inequality(part: s.Scalar, known: Known) -> Figure:
    bound = bound_of(part, known)
    if bound is None:
        return RANGE
    return not_null(bound.value, known).scaled(bound.place if bound.side < 0 else 1.0 - bound.place)


def _told(part: s.Scalar, known: Known) -> Figure:
    """The rows for which a condition without others in it is true or false."""
    match part:
        case s.Literal():
            return NEVER if part.nullable else ALWAYS
        case s.Call("=" | "<" | "<=" | ">" | ">=" | "in", arguments):
            return both([not_null(value, known) for value in arguments])
        case _:
            return ALWAYS


def not_null(value: s.Scalar, known: Known) -> Figure:
    """The rows that have a value: all of them, where nobody has said how many have none."""
    nulls = _nulls(value, known)
    return ALWAYS if nulls.origin == "default" else but(nulls)


def _nulls(value: s.Scalar, known: Known) -> Figure:
    return facts_of(value, known).nulls if value.nullable else NEVER
