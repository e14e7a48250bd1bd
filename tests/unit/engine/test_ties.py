"""Which answers a LIMIT allows: decided as by trying every legal order."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from slacktide.engine.checking.ties import is_legal_cut

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), max_size=5)


@given(rows=ROWS, first=st.integers(1, 4), count=st.integers(0, 4), answer=ROWS)
def test_like_trying_every_order(rows, first, count, answer) -> None:
    last = first + count - 1
    legal = [
        Counter(value for _, value in order[first - 1 : last])
        for order in permutations(rows)
        if [key for key, _ in order] == sorted(key for key, _ in rows)
    ]
    shown = [(value,) for _, value in answer]
    ranked = [(value, 1 + sum(other < key for other, _ in rows)) for key, value in rows]
    kept = [row for row in ranked if row[1] <= last]
    sizes = Counter(rank for _, rank in kept)
    found = is_legal_cut(shown, kept, sizes, first, last)
    assert found is (Counter(value for _, value in answer) in legal)


def test_nothing_of_nothing() -> None:
    assert is_legal_cut([], [], {}, 1, 10)
    assert not is_legal_cut([(1,)], [], {}, 1, 10)


def test_doubles_agree_as_far_as_sums_do() -> None:
    assert is_legal_cut([(0.1 + 0.2,)], [(0.3, 1), (0.5, 1)], {1: 2}, 1, 1)
    assert not is_legal_cut([(-0.0,)], [(0.0, 1)], {1: 1}, 1, 1)


def test_doubles_on_both_sides_of_a_rounded_digit_agree() -> None:
    below, above = 1.0000000004999998, 1.0000000005
    assert is_legal_cut([(below,)], [(above, 1), (7.0, 1)], {1: 2}, 1, 1)
    assert is_legal_cut([(below, 7.0)], [(above, 7.0, 1), (1.0, 7.0, 1)], {1: 2}, 1, 1)
    assert not is_legal_cut([(below, 7.0)], [(above, 7.1, 1), (1.1, 7.0, 1)], {1: 2}, 1, 1)
    zeros = [(0.0, 7.0, 1), (-0.0, below, 1), (-0.0, 7.0, 1)]
    assert is_legal_cut([(-0.0, above)], zeros, {1: 3}, 1, 1)
    assert is_legal_cut([(math.nan, 1.0)], [(math.nan, 1.0, 1)], {1: 1}, 1, 1)
    assert not is_legal_cut([(math.inf,)], [(math.nan, 1)], {1: 1}, 1, 1)


def test_nested_values() -> None:
    row = ([1, (2, None)], {"k": 0.5})
    assert is_legal_cut([row], [(*row, 1)], {1: 1}, 1, 1)
