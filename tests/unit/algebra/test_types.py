"""What is asked of the text of a type."""

from __future__ import annotations

import pytest

from slacktide.algebra.nested import fields, is_storable, storable
from slacktide.algebra.types import is_told_apart


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("INT", "INT"),
        ("STRUCT<a: INT, A: STRING>", "STRUCT<_0: INT, _1: STRING>"),
        ("ARRAY<STRUCT<x: INT, x: INT>>", "ARRAY<STRUCT<_0: INT, _1: INT>>"),
        ("MAP<STRING, STRUCT<b: DECIMAL(10,2) NOT NULL, `a:, b`: ARRAY<INT>>>", None),
        (
            "STRUCT<a: STRUCT<k: INT, k: DECIMAL(3,1) NOT NULL> NOT NULL, b: MAP<INT, STRING>>",
            "STRUCT<a: STRUCT<_0: INT, _1: DECIMAL(3,1)>, b: MAP<INT, STRING>>",
        ),
        ("STRUCT<a: INT COMMENT 'one, <two', b: INT NOT NULL>", None),
        (
            r"ARRAY<STRUCT<a: INT COMMENT 'it\'s, `x', A: INT NOT NULL>>",
            "ARRAY<STRUCT<_0: INT, _1: INT>>",
        ),
        ("STRUCT<a: STRING COLLATE UNICODE_CI, b: INTERVAL DAY TO SECOND>", None),
        ("STRUCT<>", None),
        ("STRUCT<`a\\`: INT, `b: ``c`: INT>", None),
    ],
)
def test_files_have_no_two_fields_of_one_name(given: str, stored: str | None) -> None:
    assert storable(given) == (stored or given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("STRING COLLATE UTF8_LCASE", True),
        ("MAP<STRING, ARRAY<INT>>", True),
        ("STRUCT<m: MAP<BINARY, MAP<STRING, INT>>>", True),
        ("VARIANT", False),
        ("MAP<STRING, VARIANT>", False),
    ],
)
def test_values_that_an_image_tells_apart(given: str, told: bool) -> None:
    assert is_told_apart(given) is told


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ("INTERVAL DAY TO SECOND", True),
        ("ARRAY<INTERVAL MONTH>", True),
        ("STRUCT<interval: INT>", True),
        ("INTERVAL", False),
        ("MAP<STRING, STRUCT<a: ARRAY<INTERVAL>>>", False),
    ],
)
def test_values_that_no_file_has(given: str, holds: bool) -> None:
    assert is_storable(given) is holds


def test_names_of_fields_are_without_the_quotes_around_them_alone() -> None:
    written = "STRUCT<a: INT, `b c`: STRING, `d```: INT, ```e`: INT>"
    assert [name for name, _ in fields(written)] == ["a", "b c", "d`", "`e"]
