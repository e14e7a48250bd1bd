"""Partial aggregates told by other keys, as SQL."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from slacktide.algebra.scalar import Assignment, Call, Column, reference
from slacktide.program import operator as o
from slacktide.spark.compile import step_sql

pytestmark = pytest.mark.unit
KEY, COUNT = Column(1, "k", "INT", True), Column(2, "__n", "BIGINT", False)
TOLD, LESS = Column(3, "t", "INT", True), Column(4, "n", "BIGINT", False)


def test_groups_are_chosen_told_and_taken_away_without_a_grouping() -> None:
    some = Call("isnotnull", (reference(KEY),), "BOOLEAN", nullable=False)
    less = Call("negative", (reference(COUNT),), "BIGINT", nullable=False)
    regrouped = o.Regroup(
        o.ReadState("states/s", (KEY, COUNT)),
        (KEY,),
        some,
        (Assignment(TOLD, reference(KEY)),),
        (Assignment(LESS, less),),
    )
    leaves: Any = SimpleNamespace(
        stored=lambda *_, is_bag: "bag" if is_bag else "the_state",
        is_held=lambda _: False,
        most_changed=lambda _: 0,
    )
    sql = step_sql(regrouped, leaves, is_light=False)
    assert "the_state" in sql
    assert "WHERE" in sql.upper()
    assert "GROUP BY" not in sql.upper()
    assert "__m" not in sql, "partial aggregates have no multiplicity"
