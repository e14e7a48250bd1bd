"""The text of what holds rows against each other: what is read by ranges of keys, and which joins stay semi-joins."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Call, Column, reference
from slacktide.common.ranges import LARGE_ROWS
from slacktide.program import operator as o
from slacktide.program.materialising import LARGE_ROWS as LARGE_TABLE
from slacktide.program.materialising import SENT
from slacktide.program.operator import Operator
from slacktide.spark.compile import step_sql
from slacktide.spark.tables.ranges import KeyRanges

X, Y, Z, W = (Column(n, name, "INT", nullable=True) for n, name in enumerate("xyzw", 1))
CHANGE, TABLE = o.ReadChanges("t", (X,)), o.ReadSnapshot("u", (Y,), "after")
BIG = o.ReadSnapshot("b", (W,), "after")
UNION = o.Add((o.ReadBag("states/a", (X,)), CHANGE), (X,))
GROUPS = o.Evaluate(
    r.Aggregate(r.Scan("input0", (Y,)), (Assignment(Y, reference(Y)),), ()),
    (o.Input("input0", TABLE),),
)


def equal(left: Column, right: Column) -> Call:
    return Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)


def text(
    root: Operator,
    rows: int = 0,
    asked: int = 0,
    *,
    may_ask: bool = True,
    held: float = 0.0,
    is_light: bool = False,
) -> str:
    def keys(operator: Operator, keys: Any) -> list[KeyRanges]:
        assert may_ask, "asking is work"
        return [KeyRanges(((3, 5),), has_null=False) for _ in keys]

    leaves: Any = SimpleNamespace(
        changes=lambda _: "changes",
        snapshot=lambda *_: "snapshot",
        rows=lambda *_: "rows",
        stored=lambda *_, is_bag: "stored",
        fits_one_task=lambda _: False,
        fewest_read=lambda operator: asked if operator == CHANGE else rows,
        keys=keys,
        share_within=lambda *_: 1.0,
        most_changed=lambda _: asked,
        materialised=lambda _: SimpleNamespace(table="held", bytes=held),
        is_held=lambda _: False,
    )
    return step_sql(root, leaves, is_light=is_light)


@pytest.mark.parametrize(
    "operator",
    [
        o.JoinBags(CHANGE, TABLE, equal(X, Y)),
        o.JoinBags(TABLE, CHANGE, equal(Y, X)),
        o.Touched(TABLE, CHANGE, (o.Pair(reference(Y), reference(X)),)),
    ],
    ids=lambda one: one.tag,
)
def test_a_table_is_read_by_ranges_where_asking_pays(operator: Operator) -> None:
    assert "c2 BETWEEN CAST('3' AS INT) AND CAST('5' AS INT)" in text(operator, LARGE_ROWS, 100)
    assert "BETWEEN" in text(operator, LARGE_ROWS, LARGE_ROWS // 2)
    for rows, asked in ((LARGE_ROWS - 1, 1), (LARGE_ROWS, LARGE_ROWS // 2 + 1)):
        assert "BETWEEN" not in text(operator, rows, asked, may_ask=False)


def test_what_is_read_twice_is_bounded_in_its_own_place() -> None:
    joined = o.JoinBags(CHANGE, TABLE, equal(X, Y))
    found = text(o.Touched(joined, joined, (o.Pair(reference(Y), reference(X)),)), LARGE_ROWS, 100)
    own = r"FROM \(SELECT \* FROM (slacktide_o\d+) WHERE \(c2 BETWEEN .*?\)\) t LEFT SEMI JOIN \1 b ON"
    assert re.search(own, found)


MET = o.JoinBags(CHANGE, o.ReadSnapshot("w", (Z,), "after"), equal(X, Z))


@pytest.mark.parametrize(
    ("operator", "side"),
    [(o.JoinBags(MET, TABLE, equal(X, Y)), "l"), (o.JoinBags(TABLE, MET, equal(Y, X)), "r")],
    ids=["left", "right"],
)
def test_what_was_worked_out_is_sent_where_it_is_small(operator: Operator, side: str) -> None:
    found = text(operator, 10 * LARGE_TABLE, 10, held=SENT)
    assert f"/*+ BROADCAST({side}) */" in found
    assert re.search(rf"FROM held\) {side} ", found.replace("\n", " "))
    found = text(operator, 10 * LARGE_TABLE, 10, held=SENT + 1.0)
    assert "BROADCAST" not in found
    assert "held" in found, "it is there, and is not worked out once more"


def test_a_light_step_works_nothing_out_before() -> None:
    assert "held" not in text(
        o.JoinBags(MET, TABLE, equal(X, Y)), 10 * LARGE_TABLE, 10, is_light=True
    )


def test_plain_rows_are_not_read_from_what_is_a_bag() -> None:
    """Groups of a change are plain, a snapshot that they meet is a bag with rows that came and went."""
    groups = o.Evaluate(GROUPS.query, (o.Input("input0", o.ReadChanges("t", (Y,))),))
    met = o.JoinBags(
        o.JoinBags(groups, o.ReadSnapshot("w", (Z,), "after"), equal(Y, Z)), BIG, equal(Y, W)
    )
    assert "held" in text(met, 10 * LARGE_TABLE, 10)
    whole = r.Aggregate(r.Scan("input0", met.columns), (), ())
    assert "held" not in text(o.Evaluate(whole, (o.Input("input0", met),)), 10 * LARGE_TABLE, 10)


def semi(left: Operator, right: Operator, condition: Call, *, negated: bool = False) -> str:
    return text(o.SemiBags(left, right, condition, negated=negated))


def test_a_union_that_meets_groups_is_a_plain_join() -> None:
    over = o.Select(UNION, equal(X, X))
    for left in (UNION, over):
        assert " l JOIN (" in semi(left, GROUPS, equal(X, Y))


@pytest.mark.parametrize(
    ("left", "right", "condition", "negated"),
    [
        pytest.param(UNION, GROUPS, equal(X, Y), True, id="none may meet"),
        pytest.param(CHANGE, GROUPS, equal(X, Y), False, id="no union"),
        pytest.param(UNION, TABLE, equal(X, Y), False, id="no groups"),
        pytest.param(
            UNION,
            GROUPS,
            Call("<", (reference(X), reference(Y)), "BOOLEAN", nullable=True),
            False,
            id="not by the key",
        ),
    ],
)
def test_others_stay_what_they_are(
    left: Operator, right: Operator, condition: Call, negated: bool
) -> None:
    kind = "ANTI" if negated else "SEMI"
    assert f" l LEFT {kind} JOIN (" in semi(left, right, condition, negated=negated)
