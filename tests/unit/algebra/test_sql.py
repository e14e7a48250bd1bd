"""Scalars and relations as SQL text."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.functions import FORMS, call_sql
from slacktide.algebra.sql import aggregate_sql, relation_sql, scalar_sql
from slacktide.errors import InvariantError

A = s.Column(1, "a", "INT", nullable=True)
B = s.Column(2, "odd `name`", "INT", nullable=True)
SCAN = r.Scan("t", (A, B))
ONE = s.Literal("1", "INT", nullable=False)


def call(name: str, *arguments: s.Scalar, kind: str = "BOOLEAN") -> s.Call:
    return s.Call(name, arguments, kind, nullable=True)


@pytest.mark.parametrize(
    ("function", "arguments", "sql"),
    [
        ("+", ["a", "b"], "(a + b)"),
        ("and", ["a", "b", "c"], "(a AND b AND c)"),
        ("not", ["a"], "(NOT a)"),
        ("negative", ["-1"], "(- -1)"),
        ("isnull", ["a"], "(a IS NULL)"),
        ("in", ["a", "1", "2"], "(a IN (1, 2))"),
        ("like", ["a", "'x'"], "(a LIKE 'x')"),
        ("like", ["a", "'x'", "'!'"], "(a LIKE 'x' ESCAPE '!')"),
        ("not like any", ["a", "'x'"], "(a NOT LIKE ANY ('x'))"),
        ("item", ["a", "0"], "a[0]"),
        ("field", ["a", "'x y'"], "a.`x y`"),
        ("trim", ["a"], "trim(BOTH FROM a)"),
        ("ltrim", ["a", "'x'"], "trim(LEADING 'x' FROM a)"),
        ("substring", ["a", "1", "2"], "substring(a, 1, 2)"),
        ("extract second", ["a"], "extract(SECOND FROM a)"),
    ],
)
def test_a_call_is_written(function: str, arguments: list[str], sql: str) -> None:
    assert call_sql(function, arguments) == sql


@pytest.mark.parametrize("function", sorted(FORMS))
def test_a_form_holds_its_arguments(function: str) -> None:
    text = call_sql(function, ["'one'", "'two'", "'three'"])
    assert "one" in text


def test_scalars_are_written() -> None:
    case = s.Case(((call("=", s.reference(A), ONE), ONE),), None, "INT", nullable=True)
    assert scalar_sql(case) == "CASE WHEN (c1 = 1) THEN 1 END"
    assert scalar_sql(s.Cast(s.reference(A), "DATE", nullable=True, mode="try_cast")) == (
        "TRY_CAST(c1 AS DATE)"
    )
    assert scalar_sql(s.reference(A), lambda column: f"l.x{column}") == "l.x1"


@pytest.mark.parametrize(("count", "sql"), [(1, "c1 -> c1"), (2, "(c1, c2) -> c1")])
def test_lambdas_have_brackets_only_where_spark_takes_them(count: int, sql: str) -> None:
    assert scalar_sql(s.Lambda((A, B)[:count], s.reference(A), "INT", nullable=True)) == sql


def test_a_query_inside_a_scalar_needs_a_table() -> None:
    with pytest.raises(InvariantError):
        scalar_sql(s.Subquery(SCAN, "INT", nullable=True))


@pytest.mark.parametrize(
    ("function", "arguments", "distinct", "sql"),
    [
        ("count", (), False, "count(*)"),
        ("count", (s.reference(A),), True, "count(DISTINCT c1)"),
        ("first ignore nulls", (s.reference(A),), False, "first(c1) IGNORE NULLS"),
    ],
)
def test_aggregates_are_written(
    function: str, arguments: tuple[s.Scalar, ...], distinct: bool, sql: str
) -> None:
    made = s.AggregateCall(function, arguments, distinct, None, "BIGINT", nullable=True)
    assert aggregate_sql(made) == sql


def test_the_filter_of_an_aggregate_stands_before_its_nulls() -> None:
    where = call("isnotnull", s.reference(B))
    made = s.AggregateCall(
        "first ignore nulls", (s.reference(A),), False, where, "INT", nullable=True
    )
    assert aggregate_sql(made) == ("first(c1) FILTER (WHERE (c2 IS NOT NULL)) IGNORE NULLS")


def test_columns_are_named_by_id_and_sources_by_the_tables_given() -> None:
    text = relation_sql(SCAN, {"t": "somewhere"})
    assert "`a` AS c1, `odd ``name``` AS c2 FROM somewhere" in text
    assert text.startswith("SELECT c1, c2 FROM (")


def test_a_filter_joins_its_projection() -> None:
    filtered = r.Filter(SCAN, call("=", s.reference(A), ONE))
    text = relation_sql(r.Project(filtered, (s.identity(B),)), {"t": "t"})
    assert text.count("SELECT") == 3
    assert "WHERE (c1 = 1)" in text


def test_what_is_used_twice_gets_a_name() -> None:
    other = (s.Column(3, "", "INT", nullable=True), s.Column(4, "", "INT", nullable=True))
    twice = r.Union((SCAN, SCAN), other)
    text = relation_sql(twice, {"t": "t"})
    assert text.startswith("WITH r0 AS (")
    assert text.count("FROM r0") == 2


def test_a_deep_relation_stays_shallow_in_text() -> None:
    relation: r.Rel = SCAN
    for number in range(500):
        limit = s.Literal(str(number), "INT", nullable=False)
        relation = r.Filter(relation, call(">", s.reference(A), limit))
    text = relation_sql(relation, {"t": "t"})
    depth = deepest = 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        deepest = max(deepest, depth)
    assert deepest < 60


def test_a_constant_key_is_no_position() -> None:
    key = s.Assignment(s.Column(5, "", "INT", nullable=False), ONE)
    text = relation_sql(r.Aggregate(SCAN, (key,), ()), {"t": "t"})
    assert "GROUP BY CAST(1 AS INT)" in text


def test_no_columns_are_still_rows() -> None:
    assert "1 AS nothing" in relation_sql(r.Project(SCAN, ()), {"t": "t"})
    assert "SELECT 1 AS nothing UNION ALL SELECT 1 AS nothing" in relation_sql(
        r.Values((), ((), ())), {}
    )
