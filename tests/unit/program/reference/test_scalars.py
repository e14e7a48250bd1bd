"""Scalars of the reference against values worked out by hand from Spark's documentation."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.errors import DataError, InvariantError
from slacktide.program.reference.literals import literal_value
from slacktide.program.reference.relations import Table, evaluate

NAMES = ("i", "j", "d", "s", "t", "x", "b")
FIELDS = "i#1:INT, j#2:INT, d#3:DECIMAL(7,2), s#4:STRING, t#5:DATE, x#6:DOUBLE, b#7:BOOLEAN"
ROW = (7, -2, Decimal("10.25"), "a_b%", date(1998, 9, 30), 2.5, True)


def value_of(text: str, row: tuple = ROW):
    """The value of an expression over one row."""
    rel = from_text(f"project [v#9 := {text}]\n  scan t [{FIELDS}]")
    assert isinstance(rel, r.Project)
    ((value,),) = evaluate(rel, {"t": Table(NAMES, [row])})
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(#1 + #2)", 5),
        ("(#1 - #2)", 9),
        ("(#1 * #2)", -14),
        ("(#1 % #2)", 1),
        ("(#2 % #1)", -2),
        ("div(#1, #2):BIGINT", -3),
        ("(cast(#1 as DOUBLE) / cast(#2 as DOUBLE))", -3.5),
        ("(#3 + #3)", Decimal("20.50")),
        ("(#3 * #3)", Decimal("105.0625")),
        ("(#3 / #3)", Decimal("1.0000000000")),
        ("(0.05BD * #3):DECIMAL(8,2)", Decimal("0.51")),
        ("(2.00BD / 3.00BD)", Decimal("0.666667")),
        ("negative(#1):INT", -7),
        ("abs(#2):INT", 2),
        ("round(#3, 1):DECIMAL(7,1)", Decimal("10.3")),
        ("floor(negative(#3):DECIMAL(7,2)):BIGINT", -11),
        ("ceil(#3):BIGINT", 11),
    ],
)
def test_arithmetic(text: str, expected) -> None:
    found = value_of(text)
    assert found == expected
    assert str(found) == str(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(#1 < #2)", False),
        ("(#1 >= 7)", True),
        ("(#4 = 'a_b%')", True),
        ("(#5 <= DATE '1998-09-30')", True),
        ("(#1 = CAST(NULL AS INT))", None),
        ("(CAST(NULL AS INT) <=> CAST(NULL AS INT))", True),
        ("(#1 <=> CAST(NULL AS INT))", False),
        ("isnull(#1)", False),
        ("isnotnull(CAST(NULL AS INT))", False),
        ("not(CAST(NULL AS BOOLEAN))", None),
        ("(true and CAST(NULL AS BOOLEAN))", None),
        ("(CAST(NULL AS BOOLEAN) and false)", False),
        ("(CAST(NULL AS BOOLEAN) or true)", True),
        ("(false or CAST(NULL AS BOOLEAN))", None),
        ("in(#1, 1, 7)", True),
        ("in(#1, 1, CAST(NULL AS INT))", None),
        ("in(#1, 7, CAST(NULL AS INT))", True),
        ("in(CAST(NULL AS INT), 1)", None),
        ("like(#4, 'a%')", True),
        ("like(#4, 'a\\\\_b\\\\%')", True),
        ("like('axbz', 'a\\\\_b%')", False),
        ("like('a', '_')", True),
        ("like('', '%')", True),
    ],
)
def test_logic(text: str, expected) -> None:
    assert value_of(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coalesce(CAST(NULL AS INT), #1)", 7),
        ("if((#1 > 0), 'yes', 'no'):STRING!", "yes"),
        ("if(CAST(NULL AS BOOLEAN), 'yes', 'no'):STRING!", "no"),
        ("case(when (#1 < 0) then 1 when (#2 < 0) then 2 else 3):INT!", 2),
        ("case(when (#1 < 0) then 1):INT", None),
        ("substring(#4, 2, 2)", "_b"),
        ("substring('abc', -2, 1)", "b"),
        ("substring('abc', -5, 3)", "a"),
        ("substring('abc', 0, 2)", "ab"),
        ("upper(#4)", "A_B%"),
        ("concat(#4, '!')", "a_b%!"),
        ("length('äb')", 2),
        ("trim('  a ')", "a"),
        ("year(#5)", 1998),
        ("quarter(#5)", 3),
        ("date_add(#5, 1):DATE", date(1998, 10, 1)),
        ("add_months(DATE '1998-01-31', 1):DATE", date(1998, 2, 28)),
        ("datediff(DATE '1998-03-01', DATE '1998-02-27'):INT!", 2),
        ("greatest(CAST(NULL AS INT), 1, 3):INT", 3),
    ],
)
def test_functions(text: str, expected) -> None:
    assert value_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast(#3 as INT)", 10),
        ("cast(-1.55BD as DECIMAL(2,1))", Decimal("-1.6")),
        ("cast(#3 as STRING)", "10.25"),
        ("cast(' 12 ' as INT)", 12),
        ("cast('2020-02-30' as STRING)", "2020-02-30"),
        ("try_cast('2020-02-30' as DATE)", None),
        ("try_cast('abc' as INT)", None),
        ("try_cast(#1 as TINYINT)", 7),
        ("cast(#5 as TIMESTAMP)", datetime.fromisoformat("1998-09-30")),
        ("cast(TIMESTAMP '1998-09-30 12:00:00.5' as STRING)", "1998-09-30 12:00:00.5"),
        ("cast(#7 as INT)", 1),
        ("cast('yes' as BOOLEAN)", True),
        ("cast(#6 as STRING)", "2.5"),
        ("cast(12345678.0D as STRING)", "1.2345678E7"),
        ("cast(0.0001D as STRING)", "1.0E-4"),
        ("cast(0.1D as DECIMAL(3,2))", Decimal("0.10")),
        ("cast(#1 as DOUBLE)", 7.0),
    ],
)
def test_casts(text: str, expected) -> None:
    found = value_of(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "(#1 / 0):DOUBLE",
        "(#1 % 0)",
        "(2147483647 + 1)",
        "(9999999.99BD * 10BD):DECIMAL(9,2)",
        "cast('abc' as INT)",
        "cast('1.5' as INT)",
        "cast(#1 as DECIMAL(2,2))",
        "cast(300 as TINYINT)",
        "like('a', 'a\\\\b')",
    ],
)
def test_fails_as_in_ansi_mode(text: str) -> None:
    with pytest.raises(DataError):
        value_of(text)


def test_nothing_is_evaluated_that_is_not_needed() -> None:
    assert value_of("case(when (#1 > 0) then 1 else (1 % 0)):INT!") == 1
    assert value_of("(false and ((1 % 0) = 1))") is False
    assert value_of("coalesce(#1, (1 % 0))") == 7


def test_not_a_number_is_the_greatest_and_equals_itself() -> None:
    row = (*ROW[:5], math.nan, True)
    assert value_of("(#6 = #6)", row) is True
    assert value_of("(#6 > \"CAST('Infinity' AS DOUBLE)\":DOUBLE!)", row) is True
    assert value_of("(#6 = 0.0D)", (*ROW[:5], -0.0, True)) is True


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(InvariantError, match="soundex"):
        value_of("soundex(#4):STRING")


@pytest.mark.parametrize(
    ("sql", "data_type", "expected"),
    [
        ("1.50BD", "DECIMAL(3,2)", Decimal("1.50")),
        ("-7L", "BIGINT", -7),
        ("1.0E10D", "DOUBLE", 1e10),
        ("CAST(1.5 AS FLOAT)", "FLOAT", 1.5),
        ("CAST('NaN' AS DOUBLE)", "DOUBLE", math.nan),
        ("CAST(NULL AS DECIMAL(10,2))", "DECIMAL(10,2)", None),
        ("'it\\'s \\\\ a \\n'", "STRING", "it's \\ a \n"),
        ("X'00ff'", "BINARY", b"\x00\xff"),
        (
            "TIMESTAMP '2020-01-01 00:00:00+02:00'",
            "TIMESTAMP",
            datetime.fromisoformat("2019-12-31T22:00"),
        ),
        ("true", "BOOLEAN", True),
    ],
)
def test_literals(sql: str, data_type: str, expected) -> None:
    found = literal_value(sql, data_type)
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert type(found) is type(expected)


def test_an_unknown_literal_is_named() -> None:
    with pytest.raises(InvariantError, match="INTERVAL"):
        literal_value("INTERVAL '1' DAY", "INTERVAL DAY")
