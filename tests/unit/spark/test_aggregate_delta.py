"""Which changes of groups are worked out in one pass over their states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.algebra.relation import Join
from slacktide.algebra.scalar import Assignment, Column, reference
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import relations
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.derivation import Derivation, Premises
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.program import operator as o
from slacktide.spark.compile.aggregate_delta import aggregate_delta_of

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
    found = aggregate_delta_of(changed(NEW, finished(OLD)))
    assert found is not None
    assert (found.old, found.change, found.keys) == (OLD, CHANGE, (KEY,))


def with_key(data_type: str) -> o.Consolidate:
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
        pytest.param(
            changed(NEW, replace(finished(OLD), count=KEY.id)), id="gone groups are told otherwise"
        ),
        pytest.param(changed(NEW, finished(OLD, keys=())), id="what was is grouped otherwise"),
        pytest.param(
            changed(finished(o.Add((OLD, CHANGE), OLD.columns), keys=()), finished(OLD, keys=())),
            id="one group",
        ),
        pytest.param(
            o.Consolidate(o.Add((NEW, o.Negate(finished(OLD))), (KEY, COUNT))),
            id="columns under other names",
        ),
        pytest.param(
            changed(finished(o.Add((OLD, CHANGE, CHANGE), OLD.columns)), finished(OLD)),
            id="two changes",
        ),
        pytest.param(with_key("DOUBLE"), id="keys of which zeros are equal"),
        pytest.param(with_key("STRING COLLATE UTF8_LCASE"), id="keys that a collation equates"),
    ],
)
def test_others_are_consolidated(other: o.Consolidate) -> None:
    assert aggregate_delta_of(other) is None


LINES = """aggregate key=[#2] [n#4 := count(), s#5 := sum(#3)]
  scan t [k#2:INT, v#3:INT]"""
JOINED = """join inner on (#1 = #20)
  join inner on (#1 = #4)
    scan l [k#1:INT, v#3:INT]
    scan r [k#4:INT, w#5:INT]
  aggregate key=[#20] [n#22 := count()]
    scan m [k#20:INT, u#21:INT]"""


@pytest.mark.parametrize(("text", "changed"), [(LINES, "t"), (JOINED, "m")])
def test_the_rule_writes_it_so(text: str, changed: str) -> None:
    """Whole, and reduced to what a remembered join of few rows asks for."""
    relation = from_text(text)
    few = frozenset(rel for rel in relations(relation) if isinstance(rel, Join) and rel != relation)
    derivation = Derivation(
        "v",
        Maintainability(relation),
        changed=frozenset({changed}),
        premises=Premises(remembered=few, few=few),
    )
    change = derivation.delta(relation)
    assert change is not None
    deltas = [aggregate_delta_of(found) for found in of_type(change, o.Consolidate)]
    assert [found is not None for found in deltas] == [True]


def test_types_alone_are_no_obstacle() -> None:
    assert aggregate_delta_of(with_key("STRING")) is not None
