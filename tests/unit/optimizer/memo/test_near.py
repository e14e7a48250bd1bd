"""What a change meets of a table is read in part, where the keys of the change stem from changes of sources."""

from __future__ import annotations

from fractions import Fraction

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import reference
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.common.tree import of_type
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import Weighted
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.hole import SnapshotAt, SnapshotNear
from slacktide.optimizer.memo.near import stems_from
from slacktide.optimizer.periods.emission import emit
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.statistics import ChangeFacts, ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.program import operator as o

pytestmark = pytest.mark.unit

CHAIN = """
join inner on (#4 = #5)
  join inner on (#1 = #3)
    scan a [a_b#1:INT!, a_v#2:INT!]
    filter (#4 > 3)
      scan b [b_key#3:INT!, b_c#4:INT!]
  project [#5:INT! := #5, #7:INT! := (#6 + 1)]
    scan c [c_key#5:INT!, c_v#6:INT!]
"""
CASES = {
    "its own rows": ("scan a [k#1:INT!, v#2:INT!]", 1, {"a"}, True),
    "a projection": (
        "project [#3:INT! := (#1 + 1)]\n  scan a [k#1:INT!, v#2:INT!]",
        3,
        {"a"},
        True,
    ),
    "the side that changes": (CHAIN, 2, {"a"}, True),
    "a side that is met": (CHAIN, 4, {"a"}, False),
    "a key that the side must equal": (CHAIN, 3, {"a"}, True),
    "both sides change": (CHAIN, 3, {"a", "b"}, True),
    "one of both": (CHAIN, 2, {"a", "b"}, False),
    "over two joins": (CHAIN, 5, {"c"}, True),
    "groups": (
        "aggregate key=[#3:INT! := #1] [s#4:BIGINT := sum(#2)]\n  scan a [k#1:INT!, v#2:INT!]",
        3,
        {"a"},
        True,
    ),
    "sums": (
        "aggregate key=[#3:INT! := #1] [s#4:BIGINT := sum(#2)]\n  scan a [k#1:INT!, v#2:INT!]",
        4,
        {"a"},
        False,
    ),
}


def column(rel: r.Rel, number: int) -> r.Columns:
    return tuple(column for column in rel.columns if column.id == number)


@pytest.mark.parametrize(("text", "key", "changed", "expected"), CASES.values(), ids=[*CASES])
def test_what_keys_stem_from(text: str, key: int, changed: set[str], *, expected: bool) -> None:
    rel = from_text(text)
    (found,) = column(rel, key)
    assert stems_from(rel, [reference(found)], changed) is expected


def known(reach: float, *changed: str) -> Statistics:
    """A large table between two others, of which some change."""

    def source(name: str) -> SourceFacts:
        rows = Figure(1000.0 if name in changed else 0.0)
        count = {"a": 300_000.0, "b": 30_000_000.0, "c": 1000.0}[name]
        return SourceFacts(
            Figure(count),
            bytes=20 * count,
            files=4,
            changes=(ChangeFacts(rows, deleted=Figure(0.0)),),
            reach=Figure(reach),
            columns={f"{name}_key": ColumnFacts(Figure(count, "declared"))},
        )

    return Statistics({name: source(name) for name in "abc"})


def planned(reach: float) -> tuple[Expanded, Choice, dict[int, o.Program]]:
    """The plan where one of the tables changes."""
    expanded = expand(Problem(from_text(CHAIN), ("a",), 2))
    costs = MemoCosts(expanded.memo, known(reach, "a"))
    space = space_of(expanded, [1, 2], costs.price, costs.carrying)
    choice = choose(space, Weighted((Fraction(1), Fraction(1))))
    return expanded, choice, emit("v", expanded, space, choice.plan)


def leaves(expanded: Expanded) -> list[SnapshotAt]:
    groups = expanded.memo.groups
    found = (flat for group in groups for flat in groups.expressions(group))
    return [flat for flat in found if isinstance(flat, SnapshotAt)]


def test_tables_are_read_in_part_where_keys_of_the_change_meet_them() -> None:
    """The key by which the second join meets its table comes from the table of the first."""
    expanded, _, _ = planned(0.01)
    near = {leaf.source for leaf in leaves(expanded) if isinstance(leaf, SnapshotNear)}
    whole = {leaf.source for leaf in leaves(expanded) if type(leaf) is SnapshotAt}
    assert near == {"b"}
    assert whole == {"a", "b", "c"}


def test_a_change_costs_what_its_keys_reach() -> None:
    near, far = planned(0.01), planned(1.0)
    assert near[1].key < far[1].key
    for _, _, programs in near, far:
        assert not [node for p in programs.values() for node in of_type(p, SnapshotAt)]
    assert {read.source for read in of_type(near[2][2], o.ReadSnapshot)} >= {"b"}


def test_nobody_else_is_served_by_a_part() -> None:
    rel = from_text(CHAIN)
    expanded = expand(Problem(rel, sources(rel), 2))
    groups = expanded.memo.groups
    for group in groups:
        kinds = {type(flat) for flat in groups.expressions(group)}
        if SnapshotNear in kinds:
            assert kinds == {SnapshotNear}
            assert not expanded.memo.linked(group)
    assert any(isinstance(leaf, SnapshotNear) for leaf in leaves(expanded))
