"""A view over which a run stumbles: it says where, keeps its last answer, and the others commit."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import pytest

from slacktide import errors as e
from slacktide.spark.functions import is_builtin
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

DDL = "k STRING, v BIGINT, s STRING, d DECIMAL(38,2)"
ROWS = [("a", 1, "1", None), ("b", 2, "2", None), (None, 3, "3", None)]
MOST = 9_223_372_036_854_775_807
NINES = Decimal("9" * 36)
FUNCTIONS = """
def odd(number):
    if number is not None and number > 100:
        raise ValueError(f"{number} is more\\nthan 100")
    return number

def odd_ones(numbers):
    if (numbers > 100).any():
        raise KeyError("too many")
    return numbers
"""


def big(*keys: str | None) -> list[tuple[Any, ...]]:
    return [(key, MOST, "1", None) for key in keys]


def fails(lab: Lab, sql: str, rows: list[tuple[Any, ...]]) -> dict[str, str]:
    """Let a view fail beside another one; give what the report says of it."""
    lab.ws.add_view(lab.spark, "bad", sql)
    lab.view("fine", "SELECT k, count(*) AS n FROM t GROUP BY k")
    lab.step(bad="full", fine="full")
    before, changes = lab.bag("bad"), lab.changes("bad", 0)
    lab.land("t", insert=rows)
    report = lab.step(bad="failed", fine="incremental")  # which compares with batch, each as it is
    assert lab.bag("bad") == before
    assert lab.changes("bad", 0) == changes
    error = report.views["bad"].error
    assert error is not None
    assert error["message"].startswith("view bad: ")
    assert "\n" not in error["message"]
    assert error["hint"]
    lab.land("t", delete=rows)
    lab.step()
    assert lab.bag("bad") == before
    return dict(error)


OVERFLOWS: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "a sum": ("SELECT k, sum(v) AS s FROM t GROUP BY k", big("a", "z"), "; in the group k = a"),
    "NULL as a key": (
        "SELECT upper(k) AS u, sum(v) AS s FROM t WHERE v > 2 GROUP BY upper(k)",
        big(None, "y"),
        "= NULL",
    ),
    "several groups": (
        "SELECT k, sum(v) AS s, v % 2 AS odd FROM t GROUP BY k, v % 2",
        [row for key in "abcde" for row in (*big(key), *big(key))],
        " and others",
    ),
    "all rows": ("SELECT sum(v) AS s FROM t", big("a"), "; in the sum over all rows"),
    "decimals": (
        "SELECT k, avg(d) AS s FROM t GROUP BY k",
        [("b", 1, "1", NINES)] * 20,
        "; in the group k = b",
    ),
    "a window": (
        "SELECT k, sum(v) OVER (PARTITION BY k ORDER BY v) AS s FROM t",
        big("a", "z"),
        "; in the group k = a",
    ),
    "below another sum": (
        "SELECT sum(s % 10) AS s FROM (SELECT k, sum(v) AS s FROM t GROUP BY k)",
        big("a", "z"),
        "; in the group k = a",
    ),
}


@pytest.mark.parametrize("case", OVERFLOWS)
def test_an_overflow_names_its_group(lab: Lab, case: str) -> None:
    sql, rows, says = OVERFLOWS[case]
    lab.source("t", DDL, *ROWS)
    error = fails(lab, sql, rows)
    assert error["code"] == "DATA"
    assert "OVERFLOW" in error["message"]
    assert says in error["message"]
    assert len(error["message"]) < 600


ROWS_THAT_FAIL = {
    "a product": ("SELECT k, v * 2 AS x FROM t", big("a"), "OVERFLOW"),
    "division by zero": ("SELECT k, 1 / (v - 7) AS x FROM t", [("a", 7, "1", None)], "by zero"),
    "a cast": ("SELECT CAST(s AS INT) AS x FROM t", [("a", 7, "x1", None)], "'x1'"),
}


@pytest.mark.parametrize("case", ROWS_THAT_FAIL)
def test_a_row_that_fails_is_told(lab: Lab, case: str) -> None:
    sql, rows, says = ROWS_THAT_FAIL[case]
    lab.source("t", DDL, *ROWS)
    error = fails(lab, sql, rows)
    assert error["code"] == "DATA"
    assert says in error["message"]


@pytest.mark.parametrize(
    ("function", "kind", "says"),
    [
        ("odd", "python", "raised ValueError: 700 is more than 100"),
        ("odd_ones", "pandas", "raised KeyError: 'too many'"),
    ],
)
def test_a_function_that_raises_is_named(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, function: str, kind: str, says: str
) -> None:
    module = f"raising_{kind}_of_a_test"
    (lab.root / f"{module}.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(lab.root))
    lab.source("t", DDL, *ROWS)
    lab.ws.add_function("checked", f"{module}:{function}", returns="bigint", kind=kind)
    error = fails(lab, "SELECT k, checked(v) AS x FROM t", [("a", 700, "1", None)])
    assert error["code"] == "FUNCTION"
    assert f"function checked ({module}:{function}) {says} at line " in error["message"]
    assert "correct the function" in error["hint"]


def test_a_module_that_workers_do_not_have(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    package = lab.root / "package_of_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text("def same(value):\n    return value\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(lab.root))
    lab.source("t", DDL, *ROWS)
    lab.ws.add_function("same", "package_of_a_test.inner:same", returns="bigint")
    lab.view("v", "SELECT same(v) AS x FROM t", policy="auto")
    with pytest.raises(e.FunctionError, match="needs the module package_of_a_test") as caught:
        lab.refresh()
    assert "--py-files" in caught.value.hint


def test_a_function_that_is_not_installed_any_more(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails the views that call it, and no others; these can be added, run and verified."""
    (lab.root / "installed_of_a_test").mkdir()
    inner = lab.root / "installed_of_a_test" / "inner.py"
    inner.write_text("def same(value):\n    return value\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(lab.root))
        lab.source("t", DDL, *ROWS)
        lab.ws.add_function("same", "installed_of_a_test.inner:same", returns="bigint")
        lab.ws.add_view(lab.spark, "calls", "SELECT same(v) AS x FROM t")
    for name in [name for name in sys.modules if name.startswith("installed_of_a_test")]:
        del sys.modules[name]
    lab.view("plain", "SELECT k, rand() AS r FROM t", policy="auto")
    report = lab.refresh()
    assert report.views["plain"].method == "full"
    error = report.views["calls"].error
    assert error is not None
    assert error["code"] == "FUNCTION"
    assert "function same is not at installed_of_a_test.inner:same" in error["message"]
    assert lab.ws.verify(lab.spark).equal


def test_a_module_that_fails_fails_its_views_alone(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\nLIMIT = int(os.environ['LIMIT_OF_A_TEST'])\ndef same(value):\n    return value\n"
    (lab.root / "limited_of_a_test.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(lab.root))
    lab.source("t", DDL, *ROWS)
    lab.ws.add_function("same", "limited_of_a_test:same", returns="bigint")
    with pytest.raises(e.FunctionError, match="fails when it is imported: KeyError"):
        lab.ws.add_view(lab.spark, "calls", "SELECT same(v) AS x FROM t")
    monkeypatch.setenv("LIMIT_OF_A_TEST", "7")
    lab.ws.add_view(lab.spark, "calls", "SELECT same(v) AS x FROM t")
    lab.view("plain", "SELECT k, v FROM t")
    monkeypatch.setenv("LIMIT_OF_A_TEST", "seven")
    del sys.modules["limited_of_a_test"]
    report = lab.refresh()
    assert report.views["plain"].method == "full"
    error = report.views["calls"].error
    assert error is not None
    assert error["code"] == "FUNCTION"
    assert "limited_of_a_test:same fails when it is imported: ValueError" in error["message"]


def test_the_names_of_sparks_functions_are_known(spark) -> None:
    listed = {str(row[0]).casefold() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    names = {name for name in listed if name.isidentifier()}
    assert {name for name in names if not is_builtin(name)} == set()
