"""The table of capabilities: every construct under every kind of change, equal to batch each time.

``REWRITE=1 pytest tests/spark/capabilities`` writes what was found into the page.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slacktide.engine.reports import Report
from slacktide.errors import UnsupportedQueryError
from tests.harness.lab import Lab, Row
from tests.spark.capabilities.constructs import CONSTRUCTS, T, U, W

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
PAGE = Path(__file__).parents[3] / "provider" / "docs" / "capabilities.md"
HEAD = """# What is maintained, and how

Every construct below runs as a view over small sources, and its answer is compared with a batch run after every one of these
changes: inserts; deletes, the last row of a group and the current minimum among them; updates of keys, and NULL as a key; a
dimension alone; both sides of a join at once; nothing at all; everything deleted and filled again.

*incremental*: the run reads changes and states, and base tables only where a join with the change needs rows of them. *full*:
recomputed from the sources whenever these change.

*This page is written by `REWRITE=1 pytest tests/spark/capabilities` from the runs that passed.*

| construct | method | why |
|---|---|---|
"""


def fact(number: int, k: int | None, v: int | None) -> Row:
    day = dt.date(2026, 1, 1 + number % 28)
    return (number, k, "abc"[number % 3], v, Decimal(number) / 4, number / 8, day)


FACTS = [fact(n, n % 5 if n % 7 else None, (n * 5) % 9) for n in range(40)]
DIMENSION = [(n, f"n{n}", n + 1) for n in range(4)] + [(None, "none", 2), (2, "twice", 1)]
NESTED = [(n, [n, n + 1] if n % 3 else [], (n, "pq"[n % 2])) for n in range(12)] + [
    (99, None, None)
]


def inserted(lab: Lab) -> None:
    lab.land("t", insert=[fact(50, 9, 0), fact(51, 1, None), fact(52, None, 3)])
    lab.land("w", insert=[(50, [7], (1, "r")), (51, [None], (None, None))])


def deleted(lab: Lab) -> None:
    least = min((row for row in lab.rows["t"] if row[3] is not None), key=lambda row: row[3])
    group = [row for row in lab.rows["t"] if row[1] == 9 and row != least]
    lab.land("t", delete=[least, *group])
    lab.land("w", delete=lab.rows["w"][:2])


def updated(lab: Lab) -> None:
    first, second = lab.rows["t"][:2]
    lab.land(
        "t", update=[(first, (first[0], 3, *first[2:])), (second, (second[0], None, *second[2:]))]
    )


def dimension(lab: Lab) -> None:
    lab.land("u", insert=[(7, "late", 4), (4, "x", 9)], delete=[lab.rows["u"][0]])


def both(lab: Lab) -> None:
    lab.land("t", insert=[fact(60, 7, 8), fact(61, 0, 1)], delete=[lab.rows["t"][3]])
    lab.land(
        "u", update=[(lab.rows["u"][0], (lab.rows["u"][0][0], "renamed", 6))], insert=[(0, "b", 3)]
    )


def nothing(lab: Lab) -> None:
    lab.land("t", insert=[fact(70, 1, 1)], delete=[fact(70, 1, 1)])
    lab.land("u")


def refilled(lab: Lab) -> None:
    for name, rows in (("t", FACTS[5:]), ("u", DIMENSION[1:]), ("w", NESTED[2:])):
        gone = list(lab.rows[name])
        lab.land(name, delete=gone)
        lab.land(name, insert=rows)


RUNS: tuple[tuple[Callable[[Lab], None], ...], ...] = (
    (inserted,),
    (deleted, updated),
    (dimension, nothing),
    (both,),
    (refilled,),
)


def test_every_construct_under_every_change(spark: SparkSession, tmp_path: Path) -> None:
    lab = Lab(spark, tmp_path)
    lab.source("t", T, *FACTS)
    lab.source("u", U, *DIMENSION)
    lab.source("w", W, *NESTED)
    names = {f"v{place}": construct for place, construct in enumerate(CONSTRUCTS)}
    why = {name: _added(lab, name, CONSTRUCTS[construct]) for name, construct in names.items()}
    lab.step()
    for changes in RUNS:
        for change in changes:
            change(lab)
        report = lab.step()
        for name, reasons in why.items():
            assert _as_promised(report, name, reasons), (changes, names[name], report.views[name])
    lines = [
        f"| {names[name]} | {'full' if reasons else 'incremental'} | {' '.join(reasons)} |"
        for name, reasons in why.items()
    ]
    text = HEAD + "\n".join(lines) + "\n"
    if "REWRITE" in os.environ:
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def _added(lab: Lab, name: str, sql: str) -> tuple[str, ...]:
    """Add a view; give the reasons why it is full, none where it is incremental."""
    try:
        lab.view(name, sql)
    except UnsupportedQueryError:
        lab.view(name, sql, policy="auto")
    said: Any = lab.ws.explain(name)
    return tuple(said.reasons)


def _as_promised(report: Report, name: str, reasons: tuple[str, ...]) -> bool:
    view = report.views[name]
    return view.method == "unchanged" or view.method == ("full" if reasons else "incremental")
