"""Which rows of an answer and of a batch run are the same but for the last digits of doubles."""

from __future__ import annotations

from math import inf, nan

import pytest

from slacktide.engine.checking.matching import Magnitudes, unmatched

X, Y = 2.0, 2.0 * (1 + 1e-12)
FLOATS = [False, True]


@pytest.mark.timeout(5)
def test_copies_that_find_no_partner_are_looked_at_once() -> None:
    rows = [("a", X, 8_000), ("a", 3.0, -8_000)]
    assert unmatched(rows, FLOATS) == rows


def test_what_is_near_is_taken_away_copy_by_copy() -> None:
    assert unmatched([("a", X, 3), ("a", Y, -1), ("a", Y, -2)], FLOATS) == []
    assert unmatched([("a", X, 3), ("a", Y, -1)], FLOATS) == [("a", X, 2)]
    assert unmatched([("a", X, 1), ("a", Y, -3), ("b", Y, -1)], FLOATS) == [
        ("a", Y, -2),
        ("b", Y, -1),
    ]
    assert unmatched([("a", X, 1), ("a", 3.0, -1), ("a", Y, -1), ("a", 4.0, -1)], FLOATS) == [
        ("a", 3.0, -1),
        ("a", 4.0, -1),
    ]


@pytest.mark.timeout(5)
def test_millions_of_copies_are_numbers() -> None:
    many = 40_000_000
    assert unmatched([("a", X, many), ("a", Y, -many)], FLOATS) == []
    assert unmatched([("a", X, many), ("a", Y, 1 - many), ("b", X, many)], FLOATS) == [
        ("a", X, 1),
        ("b", X, many),
    ]


@pytest.mark.timeout(5)
def test_a_row_is_held_against_those_alone_that_may_be_the_same() -> None:
    rows = [(f"g{n}", X, 1) for n in range(10_000)]
    rows += [(f"g{n}", Y, -1) for n in reversed(range(10_000))]
    assert unmatched(rows, FLOATS) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", X), ("b", X)),
        (("a", X), ("a", 2.0000001)),
        (("a", X), ("a", None)),
        (("a", None), ("a", X)),
        (("a", nan), ("a", X)),
        (("a", X), ("a", nan)),
        (("a", inf), ("a", -inf)),
        (("a", inf), ("a", 1e308)),
        (("a", 0.0), ("a", -0.0)),
        ((0.0, X), (-0.0, X)),
        (((0.0,), X), ((-0.0,), X)),
        ((None, X), ("None", X)),
    ],
)
def test_what_is_not_the_same_stays(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    rows = [(*one, 2), (*other, -2)]
    assert unmatched(rows, FLOATS) == rows


@pytest.mark.parametrize("same", [("a", nan), ("a", None), (None, inf), ("a", 0.0), ("a", -0.0)])
def test_what_is_the_same_goes(same: tuple[object, ...]) -> None:
    assert unmatched([(*same, 2), (*same, -2)], FLOATS) == []


def test_doubles_of_large_numbers_may_differ_by_more() -> None:
    rows = [("a", 1e-3, 5), ("a", 2e-3, -5), ("b", 1e-3, 1), ("b", 2e-3, -1)]
    sizes = Magnitudes([0], {("'a'",): [0.0, 1e7]})
    assert unmatched(rows, FLOATS, sizes) == rows[2:]


def test_doubles_inside_of_other_values_are_near_as_well() -> None:
    rows = [("a", (1, [X, None], {"b": X}), 1), ("a", (1, [Y, None], {"b": Y}), -1)]
    assert unmatched(rows, FLOATS) == []
    for other in ((2, [Y, None], {"b": Y}), (1, [Y], {"b": Y}), (1, [Y, None], {"c": Y}), None):
        told = [rows[0], ("a", other, -1)]
        assert unmatched(told, FLOATS) == told
    assert unmatched([("a", [0.0], 1), ("a", [-0.0], -1)], FLOATS) != []
    assert unmatched([("a", [nan, X], 1), ("a", [nan, Y], -1)], FLOATS) == []
