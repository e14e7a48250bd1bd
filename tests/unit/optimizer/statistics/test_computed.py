"""What is known of computed values: how many there are, and where they lie."""

from __future__ import annotations

from datetime import date

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.optimizer.statistics import ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.optimizer.statistics.computed import facts_of
from slacktide.optimizer.statistics.constants import number_of
from slacktide.optimizer.statistics.facts import UNKNOWN_COLUMN
from slacktide.optimizer.statistics.relation import Cardinality

pytestmark = pytest.mark.unit
FIELDS = "at#1:TIMESTAMP!, day#2:DATE!, user#3:INT!, text#4:STRING, odd#5:DATE, far#6:INT!"
FIRST, LAST = (float(date(2026, *day).toordinal()) for day in ((1, 1), (12, 31)))


def told(distinct: float, *ends: float, nulls: float = 0.0) -> ColumnFacts:
    low, high = ends or (None, None)
    return ColumnFacts(Figure(distinct, "observed"), low, high, Figure(nulls, "observed"))


KNOWN = {
    1: told(90_000, FIRST, LAST + 0.75),
    2: told(365, FIRST, LAST),
    3: told(5_000, 1.0, 10_000.0),
    4: told(3, nulls=0.5),
    6: told(5_000, -5_000.0, 5_000.0),
}
SOURCE = SourceFacts(
    rows=Figure(100_000, "observed"),
    columns=dict(zip(("at", "day", "user", "text", "far"), KNOWN.values(), strict=True)),
)


def value(text: str) -> s.Scalar:
    project = from_text(f"project [k#20 := {text}]\n  scan events [{FIELDS}]")
    assert isinstance(project, r.Project)
    return project.outputs[0].value


def rows(text: str) -> float:
    """Rows of an operator over the events, as estimated."""
    rel = from_text(f"{text}\n  scan events [{FIELDS}]")
    return Cardinality(Statistics({"events": SOURCE})).of(rel).rows.value


@pytest.mark.parametrize(
    ("text", "distinct"),
    [
        ("month(#2)", 12),
        ("dayofweek(#2):INT", 7),
        ("hour(#1):INT", 24),
        ("month(#5)", 12),
        ("year(#2)", 1),
        ("cast(#1 as DATE)", 365),
        ("date_trunc('MONTH', #1):TIMESTAMP", 12),
        ("date_trunc('HOUR', #1):TIMESTAMP", 365 * 24 - 6 + 1),
        ("trunc(#2, 'week'):DATE", 53),
        ("pmod(#3, 7):INT!", 7),
        ("(#3 % 7):INT!", 7),
        ("(#6 % 7):INT!", 13),
        ("pmod(#6, 7):INT!", 7),
        ("(#3 % 1000000):INT!", 5_000),
        ("(#3 + 1):INT!", 5_000),
        ("upper(#4)", 3),
        ("month(date_trunc('DAY', #1):TIMESTAMP)", 12),
        ("(#3 > 3)", 2),
        ("case(when (#3 > 3) then 'a' when (#3 > 2) then 'b' else 'a'):STRING!", 2),
    ],
)
def test_a_computed_value_has_so_many_values(text: str, distinct: float) -> None:
    found = facts_of(value(text), lambda column: KNOWN.get(column, UNKNOWN_COLUMN))
    assert found.distinct is not None
    assert found.distinct.origin == "observed"
    assert found.distinct.value == pytest.approx(distinct, abs=1)


@pytest.mark.parametrize(
    "text",
    [
        "(#3 + #3):INT!",
        "(cast(#3 as DOUBLE) % 1.0D):DOUBLE",
        "date_trunc('HOUR', cast(#4 as TIMESTAMP)):TIMESTAMP",
        "year(#5)",
    ],
)
def test_of_others_nobody_knows(text: str) -> None:
    assert facts_of(value(text), lambda c: KNOWN.get(c, UNKNOWN_COLUMN)).distinct is None


def test_ranges_are_those_of_what_a_value_is_cast_to() -> None:
    def ends(text: str) -> tuple[float | None, float | None]:
        facts = facts_of(value(text), lambda column: KNOWN[column])
        return facts.low, facts.high

    assert ends("cast(#1 as DATE)") == (FIRST, LAST)
    assert ends("cast(#2 as TIMESTAMP)") == (FIRST, LAST)
    assert ends("cast(#3 as BIGINT)") == (1.0, 10_000.0)
    assert ends("cast(#1 as BIGINT)") == ends("cast(#3 as STRING)") == (None, None)
    assert ends("year(#2)") == (2026.0, 2026.0)
    assert ends("month(#2)") == (1.0, 12.0)


@pytest.mark.parametrize("year", [1, 1900, 2000, 2016, 2019, 2100, 9999])
def test_a_year_is_that_of_the_calendar(year: int) -> None:
    first, last = (float(date(year, *day).toordinal()) for day in ((1, 1), (12, 31)))
    found = facts_of(value("year(#2)"), lambda _: told(365, first, last + 0.9))
    assert (found.low, found.high) == (year, year)


def test_a_deep_expression_is_read_as_any_other() -> None:
    deep: s.Scalar = value("#3")
    for _ in range(5_000):
        deep = s.Call("+", (deep, s.Literal("1", "INT", False)), "INT", False)
    found = facts_of(deep, lambda column: KNOWN[column]).distinct
    assert found is not None
    assert found.value == 5_000


HALF = "TIMESTAMP_LTZ '2026-07-02 09:00:00Z'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'filter (#1 >= "{HALF}":TIMESTAMP!)', 50_000),
        (f'filter (#1 < "{HALF}":TIMESTAMP!)', 50_000),
        ("filter (cast(#1 as DATE) = DATE '2026-03-01')", 100_000 / 365),
        (
            "filter and((cast(#1 as DATE) >= DATE '2026-03-01'), (cast(#1 as DATE) <= DATE '2026-03-01'))",
            100_000 / 365,
        ),
        ("filter (month(#2) = 2)", 100_000 / 12),
        ("filter and((month(#2) >= 3), (month(#2) < 4))", 100_000 / 11),
        ("aggregate key=[k#20 := date_trunc('DAY', #1):TIMESTAMP] [n#21 := count()]", 365),
        ("aggregate key=[k#20 := month(#2), u#22 := pmod(#3, 10):INT!] [n#21 := count()]", 120),
    ],
)
def test_estimates_know_of_instants_and_of_computed_keys(text: str, expected: float) -> None:
    assert rows(text) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("DATE '1970-01-01'", 719_163.0),
        ("TIMESTAMP_LTZ '1970-01-02 06:00:00Z'", 719_164.25),
        ("TIMESTAMP_NTZ '1970-01-02 12:00:00.500000'", 719_164.5 + 0.5 / 86_400),
        ("timestamp_micros(86400000000L)", 719_164.0),
        ("-1.5BD", -1.5),
        ("'1'", None),
        ("DATE '0000-01-01'", None),
        ("TIMESTAMP_LTZ '0000-01-01 00:00:00Z'", None),
    ],
)
def test_constants_are_numbers(sql: str, number: float | None) -> None:
    found = number_of(s.Literal(sql, "ANY", nullable=False))
    assert found == (None if number is None else pytest.approx(number))
