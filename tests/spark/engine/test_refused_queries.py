"""Queries that can never run, and changes of what is not there, are refused with the way out."""

from __future__ import annotations

import pytest

from slacktide import errors as e
from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark


def test_a_query_that_can_never_run_is_refused(lab: Lab) -> None:
    lab.source("t", "id INT, v INT, s STRING COLLATE UTF8_LCASE", (1, 1, "a"))
    lab.ws.add_function("twice", "tests.harness.user_functions:scored", returns="int")
    lab.ws.add_function(
        "spread", "tests.harness.user_functions:spread", returns="double", kind="pandas"
    )
    for text, told in (
        ("SELECT a.id FROM t a LEFT JOIN t b ON twice(a.v + b.v) > 0", "PYTHON_UDF_IN_ON_CLAUSE"),
        ("SELECT id, spread(v) AS x, count(*) AS n FROM t GROUP BY id", "INVALID_PANDAS_UDF"),
        ("SELECT id, struct() AS x FROM t", "structs without fields"),
        ("SELECT map(s, id) AS m FROM t", "keys that a collation compares"),
        ("SELECT array(map('k' COLLATE UTF8_LCASE, id)) AS m FROM t", "keys that a collation"),
        ("SELECT CAST('01:02:03' AS TIME) AS t, id FROM t", "UNSUPPORTED_TIME_TYPE"),
        ("SELECT id, '${spark.app.id}' AS app FROM t", r"the variable \$\{spark.app.id\}"),
        ("SELECT id FROM t WHERE s = '${env:USER}'", r"the variable \$\{env:USER\}"),
    ):
        with pytest.raises((e.QueryError, e.UnsupportedQueryError), match=told):
            lab.view("bad", text, policy="auto")
    assert not lab.ws.status().views


def test_what_is_no_variable_is_a_text(lab: Lab) -> None:
    lab.source("t", "id INT, s STRING", (1, "${day}"), (2, ""))
    lab.spark.conf.set("spark.sql.variable.substitute", "false")
    try:
        lab.view("v", "SELECT id FROM t WHERE s = '${day}'")
    finally:
        lab.spark.conf.unset("spark.sql.variable.substitute")
    lab.step()
    assert lab.bag("v") == bag([(1,)])


def test_changes_of_what_is_not_there_are_refused(lab: Lab) -> None:
    lab.source("t", "id INT, v INT", (1, 1))
    lab.view("named", "SELECT id AS _CHANGE_TYPE, v FROM t")
    lab.view("v", "SELECT id FROM t")
    lab.step()
    with pytest.raises(e.UnsupportedQueryError, match="has a column _CHANGE_TYPE of its own"):
        lab.ws.changes(lab.spark, "named", since=0)
    with pytest.raises(e.UnknownObjectError, match="there is no run 2 yet"):
        lab.ws.changes(lab.spark, "v", since=2)
    assert lab.ws.changes(lab.spark, "v", since=1).collect() == []


def test_columns_with_names_of_ours_are_columns_of_users(lab: Lab) -> None:
    lab.source("t", "__copy INT, __copies INT, __none INT", (1, 1, 1), (1, 1, 1), (2, 2, 2))
    lab.view("v", "SELECT a.__none, b.__copies FROM t a LEFT JOIN t b ON a.__copy = b.__copy")
    lab.step()
    lab.land("t", insert=[(1, 3, 3)], delete=[(1, 1, 1)])
    lab.step(v="incremental")
