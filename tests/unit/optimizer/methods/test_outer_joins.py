"""OJV: maintain_outer_joins equals recomputation, and refuses what it cannot tell apart."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import to_text
from slacktide.algebra.tree import inputs, sources
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.methods.disjunctive import outer_tree
from tests.harness.planner.groups import Filled
from tests.harness.planner.keyed import history, random_tree, table, whole

pytestmark = pytest.mark.unit
METHODS = frozenset({"derive", "outer join"})
(A_SHAPE, A), (B_SHAPE, B), (C_SHAPE, C) = table(1), table(2), table(3)


def on(left: s.Column, right: s.Column, function: str = "=") -> s.Call:
    return s.Call(function, (s.reference(left), s.reference(right)), "BOOLEAN", nullable=True)


def space(rel: Rel, names: tuple[str, ...] | None = None) -> Expanded:
    tables = sources(rel)
    keyed = tables if names is None else names
    return expand(Problem(rel, tables, 2, keys=dict.fromkeys(keyed, ("k",))), methods=METHODS)


def tree_of(seed: int) -> tuple[random.Random, Rel, tuple]:
    """A tree of joins over two to four tables, with what draws its history."""
    source = random.Random(seed)  # noqa: S311
    return source, *random_tree(source, source.randint(2, 4))


def shape_of(rel: Rel) -> object:
    """The kinds of joins of a tree, as they stand in it."""
    below = [shape_of(child) for child in inputs(rel)]
    return (rel.kind, *below) if isinstance(rel, r.Join) else tuple(below) or "table"


def test_trees_that_are_maintained_are_of_many_shapes() -> None:
    trees = [tree_of(seed)[1] for seed in range(60)]
    taken = [rel for rel in trees if outer_tree(rel, dict.fromkeys(sources(rel), ("k",)))]
    assert len(taken) >= 40
    assert len({shape_of(rel) for rel in taken}) >= 12
    assert all(space(rel).trace.fired["maintain_outer_joins"] > 0 for rel in taken[:10])


@pytest.mark.parametrize("seed", range(60))
def test_equals_recomputation(seed: int) -> None:
    source, rel, shapes = tree_of(seed)
    found = space(rel)
    found.memo.check()
    data = Filled(found, sources(rel), shapes, history(source, shapes, 2))
    assert data.differing() == [], to_text(rel)


def test_orphans_of_more_tables_hide_those_of_fewer() -> None:
    """(A ⟕ B) ⟕ C, one row each, all meet, and B's row goes: one row of A and C is left, not two."""
    lower = r.Join(A, B, "left", on(A.columns[1], B.columns[1]))
    rel = r.Join(lower, C, "left", on(A.columns[1], C.columns[1]))
    shapes = (A_SHAPE, B_SHAPE, C_SHAPE)
    first = {shape.name: [((1, 1, 1), 1)] for shape in shapes}
    found = space(rel)
    assert found.trace.fired["maintain_outer_joins"] > 0
    data = Filled(found, sources(rel), shapes, [first, {"t2": [((1, 1, 1), -1)]}])
    assert data.differing() == []


def test_terms_of_a_full_join_above_a_left_one() -> None:
    lower = r.Join(A, B, "left", on(A.columns[1], B.columns[1]))
    rel = r.Join(lower, C, "full", on(A.columns[2], C.columns[2]))
    tree = outer_tree(rel, dict.fromkeys(("t1", "t2", "t3"), ("k",)))
    assert tree is not None
    assert set(tree.terms()) == {
        frozenset({0, 1, 2}),
        frozenset({0, 2}),
        frozenset({0, 1}),
        frozenset({0}),
        frozenset({2}),
    }
    assert set(tree.indirect(1)) == {frozenset({0}), frozenset({0, 2})}
    assert set(tree.indirect(0)) == {frozenset({2})}


PADDED = r.Join(A, B, "left", on(A.columns[1], B.columns[1]))
UNSURE = r.Scan("t1", tuple(s.Column(c.id, c.name, c.type, nullable=True) for c in A.columns))
REFUSED = {
    "a table without a key": (PADDED, ("t1",)),
    "a key that may be NULL": (
        r.Join(UNSURE, B, "left", on(UNSURE.columns[1], B.columns[1])),
        None,
    ),
    "a key that is left out": (
        r.Join(
            r.Project(A, tuple(map(s.identity, A.columns[1:]))),
            B,
            "left",
            on(A.columns[1], B.columns[1]),
        ),
        None,
    ),
    "a column of which zeros are equal and differ": (
        r.Join(
            r.Project(
                A,
                (
                    *map(s.identity, A.columns[:2]),
                    s.Assignment(
                        s.Column(99, "d", "DOUBLE", nullable=True),
                        s.Cast(s.reference(A.columns[2]), "DOUBLE", nullable=True),
                    ),
                ),
            ),
            B,
            "left",
            on(A.columns[1], B.columns[1]),
        ),
        None,
    ),
    "a semi join": (r.Join(PADDED, C, "semi", on(A.columns[1], C.columns[1])), None),
    "a condition that is true of NULL": (
        r.Join(A, B, "left", on(A.columns[1], B.columns[1], "<=>")),
        None,
    ),
    "no condition": (r.Join(A, B, "left", None), None),
    "inner joins alone": (r.Join(A, B, "inner", on(A.columns[1], B.columns[1])), None),
    "a table twice": (
        r.Join(
            A,
            r.Scan("t1", tuple(s.Column(c.id + 90, c.name, c.type, c.nullable) for c in A.columns)),
            "left",
            s.Call(
                "=",
                (s.reference(A.columns[1]), s.Reference(92, "INT", nullable=True)),
                "BOOLEAN",
                nullable=True,
            ),
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    rel, names = REFUSED[name]
    keys = dict.fromkeys(names or ("t1", "t2", "t3"), ("k",))
    assert outer_tree(rel, keys) is None


def test_a_comparison_with_a_constant_rejects_null() -> None:
    both = s.Call(
        "and",
        (
            on(A.columns[1], B.columns[1]),
            s.Call(">", (s.reference(B.columns[2]), whole(0)), "BOOLEAN", nullable=True),
        ),
        "BOOLEAN",
        nullable=True,
    )
    assert outer_tree(r.Join(A, B, "left", both), dict.fromkeys(("t1", "t2"), ("k",))) is not None
