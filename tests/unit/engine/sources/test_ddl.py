from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.engine.sources import parse_ddl, to_ddl
from slacktide.errors import InvalidSettingError


def types(text: str) -> list[tuple[str, str, bool]]:
    return [(one["name"], one["type"], one["nullable"]) for one in parse_ddl(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a INT", [("a", "INT", True)]),
        ("a int, b string", [("a", "INT", True), ("b", "STRING", True)]),
        ("b DECIMAL(12,2) NOT NULL", [("b", "DECIMAL(12,2)", False)]),
        ("b decimal ( 5 ), c dec", [("b", "DECIMAL(5,0)", True), ("c", "DECIMAL(10,0)", True)]),
        ("`a b``c` BIGINT COMMENT 'it''s, x'", [("a b`c", "BIGINT", True)]),
        ('d STRING NOT NULL COMMENT "x"', [("d", "STRING", False)]),
        ("c STRUCT<x: INT, `y z` STRING>", [("c", "STRUCT<x: INT, `y z`: STRING>", True)]),
        (
            "m MAP<string,array<struct<a:long,b:map<int,real>>>>",
            [("m", "MAP<STRING, ARRAY<STRUCT<a: BIGINT, b: MAP<INT, FLOAT>>>>", True)],
        ),
        (
            "a byte, b short, c integer, d timestamp_ltz, e timestamp_ntz, f numeric(3,3)",
            [
                ("a", "TINYINT", True),
                ("b", "SMALLINT", True),
                ("c", "INT", True),
                ("d", "TIMESTAMP", True),
                ("e", "TIMESTAMP_NTZ", True),
                ("f", "DECIMAL(3,3)", True),
            ],
        ),
        ("s STRING COLLATE utf8_lcase", [("s", "STRING COLLATE UTF8_LCASE", True)]),
        ("größe INT, not INT", [("größe", "INT", True), ("not", "INT", True)]),
    ],
)
def test_reads(text, expected):
    assert types(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "its end"),
        ("a", "the type of the column a"),
        ("a INT,", "its end"),
        ("a: INT", "':' instead of the type of the column a"),
        ("a INT b INT", "'b' instead of a comma"),
        ("a FOO", "the type FOO"),
        ("a VARCHAR(3)", "the type VARCHAR"),
        ("a ARRAY<>", "'>' instead of the type"),
        ("a ARRAY<INT", "its end instead of '>'"),
        ("a MAP<INT>", "instead of ','"),
        ("a STRUCT<x: INT NOT NULL>", "NOT NULL inside a type, at the field x"),
        ("a STRUCT<x: INT, X: INT>", "the column X twice"),
        ("a DECIMAL(39,0)", "DECIMAL(39,0)"),
        ("a DECIMAL(3,4)", "DECIMAL(3,4)"),
        ("a DECIMAL(x)", "a whole number"),
        ("a INT, A STRING", "the column A twice"),
        ("__m INT", "__m"),
        ("a INT; b INT", "'; b INT'"),
        ("a 'INT'", "the type of the column a"),
        ("`` INT", "the name of a column"),
        ("a INT COMMENT b", "a comment in quotes"),
        ("a " + "ARRAY<" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_schema(text, words):
    with pytest.raises(InvalidSettingError) as caught:
        parse_ddl(text)
    assert words in caught.value.message
    assert caught.value.hint


_names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6).filter(
    lambda name: not name.startswith("__")
)
_plain = st.sampled_from(
    ["BOOLEAN", "TINYINT", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP_NTZ", "BINARY", "DECIMAL(7,2)"]
)


def _struct(fields):
    quoted = ", ".join("`{}`: {}".format(n.replace("`", "``"), t) for n, t in fields)
    return f"STRUCT<{quoted}>"


def _unique(of):
    return st.lists(st.tuples(_names, of), min_size=1, max_size=3, unique_by=lambda f: f[0].lower())


_types = st.recursive(
    _plain,
    lambda inner: st.one_of(
        inner.map("ARRAY<{}>".format),
        st.tuples(inner, inner).map(lambda two: f"MAP<{two[0]}, {two[1]}>"),
        _unique(inner).map(_struct),
    ),
    max_leaves=6,
)


@given(_unique(_types))
def test_what_is_written_reads_back(fields):
    text = ", ".join("`{}` {}".format(n.replace("`", "``"), t) for n, t in fields)
    columns = parse_ddl(text)
    assert [one["name"] for one in columns] == [name for name, _ in fields]
    assert parse_ddl(to_ddl(columns)) == columns
