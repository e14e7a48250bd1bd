"""What is brought into one partition in a light step, and the hints that say so to Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from slacktide.algebra.scalar import Call, Column, reference
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.spark.compile import step_sql
from slacktide.spark.compile.gathering import gathered
from slacktide.spark.sessions.light import FEW_BYTES, FEW_FILES, FEW_READ, fits_one_task

X, Y, Z = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyz", 1))
SMALL, ALSO = o.ReadChanges("small", (X,)), o.ReadBag("states/small", (Y,))
BIG, HUGE = o.ReadSnapshot("big", (Y,), "after"), o.ReadBag("states/big", (Z,))


ALSO_Z = o.ReadBag("states/small", (Z,))


def equal(left: Column, right: Column) -> Call:
    return Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)


def is_small(operator: Operator) -> bool:
    return operator in {SMALL, ALSO, ALSO_Z}


def text(root: Operator, *, is_light: bool = True) -> str:
    leaves: Any = SimpleNamespace(
        changes=lambda _: "t",
        snapshot=lambda *_: "t",
        rows=lambda *_: "t",
        stored=lambda *_, is_bag: "t",
        fits_one_task=is_small,
        fewest_read=lambda _: 0,
        most_changed=lambda _: 0,
        is_held=lambda _: False,
        keys=lambda *_: None,
    )
    return step_sql(root, leaves, is_light=is_light)


@pytest.mark.parametrize(
    ("operator", "is_gathered"),
    [
        (SMALL, True),
        (BIG, False),
        (o.Consolidate(SMALL), True),
        (o.Consolidate(BIG), False),
        (o.Add((SMALL, o.Negate(SMALL)), (X,)), True),
        (o.Add((ALSO, BIG), (Y,)), False),
        (o.JoinBags(SMALL, ALSO, equal(X, Y)), True),
        (o.JoinBags(SMALL, BIG, equal(X, Y)), True),
        (o.JoinBags(BIG, HUGE, equal(Y, Z)), False),
        (o.Touched(BIG, SMALL, (o.Pair(reference(Y), reference(X)),)), True),
        (o.SemiBags(SMALL, BIG, equal(X, Y), negated=True), True),
    ],
)
def test_what_meets_few_rows_is_brought_together(operator: Operator, is_gathered: bool) -> None:
    assert (operator in gathered(operator, is_small).together) is is_gathered


@pytest.mark.parametrize(
    ("operator", "hints"),
    [
        (o.Consolidate(SMALL), ["COALESCE(1)"]),
        (o.Consolidate(BIG), []),
        (
            o.JoinBags(SMALL, ALSO, equal(X, Y)),
            ["COALESCE(1), SHUFFLE_HASH(r)", "COALESCE(1)", "COALESCE(1)"],
        ),
        (o.JoinBags(SMALL, BIG, equal(X, Y)), ["REPARTITION(1), BROADCAST(l)", "COALESCE(1)"]),
        (
            o.JoinBags(o.JoinBags(SMALL, BIG, equal(X, Y)), HUGE, equal(Y, Z)),
            ["REPARTITION(1), BROADCAST(l)", "COALESCE(1)"],
        ),
        (
            o.JoinBags(o.JoinBags(SMALL, BIG, equal(X, Y)), ALSO_Z, equal(Y, Z)),
            [
                "COALESCE(1), SHUFFLE_HASH(r)",
                "REPARTITION(1), BROADCAST(l)",
                "COALESCE(1)",
                "COALESCE(1)",
            ],
        ),
        (o.JoinBags(BIG, HUGE, equal(Y, Z)), []),
        (o.JoinBags(SMALL, ALSO, None), ["COALESCE(1)"] * 3),
        (
            o.Touched(BIG, SMALL, (o.Pair(reference(Y), reference(X)),)),
            ["REPARTITION(1), BROADCAST(b)", "COALESCE(1)"],
        ),
        (o.SemiBags(SMALL, BIG, equal(X, Y), negated=True), ["COALESCE(1)", "COALESCE(1)"]),
    ],
)
def test_few_rows_meet_where_they_are_and_many_where_the_few_are_sent(
    operator: Operator, hints: list[str]
) -> None:
    found = [part.partition(" */")[0] for part in text(operator).split("/*+ ")[1:]]
    assert found == hints
    assert "/*+" not in text(operator, is_light=False)


@pytest.mark.parametrize(
    ("rows", "size", "files", "expected"),
    [
        (FEW_READ, FEW_BYTES, FEW_FILES, True),
        (FEW_READ + 1, 0, 1, False),
        (0, FEW_BYTES + 1, 1, False),
        (0, 0, FEW_FILES + 1, False),
        (None, 0, 1, False),
    ],
)
def test_how_many_are_few(rows: int | None, size: int, files: int, expected: bool) -> None:
    assert fits_one_task(rows, size, files) is expected
