"""HOV: join_change_with_view keeps views of the other relations, each as of its moment."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Problem, expand
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.optimizer.memo.versions import Version, realised
from slacktide.optimizer.rule_parts.clusters import cluster_of
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import as_bag
from tests.harness.planner.groups import Filled

pytestmark = pytest.mark.unit
CHAIN = from_text(
    """
aggregate key=[] [n#20:BIGINT! := count()]
  project [#2]
    join inner on (#4 = #5)
      join inner on (#2 = #3)
        scan r1 [a#1:INT, b#2:INT]
        scan r2 [b#3:INT, c#4:INT]
      scan r3 [c#5:INT, d#6:INT]
"""
)
STAR = from_text(
    """
filter (#2 <= #6)
  join inner on (#4 = #5)
    join inner on ((#2 = #3) and (#1 > 0))
      scan r1 [a#1:INT, b#2:INT]
      scan r2 [b#3:INT, c#4:INT]
    scan r3 [c#5:INT, d#6:INT]
"""
)
TWICE = from_text(
    """
join inner on (#4 = #5)
  join inner on (#2 = #3)
    scan r1 [a#1:INT, b#2:INT]
    scan r2 [b#3:INT, c#4:INT]
  scan r1 [a#5:INT, b#6:INT]
"""
)
NAMED = from_text(
    """
join inner on ((#2 = #3) and exists(#7, lambda([e#77:INT], (#77:INT = #1)):BOOLEAN):BOOLEAN)
  scan r1 [a#1:INT, b#2:INT]
  scan r2 [b#3:INT, list#7:"ARRAY<INT>"]
"""
)
"""A condition with a parameter of its own, which is a column of no side."""
METHODS = frozenset({"derive", "higher order"})


def data(rel: Rel, instants: int, seed: int) -> Filled:
    shapes = shapes_of(rel)
    source = random.Random(seed)  # noqa: S311
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    batches = []
    for place in range(instants):
        batch = {s.name: next_changes(source, s, present[s.name]) for s in shapes}
        if not place:
            for shape in shapes:
                rows = [shape.row(source.randrange(4**6)) for _ in range(12)]
                present[shape.name] += rows
                batch[shape.name] = [*batch[shape.name], *as_bag(rows)]
        batches.append(batch)
    space = expand(Problem(rel, sources(rel), instants), methods=METHODS)
    space.memo.check()
    return Filled(space, sources(rel), shapes, batches)


@pytest.mark.parametrize(
    "rel", [CHAIN, STAR, TWICE, NAMED], ids=["chain", "star", "twice", "named"]
)
@pytest.mark.parametrize("seed", range(6))
def test_equals_recomputation(rel: Rel, seed: int) -> None:
    filled = data(rel, 3, seed)
    assert filled.differing() == []
    assert filled.unknown == frozenset()


def test_the_worked_example() -> None:
    """M of r2 ⋈ r3 by b is {1: 3}; two rows of r1 with b = 1 add six."""
    space = expand(Problem(CHAIN, sources(CHAIN), 2), methods=METHODS)
    first = {
        "r1": [],
        "r2": as_bag([(1, 1), (1, 2)]),
        "r3": as_bag([(1, 7), (1, 8), (2, 9)]),
    }
    second = {"r1": as_bag([(5, 1), (6, 1)])}
    filled = Filled(space, sources(CHAIN), shapes_of(CHAIN), [first, second])
    assert filled.differing() == []
    assert [filled.rows[group] for group in space.answers] == [[((0,), 1)], [((6,), 1)]]
    views = [
        filled.rows[filled.memo.links(tvr)[trait]]
        for tvr in filled.memo.tvrs()
        if filled.memo.relation(tvr).tag == "project" and filled.memo.used(tvr) == {"r2", "r3"}
        for trait in filled.memo.links(tvr)
        if isinstance(trait, SetSnap) and realised(trait.version) == 1
    ]
    assert [((1,), 3)] in views, "a counted bag stands for the view of counts"


def mixed_versions(rel: Rel, instants: int) -> set[Version]:
    """The versions of snapshots at which some tables are as of one instant and some of another."""
    memo = expand(Problem(rel, sources(rel), instants), methods=METHODS).memo
    traits = [trait for tvr in memo.tvrs() for trait in memo.links(tvr)]
    snaps = {trait.version for trait in traits if isinstance(trait, SetSnap)}
    return {version for version in snaps if len({n for n in version if n}) > 1}


def test_what_is_connected_through_the_changed_relation_alone_stays_apart() -> None:
    """The view of r1 and r3 for r2's change would be a cross product: there is one for each."""
    memo = expand(Problem(CHAIN, sources(CHAIN), 2), methods=METHODS).memo
    joined = [
        memo.used(tvr) for tvr in memo.tvrs() if len(cluster_of(memo.relation(tvr)).members) == 2
    ]
    assert {"r1", "r3"} not in joined
    assert {"r2", "r3"} in joined
    assert mixed_versions(CHAIN, 2) == set()


def test_views_are_asked_for_between_instants() -> None:
    """r1 and r3 meet by a condition of their own: for r2's change r1 is new and r3 still old."""
    assert (2, 0, 1) in mixed_versions(STAR, 2)
    assert {realised(version) for version in mixed_versions(STAR, 4)} == {2, 3, 4}


def test_a_table_that_is_joined_with_itself_is_refused() -> None:
    both = expand(Problem(TWICE, sources(TWICE), 2), methods=METHODS)
    without = expand(Problem(TWICE, sources(TWICE), 2), methods=frozenset({"derive"}))
    top = both.memo.tvr(TWICE)
    change = SetDelta((1, 1), (2, 2))
    assert len(both.memo.groups.expressions(both.memo.links(top)[change])) == len(
        without.memo.groups.expressions(without.memo.links(top)[change])
    )
