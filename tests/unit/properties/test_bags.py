"""Signed bags: what adding, negating and consolidating them must obey."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from slacktide.algebra import scalar as s
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from tests.unit.program.reference.test_operators import FixedWorld

COLUMNS = (
    s.Column(1, "k", "INT", nullable=True),
    s.Column(2, "v", "STRING", nullable=True),
)
ROWS = st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab"))
BAGS = st.lists(st.tuples(ROWS, st.integers(-3, 3)), max_size=8)
A, B, C = (o.ReadBag(name, COLUMNS) for name in "abc")


def consolidated(operator: o.Operator, **bags: Bag) -> dict:
    step = o.Save("chain", o.Consolidate(operator), is_base=True)
    saved = run_program(o.Program((step,)), FixedWorld(bags=bags)).saved["chain"].data
    found = Counter(row for row, _ in saved)
    assert set(found.values()) <= {1}, "a row, NULL or not, stands once"
    return dict(saved)


def add(*operators: o.Operator) -> o.Operator:
    return o.Add(operators, COLUMNS)


@given(BAGS, BAGS, BAGS)
def test_adding_is_associative_and_commutative(a: Bag, b: Bag, c: Bag) -> None:
    bags = {"a": a, "b": b, "c": c}
    left = consolidated(add(add(A, B), C), **bags)
    assert left == consolidated(add(A, add(B, C)), **bags)
    assert left == consolidated(add(C, A, B), **bags)


@given(BAGS)
def test_the_negative_is_the_inverse(a: Bag) -> None:
    assert consolidated(add(A, o.Negate(A)), a=a) == {}
    assert consolidated(o.Negate(o.Negate(A)), a=a) == consolidated(A, a=a)


@given(BAGS, BAGS)
def test_consolidating_early_changes_nothing(a: Bag, b: Bag) -> None:
    early = add(o.Consolidate(A), o.Consolidate(B))
    assert consolidated(early, a=a, b=b) == consolidated(add(A, B), a=a, b=b)


@given(BAGS)
def test_what_sums_to_nothing_is_gone(a: Bag) -> None:
    sums: Counter = Counter()
    for row, weight in a:
        sums[row] += weight
    assert consolidated(A, a=a) == {row: n for row, n in sums.items() if n}
