"""What is expected of rows, and how that of several inputs makes that of a result.

A column keeps the number of different values that its relation has in all, through filters and in
changes: the share of pairs that meet in an equality is one over the larger of both numbers (containment
of values, Selinger 1979 §4), so that a change of a tenth of the rows meets a tenth of the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import (
    Condition,
    conjunction,
    conjuncts,
    null_aware,
    take_apart,
)
from slacktide.optimizer.statistics.facts import (
    END,
    UNKNOWN_COLUMN,
    UNKNOWN_DISTINCT,
    ColumnFacts,
    Figure,
    Statistics,
    total,
    worst,
)
from slacktide.optimizer.statistics.selectivity import ALWAYS, NEVER, both, selectivity
from slacktide.optimizer.statistics.widths import scan_bytes

GROUPED: Final = 0.1
"""Groups for each row, where nobody knows how many different keys there are."""
MOST_PAIRS: Final = 1e15
"""Rows of a join that are expected at most: of joins without keys no number would be large enough."""
GENERATED: Final = Figure(3.0)
"""Rows that a generator makes of one."""
_NO_VALUES: Final = ColumnFacts(Figure(0.0, "observed"), nulls=Figure(0.0, "observed"))
Columns = Mapping[int, ColumnFacts]
Sides = tuple[r.Columns, r.Columns]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is expected of a relation or a change.

    Attributes:
        rows: copies counted.
        columns: what is known of them, by id.
        planned_bytes: that Spark expects of it before it runs (`widths`); infinite where nobody knows.
    """

    rows: Figure
    columns: Columns
    planned_bytes: float

    def column(self, column: int) -> ColumnFacts:
        """What is known of a column; a default of one of which nothing is."""
        found = self.columns.get(column, UNKNOWN_COLUMN)
        guess = Figure(UNKNOWN_DISTINCT)
        return found if found.distinct is not None else replace(found, distinct=guess)

    def share(self, share: Figure) -> Estimate:
        """A part of the rows."""
        return replace(self, rows=self.rows.scaled(share.value, share))


def source_columns(statistics: Statistics, source: str, fields: r.Columns) -> Columns:
    """What is known of columns of a source, by id; one of which nothing is known may be a key."""
    known = statistics.source(source)
    guess = Figure(max(known.rows.value, *(change.rows.value for change in known.changes), 1.0))
    found: dict[int, ColumnFacts] = {}
    for column in fields:
        facts = known.columns.get(column.name, UNKNOWN_COLUMN)
        found[column.id] = facts if facts.distinct is not None else replace(facts, distinct=guess)
    return found


def changed_columns(statistics: Statistics, source: str, fields: r.Columns) -> Columns:
    """What is known of columns of a source's change in a single run, by id."""
    covered = statistics.source(source).change(END).covered
    columns = source_columns(statistics, source, fields)
    return {
        column.id: replace(columns[column.id], covered=covered.get(column.name))
        for column in fields
    }


def source_estimate(
    statistics: Statistics, source: str, fields: r.Columns, rows: Figure
) -> Estimate:
    """A source of so many rows; of its bytes those that are there in the end are expected."""
    known = statistics.source(source)
    whole = scan_estimate(statistics, source, fields, known.rows, known.bytes)
    return replace(whole, rows=rows)


def scan_estimate(
    statistics: Statistics, source: str, fields: r.Columns, rows: Figure, size: float
) -> Estimate:
    """What files of a source give, or of its changes, that hold so many rows and bytes."""
    known = statistics.source(source)
    columns = source_columns(statistics, source, fields)
    return Estimate(rows, columns, scan_bytes(known, rows, size, fields))


def assigned(items: Sequence[s.Assignment], columns: Columns) -> dict[int, ColumnFacts]:
    """What is known of computed columns: those that only pass a value on."""
    return {
        item.column.id: columns.get(item.value.column, UNKNOWN_COLUMN)
        if isinstance(item.value, s.Reference)
        else UNKNOWN_COLUMN
        for item in items
    }


def expanded(
    projections: Sequence[Sequence[s.Scalar]], columns: Columns, fields: r.Columns
) -> Columns:
    """What is known of the columns of rows that are there once for every projection, as in ROLLUP.

    Of one that is a column of the rows, or a constant in its place, there are the values of both.
    """
    by_field = zip(fields, zip(*projections, strict=True), strict=True)
    told = ((field.id, _of_all(values, columns)) for field, values in by_field)
    return {number: facts for number, facts in told if facts is not None}


def _of_all(values: Sequence[s.Scalar], columns: Columns) -> ColumnFacts | None:
    """What is known of one column that has each of some values as often; None where they are more than a column and constants."""
    passed = [value for value in values if isinstance(value, s.Reference)]
    constants = [value for value in values if isinstance(value, s.Literal)]
    if len({one.column for one in passed}) > 1 or len(passed) + len(constants) < len(values):
        return None
    facts = columns.get(passed[0].column, UNKNOWN_COLUMN) if passed else _NO_VALUES
    if facts.distinct is None:
        return None
    more, empty = len({one.sql for one in constants}), sum(one.nullable for one in constants)
    nulls = [
        facts.nulls.scaled(len(passed) / len(values)),
        Figure(empty / len(values), "observed"),
    ]
    distinct = replace(facts.distinct, value=facts.distinct.value + more)
    return ColumnFacts(distinct, nulls=total(nulls))


def met(left: Estimate, right: Estimate, condition: s.Scalar | None, sides: Sides) -> Figure:
    """The pairs of rows for which a condition is true."""
    parts = _taken_apart(condition, sides)
    keys = [domain(equal.left, equal.right, left, right) for equal in parts.equalities]
    # Several columns of one key are no independent conditions.
    share = min((1.0 / max(key.value, 1.0) for key in keys), default=1.0)
    pair = replace(left, columns={**left.columns, **right.columns})
    rest = both([selectivity(p, pair.column) for p in (*parts.left, *parts.right, *parts.both)])
    found = left.rows.scaled(right.rows.value * share * rest.value, right.rows, rest, *keys)
    return replace(found, value=min(found.value, MOST_PAIRS))


def _taken_apart(condition: s.Scalar | None, sides: Sides) -> Condition:
    """The parts of a condition; of few pairs NULL leaves open whether they are equal, and the OR would hide the key."""
    told = conjunction(null_aware(part) or part for part in conjuncts(condition))
    return take_apart(told, *sides)


def domain(one: s.Scalar, other: s.Scalar, left: Estimate, right: Estimate) -> Figure:
    """How many different values two keys that meet have."""
    both_known = (_distinct(key, side) for key, side in ((one, left), (other, right)))
    known = [figure for figure in both_known if figure is not None]
    sure = [figure for figure in known if figure.origin != "default"]
    if sure:
        return max(sure, key=lambda figure: figure.value)
    # A key is on the side that has fewer values, if on any.
    guesses = known or [left.rows, right.rows]
    return Figure(min(figure.value for figure in guesses))


def meeting_share(
    left: Estimate, right: Estimate, condition: s.Scalar | None, sides: Sides, pairs: Figure
) -> Figure:
    """The share of the left rows that meet some right row: no more than there are `pairs` for, nor than have its keys."""
    if not left.rows.value:
        return NEVER
    shares = [Figure(pairs.value / left.rows.value, pairs.origin), ALWAYS]
    return min([*shares, *_key_shares(left, right, condition, sides)], key=lambda one: one.value)


def _key_shares(
    left: Estimate, right: Estimate, condition: s.Scalar | None, sides: Sides
) -> list[Figure]:
    """By equality of which both numbers are known: the share of the left values that the right side has, too.

    The side with fewer values has no others than the other side (containment, as in `met`).
    """
    parts = _taken_apart(condition, sides)
    rest = both([selectivity(part, right.column) for part in parts.right])
    rows = right.rows.scaled(rest.value, rest)
    found: list[Figure] = []
    for equal in parts.equalities:
        own, other = (_sure(key, side) for key, side in ((equal.left, left), (equal.right, right)))
        if own is not None and other is not None and own.value:
            least = min(other, rows, key=lambda one: one.value)
            found.append(least.scaled(1.0 / own.value, own, other))
    return found


def _sure(key: s.Scalar, side: Estimate) -> Figure | None:
    """How many different values a key has, where somebody has counted or declared it."""
    distinct = _distinct(key, side)
    return None if distinct is None or distinct.origin == "default" else distinct


def _distinct(key: s.Scalar, side: Estimate) -> Figure | None:
    """How many different values a key has, if it is a column."""
    if not isinstance(key, s.Reference):
        return None
    return side.columns.get(key.column, UNKNOWN_COLUMN).distinct


def groups(keys: Sequence[s.Scalar], child: Estimate) -> Figure:
    """The groups of equal keys among rows: one without keys."""
    counts = [
        child.column(key.column).distinct if isinstance(key, s.Reference) else None for key in keys
    ]
    sure = [count for count in counts if count is not None and count.origin != "default"]
    if len(sure) < len(counts):
        return child.rows.scaled(GROUPED, Figure(0.0))
    if not keys:
        return Figure(1.0, "observed")
    product = 1.0
    for count in sure:
        product = min(product * max(count.value, 1.0), child.rows.value)
    return Figure(min(product, child.rows.value), worst(child.rows, *sure))


def added(children: Sequence[Estimate], sides: Sequence[r.Columns], fields: r.Columns) -> Estimate:
    """The rows of several relations one after another, columns by position."""
    rows = total(child.rows for child in children)
    columns: dict[int, ColumnFacts] = {}
    for at, field in enumerate(fields):
        known = [
            child.columns.get(side[at].id, UNKNOWN_COLUMN)
            for child, side in zip(children, sides, strict=True)
        ]
        figures = [facts.distinct for facts in known if facts.distinct is not None]
        largest = max(figures, key=lambda figure: figure.value, default=None)
        whole = largest is not None and len(figures) == len(known)
        columns[field.id] = ColumnFacts(
            Figure(largest.value, worst(*figures)) if whole and largest is not None else None
        )
    return Estimate(rows, columns, sum(child.planned_bytes for child in children))
