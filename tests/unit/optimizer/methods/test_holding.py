"""IM-2: what is kept and what is held back are the relation, and what is kept never loses rows.

split_leaf, split_operator, split_groups, recombine_rows and recombine_states.
"""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text, to_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Problem, expand
from slacktide.optimizer.memo.trait import SetDelta
from slacktide.optimizer.methods.holding import Held, HeldGroups, Kept, KeptGroups
from slacktide.program.reference.bags import consolidate
from tests.harness.planner.groups import Filled
from tests.harness.planner.keyed import history, one, random_tree
from tests.harness.planner.summary import JOIN, SUMMARY

pytestmark = pytest.mark.unit
METHODS = frozenset({"derive", "hold"})


def semi(source: random.Random, kind: r.JoinKind) -> tuple[Rel, tuple]:
    """A semi or anti join above a tree of joins."""
    left, shapes = random_tree(source, 2)
    right, more = random_tree(source, 3)
    assert isinstance(right, r.Join)
    last = next(rel for rel in (right.right, right.left) if len(rel.columns) == 3)
    test = s.Call("=", (one(source, left), one(source, last)), "BOOLEAN", nullable=True)
    names = set(sources(last)) - set(sources(left))
    if not names:
        return semi(source, kind)
    by_name = {shape.name: shape for shape in (*shapes, *more)}
    rel = r.Join(left, last, kind, test)
    return rel, tuple(by_name[name] for name in sources(rel))


def only_inserts(batches: list) -> list:
    """The same history without deletes, keys no longer unique."""
    return [
        {name: [i for i in bag if i[1] > 0] for name, bag in batch.items()} for batch in batches
    ]


def filled(rel: Rel, shapes: tuple, batches: list) -> Filled:
    tables = sources(rel)
    problem = Problem(rel, tables, len(batches), append_only=frozenset(tables))
    space = expand(problem, methods=METHODS)
    space.memo.check()
    return Filled(space, tables, shapes, batches)


@pytest.mark.parametrize("seed", range(40))
def test_parts_add_up_whatever_changes(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    kinds: tuple[r.JoinKind | None, ...] = (None, None, "semi", "anti")
    kind = source.choice(kinds)
    rel, shapes = random_tree(source, source.randint(2, 4)) if kind is None else semi(source, kind)
    data = filled(rel, shapes, history(source, shapes, 3))
    assert data.differing() == [], to_text(rel)
    assert data.unknown == frozenset()


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_never_loses_rows(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    rel, shapes = random_tree(source, source.randint(2, 4))
    data = filled(rel, shapes, only_inserts(history(source, shapes, 3)))
    memo = data.memo
    seen = 0
    for tvr in memo.tvrs():
        kept = memo.ties(tvr).get(Kept())
        if kept is None:
            continue
        for trait, group in memo.links(kept).items():
            if isinstance(trait, SetDelta):
                seen += 1
                assert all(count > 0 for _, count in consolidate(data.rows[group])), to_text(rel)
    assert seen


def test_a_table_that_may_lose_rows_is_not_split() -> None:
    tables = ("sales", "returns")
    space = expand(Problem(SUMMARY, tables, 2, append_only=frozenset({"sales"})), methods=METHODS)
    assert Held() not in space.memo.ties(space.memo.tvr(JOIN))
    assert Kept() in space.memo.ties(space.memo.tvr(JOIN.left))
    assert Kept() not in space.memo.ties(space.memo.tvr(JOIN.right))


def test_an_aggregate_is_split_into_states_and_nothing_above_it() -> None:
    having = from_text(
        """
filter (#7 > 0L)
  aggregate key=[cat#6 := #2] [gross#7:BIGINT := sum(case(when isnull(#5) then #3 else (0 - #5)):INT)]
    join left on (#1 = #4)
      scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
      scan returns [o_id#4:INT!, cost#5:INT!]
"""
    )
    tables = ("returns", "sales")
    memo = expand(Problem(having, tables, 2, append_only=frozenset(tables)), methods=METHODS).memo
    assert memo.ties(memo.tvr(having)) == {}
    assert {type(tie) for tie in memo.ties(memo.tvr(SUMMARY))} == {KeptGroups, HeldGroups}
