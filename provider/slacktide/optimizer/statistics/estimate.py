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
from slacktide.optimizer.statistics.combinations import of_groups, that_meet
from slacktide.optimizer.statistics.computed import Known, facts_of
from slacktide.optimizer.statistics.facts import (
    END,
    UNKNOWN_COLUMN,
    UNKNOWN_DISTINCT,
    ColumnFacts,
    Figure,
    SourceColumn,
    Statistics,
    comparable,
    total,
    worst,
)
from slacktide.optimizer.statistics.filtered_columns import narrowed_columns, null_rejected
from slacktide.optimizer.statistics.selectivity import (
    ALWAYS,
    NEVER,
    both,
    not_null,
    selectivity,
)
from slacktide.optimizer.statistics.widths import scan_bytes

GROUPED: Final = 0.1
"""Groups for each row, where nobody knows how many different keys there are."""
MOST_PAIRS: Final = 1e15
"""Rows of a join that are expected at most: of joins without keys no number would be large enough."""
GENERATED: Final = Figure(3.0)
"""Rows that a generator makes of one."""
NO_NULLS: Final = Figure(0.0, "observed")
_NO_VALUES: Final = ColumnFacts(Figure(0.0, "observed"), nulls=NO_NULLS)
Columns = Mapping[int, ColumnFacts]
Sides = tuple[r.Columns, r.Columns]
Pair = tuple[s.Scalar, s.Scalar]


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
        return found if found.values is not None else replace(found, distinct=guess)

    def share(self, share: Figure) -> Estimate:
        """A part of the rows."""
        return replace(self, rows=self.rows.scaled(share.value, share))

    def filtered(self, predicate: s.Scalar | None) -> Estimate:
        """The rows for which a predicate is true."""
        left = self.share(selectivity(predicate, self.column))
        columns = {**self.columns, **dict(narrowed_columns(predicate, _in(self.columns)))}
        for column in null_rejected(predicate):
            columns[column] = replace(columns.get(column, UNKNOWN_COLUMN), nulls=NO_NULLS)
        return replace(left, columns=columns)


def source_columns(statistics: Statistics, source: str, fields: r.Columns) -> Columns:
    """What is known of columns of a source, by id; one of which nothing is known may be a key."""
    known = statistics.source(source)
    guess = Figure(max(known.rows.value, *(change.rows.value for change in known.changes), 1.0))
    found: dict[int, ColumnFacts] = {}
    for column in fields:
        facts = known.columns.get(column.name, UNKNOWN_COLUMN)
        of = SourceColumn(source, column.name, known.rows, known.key)
        found[column.id] = replace(facts, distinct=facts.distinct or guess, source_column=of)
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
    """What is known of computed columns."""
    return {item.column.id: facts_of(item.value, _in(columns)) for item in items}


def _in(columns: Columns) -> Known:
    return lambda column: columns.get(column, UNKNOWN_COLUMN)


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
    if facts.values is None:
        return None
    more, empty = len({one.sql for one in constants}), sum(one.nullable for one in constants)
    nulls = [
        facts.nulls.scaled(len(passed) / len(values)),
        Figure(empty / len(values), "observed"),
    ]
    distinct = replace(facts.values, value=facts.values.value + more)
    return ColumnFacts(distinct, nulls=total(nulls))


def met(left: Estimate, right: Estimate, condition: s.Scalar | None, sides: Sides) -> Figure:
    """The pairs of rows for which a condition is true."""
    parts = _taken_apart(condition, sides)
    pairs = [(equal.left, equal.right) for equal in parts.equalities]
    keys = domains(pairs, left, right)
    share = min((1.0 / max(key.value, 1.0) for key in keys), default=1.0)
    valued = _valued(parts, left, right)
    pair = replace(left, columns={**left.columns, **right.columns})
    rest = both([selectivity(p, pair.column) for p in (*parts.left, *parts.right, *parts.both)])
    share *= valued.value * rest.value
    found = left.rows.scaled(right.rows.value * share, right.rows, valued, rest, *keys)
    return replace(found, value=min(found.value, MOST_PAIRS))


def _taken_apart(condition: s.Scalar | None, sides: Sides) -> Condition:
    """The parts of a condition; of few pairs NULL leaves open whether they are equal, and the OR would hide the key."""
    told = conjunction(_as_null_safe(part) for part in conjuncts(condition))
    return take_apart(told, *sides)


def _as_null_safe(part: s.Scalar) -> s.Scalar:
    equal = null_aware(part)
    return part if equal is None else replace(equal, function="<=>")


def _valued(parts: Condition, left: Estimate, right: Estimate) -> Figure:
    """The share of pairs of which no key is NULL; several columns of a side are NULL together."""
    plain = [equal for equal in parts.equalities if equal.operator == "="]
    shares = [
        [not_null(equal.left, left.column) for equal in plain],
        [not_null(equal.right, right.column) for equal in plain],
    ]
    return both([min(of_side, key=lambda one: one.value) for of_side in shares if of_side])


def domains(pairs: Sequence[Pair], left: Estimate, right: Estimate) -> list[Figure]:
    """How many values there are by which rows meet, of each column and of several together.

    Args:
        pairs: values of both sides that are equal where rows meet.
        left: one side.
        right: the other one.
    """
    keys = [domain(*pair, left, right) for pair in pairs]
    if len(pairs) < 2:
        return keys
    facts = [_keys(*pair, left, right) for pair in pairs]
    together = that_meet(*zip(*facts, strict=True))
    return keys if together is None else [*keys, together]


def domain(one: s.Scalar, other: s.Scalar, left: Estimate, right: Estimate) -> Figure:
    """How many different values two keys that meet have."""
    found = (facts.values for facts in _keys(one, other, left, right))
    known = [figure for figure in found if figure is not None]
    sure = [figure for figure in known if figure.origin != "default"]
    if sure:
        return max(sure, key=lambda figure: figure.value)
    # A key is on the side that has fewer values, if on any.
    guesses = known or [left.rows, right.rows]
    return Figure(min(figure.value for figure in guesses))


def _keys(
    one: s.Scalar, other: s.Scalar, left: Estimate, right: Estimate
) -> tuple[ColumnFacts, ColumnFacts]:
    return comparable(facts_of(one, _in(left.columns)), facts_of(other, _in(right.columns)))


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
        own = facts_of(equal.left, _in(left.columns)).sure
        other = facts_of(equal.right, _in(right.columns)).sure
        if own is not None and other is not None and own.value:
            least = min(other, rows, key=lambda one: one.value)
            is_there = not_null(equal.left, left.column) if equal.operator == "=" else ALWAYS
            found.append(least.scaled(is_there.value / own.value, own, other, is_there))
    return found


def groups(keys: Sequence[s.Scalar], child: Estimate) -> Figure:
    """The groups of equal keys among rows: one without keys."""
    if not keys:
        return Figure(1.0, "observed")
    known, is_open = of_groups([facts_of(key, _in(child.columns)) for key in keys])
    most = min(known.value, child.rows.value)
    if is_open:
        return Figure(max(GROUPED * child.rows.value, most))
    return Figure(most, worst(child.rows, known))
