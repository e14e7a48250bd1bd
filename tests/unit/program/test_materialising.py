"""Which side of a join is worked out before a large table is read, and how much of a table ranges of keys leave."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Cast, Column, reference
from slacktide.program import operator as o
from slacktide.program.bounding import snapshot_column
from slacktide.program.materialising import LARGE_ROWS, SHARE, materialised
from slacktide.program.operator import Operator
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
