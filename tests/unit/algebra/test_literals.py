"""Constants as SQL text: what Spark must read back to the same value and type."""

from __future__ import annotations

import pytest

from slacktide.algebra.literals import literal_sql, null_sql, text_sql


@pytest.mark.parametrize(
    ("value", "data_type", "sql"),
    [
        (None, "INT", "CAST(NULL AS INT)"),
        (None, "VOID", "NULL"),
        (True, "BOOLEAN", "true"),
        (1, "TINYINT", "1Y"),
        (-1, "SMALLINT", "-1S"),
        (-2147483648, "INT", "-2147483648"),
        (1, "BIGINT", "1L"),
        ("1.5", "DOUBLE", "1.5D"),
        ("-0.0", "DOUBLE", "-0.0D"),
        ("1.0E10", "FLOAT", "1.0E10F"),
        ("NaN", "DOUBLE", "CAST('NaN' AS DOUBLE)"),
        ("1.50", "DECIMAL(3,2)", "1.50BD"),
        ("1.50", "DECIMAL(12,2)", "CAST(1.50BD AS DECIMAL(12,2))"),
        ("0.05", "DECIMAL(2,2)", "0.05BD"),
        ("0", "DECIMAL(1,0)", "0BD"),
        ("-7", "DECIMAL(1,0)", "-7BD"),
        (8797, "DATE", "DATE '1994-02-01'"),
        (-719163, "DATE", "date_from_unix_date(-719163)"),
        (0, "TIMESTAMP", "TIMESTAMP_LTZ '1970-01-01 00:00:00Z'"),
        (1, "TIMESTAMP_NTZ", "TIMESTAMP_NTZ '1970-01-01 00:00:00.000001'"),
        (10**18, "TIMESTAMP", f"timestamp_micros({10**18}L)"),
        ("00ff", "BINARY", "X'00ff'"),
        ("a", "STRING COLLATE UNICODE_CI", "CAST('a' AS STRING COLLATE UNICODE_CI)"),
        (14, "INTERVAL YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
        (-14, "INTERVAL MONTH", "INTERVAL '-14' MONTH"),
        (86_400_000_000, "INTERVAL DAY", "INTERVAL '1' DAY"),
        (93_784_500_000, "INTERVAL DAY TO SECOND", "INTERVAL '1 02:03:04.500000' DAY TO SECOND"),
        (-7_200_000_000, "INTERVAL HOUR TO MINUTE", "INTERVAL '-2:00' HOUR TO MINUTE"),
        (90_000_000, "INTERVAL SECOND", "INTERVAL '90' SECOND"),
    ],
)
def test_is_spelled(value: object, data_type: str, sql: str) -> None:
    assert literal_sql(value, data_type) == sql


@pytest.mark.parametrize(
    ("value", "data_type"),
    [(1, "VARIANT"), ("x", "VARIANT"), (object(), "INT"), (10**18, "TIMESTAMP_NTZ")],
)
def test_what_has_no_spelling_is_not_guessed(value: object, data_type: str) -> None:
    assert literal_sql(value, data_type) is None


def test_texts_are_escaped() -> None:
    assert text_sql("it's a\\b\n\t\x01ü") == "'it\\'s a\\\\b\\n\\t\\u0001ü'"


def test_null_has_a_type() -> None:
    assert null_sql("ARRAY<INT>") == "CAST(NULL AS ARRAY<INT>)"
