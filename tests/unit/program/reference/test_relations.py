"""Relations of the reference against results worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal

import pytest

from slacktide.algebra.textual import from_text
from slacktide.errors import DataError, InvariantError
from slacktide.program.reference.relations import Table, evaluate

TABLES = {
    "l": Table(("k", "v"), [(1, "a"), (1, "a"), (2, "b"), (None, "n")]),
    "r": Table(("k", "w"), [(1, "x"), (3, "y"), (None, "z")]),
    "d": Table(
        ("g", "m", "i"),
        [("p", Decimal("1.00"), 1), ("p", Decimal("1.01"), 2), ("q", None, None), (None, None, 5)],
    ),
    "empty": Table(("i",), []),
}
LEFT = "scan l [k#1:INT, v#2:STRING!]"
RIGHT = "scan r [k#3:INT, w#4:STRING!]"
DATA = "scan d [g#1:STRING, m#2:DECIMAL(10,2), i#3:INT]"


def rows(text: str) -> Counter:
    return Counter(evaluate(from_text(text), TABLES))


MATCHED = {(1, "a", 1, "x"): 2}
LEFT_OVER = {(2, "b", None, None): 1, (None, "n", None, None): 1}
RIGHT_OVER = {(None, None, 3, "y"): 1, (None, None, None, "z"): 1}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", MATCHED),
        ("left", MATCHED | LEFT_OVER),
        ("right", MATCHED | RIGHT_OVER),
        ("full", MATCHED | LEFT_OVER | RIGHT_OVER),
        ("semi", {(1, "a"): 2}),
        ("anti", {(2, "b"): 1, (None, "n"): 1}),
        (
            "existence found#9:BOOLEAN!",
            {(1, "a", True): 2, (2, "b", False): 1, (None, "n", False): 1},
        ),
    ],
)
def test_joins(kind: str, expected: dict) -> None:
    assert rows(f"join {kind} on (#1 = #3)\n  {LEFT}\n  {RIGHT}") == expected


def test_null_keys_meet_under_null_safe_equality() -> None:
    found = rows(f"join inner on (#1 <=> #3)\n  {LEFT}\n  {RIGHT}")
    assert found == MATCHED | {(None, "n", None, "z"): 1}


def test_a_join_without_condition_gives_every_pair() -> None:
    assert sum(rows(f"join inner\n  {LEFT}\n  {RIGHT}").values()) == 12


def test_aggregates_per_group() -> None:
    text = f"""aggregate key=[g#5 := #1] [n#6 := count(), c#7 := count(#2), s#8 := sum(#2), \
a#9 := avg(#2), ai#10 := avg(#3), lo#11 := min(#2), hi#12 := max(#3)]
  {DATA}
"""
    assert rows(text) == {
        ("p", 2, 2, Decimal("2.01"), Decimal("1.005000"), 1.5, Decimal("1.00"), 2): 1,
        ("q", 1, 0, None, None, None, None, None): 1,
        (None, 1, 0, None, None, 5.0, None, 5): 1,
    }


def test_aggregate_without_keys_gives_one_row_over_nothing() -> None:
    text = "aggregate key=[] [n#2 := count(), s#3 := sum(#1)]\n  scan empty [i#1:INT]"
    assert rows(text) == {(0, None): 1}


def test_aggregate_with_keys_gives_nothing_over_nothing() -> None:
    assert rows("aggregate key=[#1] [n#2 := count()]\n  scan empty [i#1:INT]") == {}


def test_distinct_and_filtered_aggregates() -> None:
    text = f"""aggregate key=[] [n#6 := count(distinct #1), s#7 := sum(#3 where (#3 > 1))]
  {DATA}
"""
    assert rows(text) == {(2, 7): 1}


def test_a_sum_that_overflows_fails() -> None:
    text = "aggregate key=[] [s#2 := sum(#1)]\n  values [i#1:BIGINT!] [9223372036854775807L] [1L]"
    with pytest.raises(DataError, match="BIGINT"):
        rows(text)


def test_average_of_decimals_is_rounded_half_up() -> None:
    text = "aggregate key=[] [a#2 := avg(#1)]\n  values [i#1:DECIMAL(1,0)!] [1BD] [1BD] [0BD]"
    assert rows(text) == {(Decimal("0.6667"),): 1}


def test_union_sort_limit_range_and_values() -> None:
    text = """limit 2 offset 1
  sort [#3 desc nulls last]
    union 2 [i#3:BIGINT]
      range 0 6 2 a#1:BIGINT!
      values [b#2:BIGINT] [9L] [CAST(NULL AS BIGINT)]
"""
    assert evaluate(from_text(text), {}) == [(4,), (2,)]


def test_nulls_are_sorted_where_the_order_says() -> None:
    text = "sort [#1 desc nulls first]\n  values [b#1:INT] [1] [CAST(NULL AS INT)] [2]"
    assert evaluate(from_text(text), {}) == [(None,), (2,), (1,)]


def test_expand_repeats_each_row() -> None:
    text = """expand [i#2:INT, g#3:INT!] [#1, 0] [CAST(NULL AS INT), 1]
  values [i#1:INT!] [5]
"""
    assert rows(text) == {(5, 0): 1, (None, 1): 1}


def test_scalar_subquery_is_null_over_nothing_and_fails_on_two_rows() -> None:
    assert rows("project [v#2 := query(1):INT]\n  values [] []\n  scan empty [i#1:INT]") == {
        (None,): 1
    }
    with pytest.raises(DataError, match="more than one row"):
        rows(f"project [v#2 := query(1):INT]\n  values [] []\n  {LEFT}")


def test_groups_of_floating_point_numbers() -> None:
    table = {"f": Table(("x",), [(0.0,), (-0.0,), (math.nan,), (math.nan,)])}
    text = "aggregate key=[#1] [n#2 := count()]\n  scan f [x#1:DOUBLE]"
    assert sorted(count for _, count in evaluate(from_text(text), table)) == [2, 2]


@pytest.mark.parametrize(
    "text",
    [
        'window key=[#1] order=[] [n#9:INT! := nth():INT! over ""]\n  ' + LEFT,
        "generate json_tuple(#2):INT keep=[#1] [n#9:INT!]\n  " + LEFT,
    ],
)
def test_what_the_reference_does_not_know_is_named(text: str) -> None:
    with pytest.raises(InvariantError, match=text.split()[0]):
        rows(text)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("mode(#2):STRING", "a"),
        ("count_if((#1 > 1)):BIGINT!", 1),
        ("bool_and((#1 > 0)):BOOLEAN", True),
        ("some((#1 > 5)):BOOLEAN", False),
        ("any_value(#2):STRING", "a"),
        ("regr_count(#1, #1):BIGINT!", 3),
        ("regr_sxx(#1, #1):DOUBLE", pytest.approx(2 / 3)),
        ("regr_avgy(#1, #1):DOUBLE", pytest.approx(4 / 3)),
    ],
)
def test_aggregates_that_spark_lowers_to_others(call: str, expected: object) -> None:
    ((value,),) = rows(f"aggregate key=[] [x#9 := {call}]\n  {LEFT}")
    assert value == expected


def test_an_unknown_aggregate_is_named() -> None:
    with pytest.raises(InvariantError, match="histogram_numeric"):
        rows(f"aggregate key=[] [x#9 := histogram_numeric(#1, 2):INT]\n  {LEFT}")


def test_doubles_add_up_to_the_same_in_any_order() -> None:
    numbers = [0.1, 1e16, -0.3, -1e16, 0.7]
    text = "aggregate key=[] [s#2 := sum(#1), v#3 := var_pop(#1):DOUBLE]\n  scan f [x#1:DOUBLE]"

    def found(values: list[float]) -> list:
        return evaluate(from_text(text), {"f": Table(("x",), [(value,) for value in values])})

    assert found(numbers) == found(sorted(numbers)) == found(numbers[::-1])
