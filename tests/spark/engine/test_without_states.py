"""Views that keep no states: over signed rows once rows have gone from mirrors, and always as batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slacktide.program import operator as o
from tests.harness.lab import Lab

if TYPE_CHECKING:
    from slacktide.program.operator import Program

pytestmark = pytest.mark.spark

SUMS = "SELECT k, sum(12 DIV v) AS s, count(*) AS n FROM t GROUP BY k"
SHAPES = {
    "sums": "SELECT k, sum(v) AS s, avg(v) AS a, count(d) AS n FROM t GROUP BY k",
    "whole": "SELECT count(*) AS n, sum(v) AS s FROM t",
    "joined": "SELECT t.k, sum(u.w) AS s FROM t JOIN u ON t.k = u.k GROUP BY t.k",
    "padded": "SELECT t.k, sum(u.w) AS s FROM t FULL JOIN u ON t.k = u.k GROUP BY t.k",
    "met": "SELECT k, count(*) AS n FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k) GROUP BY k",
    "unmet": "SELECT k, count(*) AS n FROM t WHERE k NOT IN (SELECT k FROM u WHERE k IS NOT NULL) GROUP BY k",
    "most": "SELECT k, max(v) AS top, min(d) AS least FROM t GROUP BY k",
    "distinct": "SELECT count(DISTINCT v) AS n, sum(v) AS s FROM t",
    "values": "SELECT DISTINCT k, d FROM t",
    "cubed": "SELECT k, v % 2 AS odd, count(*) AS n FROM t GROUP BY CUBE (k, v % 2)",
    "ranked": "SELECT k, v, sum(v) OVER (PARTITION BY k ORDER BY v, d) AS s FROM t",
    "first": "SELECT k, sum(v) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 3",
    "over": "SELECT n, count(*) AS groups FROM (SELECT k, count(*) AS n FROM t GROUP BY k) GROUP BY n",
    "twice": "WITH s AS (SELECT k, sum(v) AS s FROM t GROUP BY k) SELECT a.k, b.k AS other FROM s a JOIN s b ON a.s = b.s",
    "named": "SELECT n COLLATE UTF8_LCASE AS n, count(*) AS c FROM u GROUP BY 1",
}


def planned(lab: Lab) -> dict[str, Program]:
    return {v.view: v.program for v in lab.ws.plan().views if v.program is not None}


def is_text(program: Program) -> bool:
    return isinstance(program.steps[-1].child, o.Batch)


def test_every_answer_equals_batch(lab: Lab) -> None:
    lab.source(
        "t", "k INT, v INT, d DOUBLE", *((i % 9 or None, i % 13, i / 4 - 5) for i in range(120))
    )
    lab.source("u", "k INT, w INT, n STRING", *((i % 7, i, "aAbB"[i % 4]) for i in range(60)))
    for name, sql in SHAPES.items():
        lab.view(name, sql, policy="full")
    lab.refresh()
    lab.verified()
    lab.land("t", delete=[(1, 1, -4.75), (None, 0, -5.0)], insert=[(1, 1, -0.0), (1, 1, 0.0)])
    lab.land("u", delete=[(0, 0, "a"), (6, 6, "b")], insert=[(None, 5, "A")])
    programs = planned(lab)
    assert len(programs) == len(SHAPES)
    signed = {name for name, program in programs.items() if not is_text(program)}
    assert {"sums", "whole", "joined", "met", "first", "over", "twice"} <= signed
    assert "ranked" not in signed
    assert {view.method for view in lab.refresh().views.values()} == {"full"}
    lab.verified()
    lab.land("t", delete=[(1, 1, 0.0), (1, 1, -0.0)])
    lab.land("u", delete=[(None, 5, "A")], insert=[(1, 2, None), (1, 2, None)])
    lab.refresh()
    lab.verified()
    assert not any(chain.startswith("states/") for chain in lab.ws._store.world().chains)


def test_a_row_that_is_gone_fails_nothing(lab: Lab) -> None:
    """The base of the mirror has it still; the text, which never sees it, is taken, and for a while at once."""
    lab.source("t", "k INT, v INT", *((i % 4, i % 5 + 1) for i in range(100)), (0, 0))
    lab.view("sums", "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k", policy="full")
    lab.refresh()
    lab.land("t", delete=[(0, 0)])
    lab.refresh()
    lab.view("shares", SUMS, policy="full")
    first = lab.refresh().views["shares"]
    assert first.error is None
    lab.land("t", insert=[(1, 1)])
    found = lab.refresh().views["shares"]
    lab.land("t", insert=[(1, 1)])
    again = planned(lab)["shares"]
    assert (found.error, first.method, found.method) == (None, "full", "full")
    assert any(one.startswith("CHANGE_FAILS") for one in (*first.reasons, *found.reasons))
    assert is_text(again)
    lab.refresh()
    lab.verified()
