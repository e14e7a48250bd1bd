"""G-14 and G-15: partial aggregates of a grouping serve what stands on it, where that is sound."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import inputs, sources
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.trait import ValDelta, ValSnap
from slacktide.optimizer.methods.regrouping import Regrouped, regrouped
from slacktide.program import operator as o
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import as_bag
from tests.harness.planner.grouped import random_grouping
from tests.harness.planner.groups import Filled, merged
from tests.harness.planner.summary import BATCHES, RETURNS, SALES, SUMMARY
from tests.harness.planner.watched import FREE

pytestmark = pytest.mark.unit
GROSS = "sum(case(when isnull(#5) then #3 else (0 - #5)):INT)"
JOIN = """join left on (#1 = #4)
      scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
      scan returns [o_id#4:INT!, cost#5:INT!]
"""
INNER = f"aggregate key=[cat#6:STRING! := #2, o#7:INT! := #1] [s#8:BIGINT := {GROSS}]\n    {JOIN}"
NESTED = from_text(f"aggregate key=[cat#9:STRING! := #6] [t#10:BIGINT := sum(#8)]\n  {INNER}")
C1 = "\"'c1'\":STRING!"
ONE_KIND = from_text(
    f"filter (#6 = {C1})\n  aggregate key=[cat#6:STRING! := #2] [s#8:BIGINT := {GROSS}]\n    {JOIN}"
)


def explored(
    rel: Rel, instants: int = 2, *, methods: frozenset[str] = frozenset({"derive"})
) -> Expanded:
    space = expand(Problem(rel, sources(rel), instants), methods=methods, switches=FREE)
    space.memo.check()
    return space


def regroups(space: Expanded, kind: type) -> list[tuple[int, o.Regroup]]:
    """The expressions that regroup partial aggregates, with the group of each."""
    groups = space.memo.groups
    return [
        (group, flat)
        for group in groups
        for flat in groups.expressions(group)
        if isinstance(flat, o.Regroup)
        and any(isinstance(trait, kind) for _, trait in space.memo.linked(group))
        and not any(isinstance(item.value, s.Call) for item in flat.partials)
    ]


def in_batches(rel: Rel) -> tuple[Expanded, Filled]:
    space = explored(rel)
    filled = Filled(space, sources(rel), (SALES, RETURNS), BATCHES)
    assert filled.differing() == []
    return space, filled


def test_a_change_of_an_inner_state_is_one_of_the_outer() -> None:
    """The worked example of G-14: (c2,o2) −170, (c1,o6) −15, (c2,o5) 300, (c2,o7) 220 give c2 350, c1 −15."""
    space, filled = in_batches(NESTED)
    found = [
        (group, flat)
        for group, flat in regroups(space, ValDelta)
        if len(flat.keys) == 1 and len(flat.groups) == 2
    ]
    assert found
    for group, flat in found:
        sums = merged(filled.run(flat), space.memo.groups.hole(group))
        assert sorted(values[-1] for values in sums.values()) == [-15, 350]


def test_a_choice_by_the_key_keeps_the_state() -> None:
    """The worked example of G-15: cat = 'c1' keeps c1 −15."""
    space, filled = in_batches(ONE_KIND)
    found = [(g, flat) for g, flat in regroups(space, ValDelta) if flat.predicate is not None]
    assert found
    for group, flat in found:
        sums = merged(filled.run(flat), space.memo.groups.hole(group))
        assert [values[-1] for values in sums.values()] == [-15]


@pytest.mark.parametrize("seed", range(24))
def test_equals_recomputation(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    rel, shapes = random_grouping(source)
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    batches = [
        {shape.name: next_changes(source, shape, present[shape.name]) for shape in shapes}
        for _ in range(3)
    ]
    space = explored(rel, 3)
    filled = Filled(space, sources(rel), shapes, batches)
    assert filled.differing() == []
    assert filled.unknown == frozenset()
    assert space.trace.fired["merge_groupings"] > 0
    assert regroups(space, ValSnap)


def test_counts_of_groups_without_a_value_add_up_to_zero_and_not_to_null() -> None:
    rel = from_text(
        "aggregate key=[] [n#8:BIGINT := sum(#7)]\n"
        "  aggregate key=[a#6:INT := #1] [c#7:BIGINT! := count(#2)]\n    scan t [a#1:INT, b#2:INT]\n"
    )
    space = explored(rel)
    batches = [{"t": as_bag([(1, None)])}, {"t": [((1, None), -1)]}]
    filled = Filled(space, ("t",), shapes_of(rel), batches)
    assert filled.differing() == []
    assert [filled.rows[group] for group in space.answers] == [[((0,), 1)], [((None,), 1)]]


SCAN = "scan t [a#1:INT, b#2:INT, d#3:BIGINT]"
GROUPED = f"aggregate key=[a#6:INT := #1, b#7:INT := #2] [s#8:BIGINT := sum(#2), n#9:BIGINT! := count()]\n    {SCAN}"
REFUSED = {
    "average of averages": (
        f"aggregate key=[a#10:INT := #6] [m#11:DOUBLE := avg(#8)]\n"
        f"  aggregate key=[a#6:INT := #1] [s#8:DOUBLE := avg(#2)]\n    {SCAN}"
    ),
    "greatest of sums": f"aggregate key=[a#10:INT := #6] [m#11:BIGINT := max(#8)]\n  {GROUPED}",
    "count of groups": f"aggregate key=[a#10:INT := #6] [m#11:BIGINT! := count()]\n  {GROUPED}",
    "sum of a key": f"aggregate key=[a#10:INT := #6] [m#11:BIGINT := sum(#7)]\n  {GROUPED}",
    "sums as keys": f"aggregate key=[s#10:BIGINT := #8] [m#11:BIGINT := sum(#9)]\n  {GROUPED}",
    "sum of some groups": (
        f"aggregate key=[a#10:INT := #6] [m#11:BIGINT := sum(#8 where (#9 > 1))]\n  {GROUPED}"
    ),
    "sum of what is computed of sums": (
        f"aggregate key=[a#10:INT := #6] [m#11:BIGINT := sum((#8 + #9):BIGINT)]\n  {GROUPED}"
    ),
    "HAVING": f"filter (#9 > 1)\n  {GROUPED}",
    "HAVING below a sum": (
        "aggregate key=[a#10:INT := #6] [m#11:BIGINT := sum(#8)]\n  filter (#9 > 1)\n"
        "    " + GROUPED.replace("\n", "\n  ")
    ),
    "a key that is dropped": f"project [#6, #8]\n  {GROUPED}",
    "what is computed of sums": f"project [#6, #7, t#12:BIGINT := (#8 + #9):BIGINT]\n  {GROUPED}",
    "sums that may overflow": (
        f"aggregate key=[] [m#11:BIGINT := sum(#8)]\n"
        f"  aggregate key=[a#6:INT := #1] [s#8:BIGINT := sum(#3)]\n    {SCAN}"
    ),
    "one group over nothing": (
        f"aggregate key=[] [m#11:BIGINT := sum(#8)]\n  aggregate key=[] [s#8:BIGINT! := count()]\n    {SCAN}"
    ),
    "greatest values below": (
        f"filter (#6 > 1)\n  aggregate key=[a#6:INT := #1] [s#8:INT := max(#2)]\n    {SCAN}"
    ),
}


DOUBLES = "aggregate key=[a#6:DOUBLE := #1] [n#9:BIGINT! := count()]\n    scan t [a#1:DOUBLE]"
TOLD_BY_ROWS = {
    "a column": f"project [#6, k#10:STRING := cast(#6 as STRING), #9]\n  {DOUBLES}",
    "a choice": f"filter (cast(#6 as STRING) = cast(cast(#6 as INT) as STRING))\n  {DOUBLES}",
    "a key": f"aggregate key=[k#10:STRING := cast(#6 as STRING)] [m#11:BIGINT := sum(#9)]\n  {DOUBLES}",
}


@pytest.mark.parametrize("name", TOLD_BY_ROWS)
def test_what_is_told_of_a_group_of_both_zeros_is_not_told_of_its_rows(name: str) -> None:
    """A group of 0.0 and -0.0 has one key; cast to a text, they are two."""
    text = TOLD_BY_ROWS[name] + "\n"
    assert regrouped(from_text(text)) is None
    assert regrouped(from_text(text.replace("DOUBLE", "INT"))) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    assert regrouped(from_text(REFUSED[name] + "\n")) is None


def test_takes_the_same_without_what_is_refused() -> None:
    taken = regrouped(
        from_text(f"aggregate key=[a#10:INT := #6] [m#11:BIGINT := sum(#8)]\n  {GROUPED}\n")
    )
    assert taken is not None
    assert isinstance(taken.whole.child, r.Scan)


def test_a_relation_knows_the_grouping_that_it_stands_on() -> None:
    """Three rules: merge_groupings, regroup_state and regroup_change_of_state."""
    memo = explored(NESTED).memo
    (tie,) = (tie for tie in memo.ties(memo.tvr(NESTED)) if isinstance(tie, Regrouped))
    assert memo.tvr(tie.whole) == memo.tvr(NESTED)
    assert memo.ties(memo.tvr(NESTED))[tie] == memo.tvr(tie.below)
    assert memo.relation(memo.tvr(tie.below)) in inputs(NESTED)
    alone = explored(SUMMARY).memo
    assert not any(isinstance(t, Regrouped) for q in alone.tvrs() for t in alone.ties(q))
