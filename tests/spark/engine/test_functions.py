"""Functions of users in every place of a query: answers equal batch after every step, by increments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

MODULE = "functions_of_a_test"
CODE = """
import pandas as pd

def score(value):
    return None if value is None else value * 2 + 1

def shout(texts):
    return texts.str.upper()

def spread(values: pd.Series) -> float:
    return float(values.max() - values.min())

def parts(text):
    return [] if text is None else list(text)

def small(value):
    if value is not None and value > 100:
        raise ValueError(f"{value} is too large")
    return value
"""
VIEWS = {
    "filtered": "SELECT k, v FROM t WHERE score(v) > 3 AND v < 50",
    "grouped": "SELECT shout(k) AS k, sum(score(v)) AS s, count(*) AS n FROM t GROUP BY shout(k)",
    "nested": "SELECT score(score(v) - 1) AS s, count(*) AS n FROM t GROUP BY score(score(v) - 1)",
    "across": "SELECT t.k, u.w FROM t JOIN u ON t.k = u.k WHERE score(t.v + u.w) > 8",
    "padded": "SELECT t.k, t.v, u.w FROM t LEFT JOIN u ON shout(t.k) = shout(u.k)",
    "existing": "SELECT k, v FROM t WHERE score(v) IN (SELECT w FROM u) OR shout(k) = 'B'",
    "ranked": "SELECT k, v, rank() OVER (PARTITION BY shout(k) ORDER BY score(v)) AS r FROM t",
    "exploded": "SELECT p, count(*) AS n FROM t LATERAL VIEW explode(parts(k)) AS p GROUP BY p",
    "together": "SELECT k, spread(v) AS s FROM t WHERE v IS NOT NULL GROUP BY k",
    "beside": "SELECT k, v, spread(v) OVER (PARTITION BY k) AS s FROM t WHERE v IS NOT NULL",
    "over": "SELECT k, score(s) AS s FROM grouped",
}


@pytest.fixture
def scored(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Two sources, and functions that a module has."""
    (tmp_path / f"{MODULE}.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    lab.ws.add_function("score", f"{MODULE}:score", returns="int")
    lab.ws.add_function("shout", f"{MODULE}:shout", returns="string", kind="pandas")
    lab.ws.add_function("spread", f"{MODULE}:spread", returns="double", kind="pandas")
    lab.ws.add_function("parts", f"{MODULE}:parts", returns="array<string>")
    lab.ws.add_function("small", f"{MODULE}:small", returns="int")
    lab.source("t", "k STRING, v INT", ("a", 1), ("a", 1), ("b", 2), (None, 3), ("ab", None))
    lab.source("u", "k STRING, w INT", ("A", 3), ("b", 5), (None, 7), ("b", 5))
    return lab


def test_views_that_call_functions_are_maintained(scored: Lab) -> None:
    lab = scored
    for name, sql in VIEWS.items():
        lab.view(name, sql, None)
    lab.step(**dict.fromkeys(VIEWS, "full"))
    incremental = dict.fromkeys(VIEWS, "incremental")
    lab.land("t", insert=[("B", 1), (None, None), ("c", 40)], delete=[("a", 1)])
    lab.land("t", update=[(("b", 2), ("b", 1))])
    lab.land("u", insert=[("c", 81)], delete=[("b", 5)])
    lab.step(**incremental)
    rows = list(lab.rows["t"])
    lab.land("t", delete=rows)
    lab.step(**incremental)
    lab.land("t", insert=rows)
    lab.land("u", delete=list(lab.rows["u"]))
    lab.step(**incremental)


def test_a_row_that_came_and_went_fails_no_answer(scored: Lab) -> None:
    lab = scored
    lab.view("kept", "SELECT k, sum(small(v)) AS s FROM t GROUP BY k", None)
    lab.step(kept="full")
    lab.land("t", insert=[("z", 1000)])
    lab.land("t", delete=[("z", 1000)], insert=[("z", 1)])
    report = lab.step(kept="full")
    assert report.views["kept"].reasons == ("POLICY(incremental)", "CHANGE_FAILS(FUNCTION)")
    lab.land("t", insert=[("z", 2)])
    lab.step()


def test_a_function_with_another_value_each_time_is_full(scored: Lab) -> None:
    lab = scored
    lab.ws.add_function("dice", f"{MODULE}:score", returns="int", deterministic=False)
    lab.ws.add_view(lab.spark, "thrown", "SELECT dice(v) AS d FROM t")
    report = lab.refresh()
    assert report.views["thrown"].reasons == ("FIRST_RUN", "NON_DETERMINISTIC_EXPRESSION(function)")
