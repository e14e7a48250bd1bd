"""Joins and groups by several columns, by declared keys, and by columns that are NULL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.algebra.textual import from_text
from slacktide.optimizer.statistics import ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.optimizer.statistics.relation import Cardinality

pytestmark = pytest.mark.unit
SALES = "scan sales [s_store#1:INT!, s_day#2:INT!, s_promo#3:INT, s_name#4:STRING]"
PRICES = "scan prices [p_store#5:INT!, p_day#6:INT!, p_price#7:INT]"
PROMOS = "scan promos [r_promo#8:INT!]"
EQUAL = "and((#1 = #5), (#2 = #6))"


def told(distinct: float, nulls: float = 0.0) -> ColumnFacts:
    return ColumnFacts(Figure(distinct, "observed"), nulls=Figure(nulls, "observed"))


def source(rows: float, *key: str, **columns: ColumnFacts) -> SourceFacts:
    return SourceFacts(rows=Figure(rows, "observed"), columns=columns, key=key)


KNOWN = {
    "sales": source(1e7, s_store=told(100), s_day=told(1000), s_promo=told(1000, 0.95)),
    "prices": source(1e5, "p_store", "p_day", p_store=told(100), p_day=told(1000)),
    "promos": source(1000, "r_promo", r_promo=told(1000)),
}


def rows(text: str, **instead: SourceFacts) -> float:
    return Cardinality(Statistics({**KNOWN, **instead})).of(from_text(text)).rows.value


def joined(kind: str, condition: str, left: str, right: str) -> str:
    return f"join {kind} on {condition}\n  {left}\n  {right}"


def test_a_row_meets_one_of_a_composite_key() -> None:
    assert rows(joined("inner", EQUAL, SALES, PRICES)) == pytest.approx(1e7)


def test_a_part_of_a_key_is_none() -> None:
    assert rows(joined("inner", "(#1 = #5)", SALES, PRICES)) == pytest.approx(1e7 * 1e5 / 100)


def test_columns_that_are_equal_together_are_half_independent() -> None:
    keyless = replace(KNOWN["prices"], key=())
    found = rows(joined("inner", EQUAL, SALES, PRICES), prices=keyless)
    assert found == pytest.approx(1e7 * 1e5 / (1000 * 100**0.5))


def test_no_more_combinations_meet_than_a_side_has_rows() -> None:
    few = replace(KNOWN["prices"], key=(), rows=Figure(2000.0, "observed"))
    found = rows(joined("inner", EQUAL, SALES, PRICES), prices=few)
    assert found == pytest.approx(1e7 * 2000 / 2000)


@pytest.mark.parametrize(
    ("kind", "expected"), [("inner", 5e5), ("semi", 5e5), ("anti", 9.5e6), ("left", 1e7)]
)
def test_null_meets_nothing(kind: str, expected: float) -> None:
    assert rows(joined(kind, "(#3 = #8)", SALES, PROMOS)) == pytest.approx(expected)


def test_null_meets_null_where_that_is_asked() -> None:
    assert rows(joined("inner", "(#3 <=> #8)", SALES, PROMOS)) == pytest.approx(1e7)


def test_null_is_left_out_once() -> None:
    filtered = f"join inner on (#3 = #8)\n  filter isnotnull(#3)\n    {SALES}\n  {PROMOS}"
    assert rows(filtered) == pytest.approx(5e5)


def test_what_a_key_tells_is_no_group_of_its_own() -> None:
    keys = "[s#20:INT! := #5, d#21:INT! := #6, p#22:INT := #7]"
    assert rows(f"aggregate key={keys} [n#23:BIGINT! := count()]\n  {PRICES}") == 1e5


def test_columns_of_which_nothing_is_known_make_no_fewer_groups() -> None:
    def groups(keys: str) -> float:
        return rows(f"aggregate key=[{keys}] [n#23:BIGINT! := count()]\n  {SALES}")

    assert groups("s#20:INT! := #1, d#21:INT! := #2") == 1e5
    assert groups("n#20:STRING := #4") == 1e6
    assert groups("s#20:INT! := #1, n#21:STRING := #4") == 1e6
    promo = replace(KNOWN["sales"], columns={"s_promo": told(4e6)})
    keys = "p#20:INT := #3, n#21:STRING := #4"
    text = f"aggregate key=[{keys}] [n#23:BIGINT! := count()]\n  {SALES}"
    assert rows(text, sales=promo) == 4e6


DAYS = ColumnFacts(Figure(1000, "observed"), 0.0, 1000.0, Figure(0.0, "observed"))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("(#2 = 5)", "(#6 = 5)", 1e4 * 1e3),
        ("(#2 = 5)", "(#6 >= 0)", 1e4 * 1e3),
        ("(#2 < 100)", "(#6 < 100)", 1e6 * 1e5 / 100),
        ("in(#2, 1, 2)", "in(#6, 1, 2)", 2e4 * 2e3 / 2),
    ],
)
def test_rows_of_few_values_meet_by_these(one: str, other: str, expected: float) -> None:
    sales, prices = source(1e7, s_day=DAYS), source(1e6, p_day=DAYS)
    text = f"join inner on (#2 = #6)\n  filter {one}\n    {SALES}\n  filter {other}\n    {PRICES}"
    assert rows(text, sales=sales, prices=prices) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [("(#3 >= 1)", 5e6), ("(#3 > 0)", 5e6), ("(#3 < 1)", 5e6), ("(#3 <= 0)", 5e6), ("(#3 > 1)", 0)],
)
def test_a_bound_has_its_value_or_leaves_it_out(predicate: str, expected: float) -> None:
    flag = ColumnFacts(Figure(2, "observed"), 0.0, 1.0, Figure(0.0, "observed"))
    found = rows(f"filter {predicate}\n  {SALES}", sales=source(1e7, s_promo=flag))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "kept", ["in(#20, 5, 6)", "(#20 = 5)", "(#20 > 5)", "and((#20 > 5), (#20 < 7))"]
)
def test_a_filter_makes_no_join_larger(kept: str) -> None:
    """Of a count nobody knows how many values it has; two of them are not all that the other side has."""
    counts = f"aggregate key=[s#21:INT! := #1] [n#20:BIGINT! := count()]\n      {SALES}"
    unknown = replace(KNOWN["prices"], key=(), columns={})

    def found(left: str) -> float:
        return rows(joined("inner", "(#20 = cast(#7 as BIGINT))", left, PRICES), prices=unknown)

    assert found(f"filter {kept}\n    {counts}") <= found(counts.replace("      ", "    "))


def test_of_keys_that_are_filtered_alike_all_rows_meet() -> None:
    left, right = f"filter (#2 = 5)\n    {SALES}", f"filter (#6 = 5)\n    {PRICES}"
    keyless = replace(KNOWN["prices"], key=())
    found = rows(joined("inner", "(#2 = #6)", left, right), prices=keyless)
    assert found == pytest.approx(1e7 / 1000 * 1e5 / 1000)
