"""Which side of a join is worked out before a large table is read, and how much of a table ranges of keys leave."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Cast, Column, reference
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.program import operator as o
from slacktide.program.bounding import snapshot_column
from slacktide.program.materialising import (
    LARGE_ROWS,
    MOST_CHANGED,
    SHARE,
    materialised,
    worked_out_first,
)
from slacktide.program.multiplicity import is_rowable, operators_planned
from slacktide.program.operator import Operator
from slacktide.program.origin import origins_of
from slacktide.spark.tables.ranges import KeyRanges

X, Y, Z = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyz", 1))
CHANGE = o.ReadChanges("s", (X,))
TABLE, LARGE = o.ReadSnapshot("t", (Y,), "after"), o.ReadSnapshot("u", (Z,), "before")
VALUES = r.Values((X,), ())
WRITTEN = o.ReadSaved("states/w", (X,), is_bag=True)


def equal(left: Column, right: Column) -> Call:
    return Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)


MET = o.JoinBags(CHANGE, TABLE, equal(X, Y))


def place(
    left: Operator, right: Operator, rows: float = LARGE_ROWS, changed: float = 1
) -> int | None:
    return materialised(o.JoinBags(left, right, equal(X, Z)), (rows, rows), lambda _: changed)


def test_what_a_change_has_met_is_worked_out_before_it_meets_a_large_table() -> None:
    assert place(MET, LARGE) == 0
    assert place(LARGE, MET) == 1
    assert place(o.Add((MET, o.Negate(MET)), MET.columns), LARGE) == 0


@pytest.mark.parametrize(
    ("side", "why"),
    [
        (CHANGE, "Spark knows the bytes of what arrived"),
        (o.JoinBags(o.Evaluate(VALUES, ()), TABLE, equal(X, Y)), "nothing has changed"),
        (o.JoinBags(o.ReadSnapshot("s", (X,), "after"), TABLE, equal(X, Y)), "no change is met"),
        (
            o.Add((MET, o.JoinBags(o.ReadBag("states/b", (X,)), TABLE, equal(X, Y))), MET.columns),
            "nor in each part",
        ),
        (o.JoinBags(WRITTEN, TABLE, equal(X, Y)), "nobody knows how many rows the run wrote"),
    ],
)
def test_nothing_else_is(side: Operator, why: str) -> None:
    assert place(side, LARGE) is None, why


def test_it_pays_for_few_rows_and_a_large_table_alone() -> None:
    assert place(MET, LARGE, rows=LARGE_ROWS - 1) is None
    assert place(MET, LARGE, changed=SHARE * LARGE_ROWS) == 0
    assert place(MET, LARGE, changed=SHARE * LARGE_ROWS + 1) is None
    assert place(MET, LARGE, changed=float("inf")) is None
    assert place(MET, o.ReadBag("states/b", (Z,))) is None, "a state is read by its keys"


@pytest.mark.parametrize(
    ("bounds", "low", "high", "share"),
    [
        (((1, 10), (91, 100)), 1.0, 100.0, 0.2),
        (tuple((key, key) for key in range(1, 24, 2)), 1.0, 25.0, 0.48),
        (((Decimal("1.5"), Decimal("2.5")),), 0.0, 4.0, 0.4),
        (((-5, 500),), 0.0, 100.0, 1.0),
        ((), 0.0, 100.0, 0.0),
        (((1, 2),), None, 100.0, 1.0),
        (((1, 1),), 1.0, 1.0, 1.0),
    ],
)
def test_the_share_of_all_values_within_ranges(
    bounds: tuple[tuple[int, int], ...], low: float | None, high: float | None, share: float
) -> None:
    assert KeyRanges(bounds, has_null=False).share(low, high) == pytest.approx(share)


def test_a_key_is_followed_to_the_column_of_a_source() -> None:
    renamed = o.Map(o.Select(LARGE, equal(Z, Z)), (Assignment(X, reference(Z)),))
    assert snapshot_column(renamed, reference(X)) == ("u", "z")
    wider = o.Map(LARGE, (Assignment(X, Cast(reference(Z), "BIGINT", True)),))
    assert snapshot_column(wider, reference(X)) is None
    assert snapshot_column(MET, reference(X)) is None


def few(_: o.ReadChanges) -> float:
    return 10.0


def star(dimensions: int, *, by_keys_alone: bool) -> o.Program:
    """The program after changes of facts and dimensions, each of which these meet by an outer join."""
    joined: r.Rel = r.Scan("facts", (X, Y))
    for number in range(dimensions):
        key, until = (Column(place + number, "c", "INT", nullable=True) for place in (100, 200))
        condition = equal(X, key)
        if not by_keys_alone:
            in_time = Call("<", (reference(Y), reference(until)), "BOOLEAN", nullable=True)
            condition = Call("and", (condition, in_time), "BOOLEAN", nullable=True)
        joined = r.Join(joined, r.Scan(f"d{number}", (key, until)), "left", condition)
    changed = frozenset(scan.source for scan in of_type(joined, r.Scan))
    return maintain("v", Maintainability(joined), changed).program


def planned(root: Operator, held: set[Operator]) -> int:
    """The operators that Spark plans, in all texts, where each reader of a table plans what it is made of."""
    first = worked_out_first(root, few, held.__contains__)
    known: dict[Operator, int] = {}
    before = 0
    for one in of_type(root, Operator):
        known[one] = 1 if one in first else 1 + sum(known[part] for part in o.operator_inputs(one))
        if one in first and one not in held:
            before += planned(one, held)
            held.add(one)
    return known[root] + before


@pytest.mark.parametrize("by_keys_alone", [True, False])
def test_each_outer_join_more_is_no_multiple_of_what_is_planned(by_keys_alone: bool) -> None:
    def found(dimensions: int) -> tuple[int, int]:
        program = star(dimensions, by_keys_alone=by_keys_alone)
        return operators_planned(program), max(planned(step.child, set()) for step in program.steps)

    assert len({*found(1)}) == 1, "nothing is worth it"
    (many, few), (more, one_more) = found(5), found(6)
    assert more > 2 * many
    assert one_more < 1.8 * few < many


def test_what_is_worked_out_first_is_no_plain_row_and_has_several_readers() -> None:
    (step,) = star(5, by_keys_alone=False).steps[-1:]
    assert worked_out_first(step.child, few)
    for one in worked_out_first(step.child, few):
        assert not is_rowable(one)
        readers = [o.operator_inputs(above).count(one) for above in of_type(step.child, Operator)]
        assert sum(readers) > 1
    first = worked_out_first(step.child, few)
    lowest = next(one for one in of_type(step.child, Operator) if one in first)
    assert worked_out_first(o.Map(lowest, ()), few) == frozenset(), "it has one reader"
    assert worked_out_first(o.Map(lowest, ()), few, lambda one: one is lowest) == {lowest}, (
        "it is there"
    )


def test_of_large_changes_little_is_held_but_what_nobody_could_plan() -> None:
    def held(dimensions: int) -> list[bool]:
        (step,) = star(dimensions, by_keys_alone=False).steps[-1:]
        changes = (few, lambda _: MOST_CHANGED + 1.0)
        return [bool(worked_out_first(step.child, changed)) for changed in changes]

    assert [held(4), held(7)] == [[True, False], [True, True]]


def test_where_keys_come_from_is_asked_once_of_what_many_read() -> None:
    """Through a star of twelve joins there are half a million ways."""
    (step,) = star(12, by_keys_alone=True).steps[-1:]
    keys = [reference(column) for column in step.child.columns[:1]]
    assert origins_of(step.child, keys) is not None
