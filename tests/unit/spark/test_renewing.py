"""Which changes of groups are worked out in one pass over their states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.algebra.scalar import Assignment, Column, reference
from slacktide.program import operator as o
from slacktide.spark.compile.renewing import renewal_of

KEY, COUNT = Column(1, "k", "INT", nullable=True), Column(2, "n", "BIGINT", nullable=False)
SHOWN, COUNTED = Column(3, "k", "INT", nullable=True), Column(4, "n", "BIGINT", nullable=False)
OLD = o.ReadState("states/a", (KEY, COUNT))
CHANGE = o.ReadSaved("states/a", (KEY, COUNT), is_bag=False)
NUMBER = Assignment(COUNTED, reference(COUNT))
OUTPUTS = (Assignment(SHOWN, reference(KEY)), NUMBER)


def finished(state: o.Operator, outputs=OUTPUTS, keys=(KEY,)) -> o.Finish:
    return o.Finish(o.Combine(state, keys), COUNT.id, outputs, is_global=False)


def changed(new: o.Operator, old: o.Operator) -> o.Consolidate:
    return o.Consolidate(o.Add((new, o.Negate(old)), new.columns))


NEW = finished(o.Add((OLD, CHANGE), OLD.columns))


def test_groups_told_by_their_keys_are_read_once() -> None:
    found = renewal_of(changed(NEW, finished(OLD)))
    assert found is not None
    assert (found.old, found.change, found.keys) == (OLD, CHANGE, (KEY,))


def of_type(data_type: str) -> o.Consolidate:
    key = replace(KEY, type=data_type)
    old = o.ReadState("states/a", (key, COUNT))
    change = o.ReadSaved("states/a", (key, COUNT), is_bag=False)
    outputs = (Assignment(replace(SHOWN, type=data_type), reference(key)), NUMBER)
    new = finished(o.Add((old, change), old.columns), outputs, (key,))
    return changed(new, finished(old, outputs, (key,)))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(changed(NEW, finished(CHANGE)), id="what goes is not what was"),
        pytest.param(
            changed(
                finished(o.Add((OLD, CHANGE), OLD.columns), (NUMBER,)), finished(OLD, (NUMBER,))
            ),
            id="groups of several keys give equal rows",
        ),
        pytest.param(
            changed(replace(NEW, is_global=True), replace(finished(OLD), is_global=True)),
            id="a group that is never gone",
        ),
        pytest.param(of_type("DOUBLE"), id="keys of which zeros are equal"),
        pytest.param(of_type("STRING COLLATE UTF8_LCASE"), id="keys that a collation equates"),
    ],
)
def test_others_are_consolidated(other: o.Consolidate) -> None:
    assert renewal_of(other) is None


def test_types_alone_are_no_obstacle() -> None:
    assert renewal_of(of_type("STRING")) is not None
