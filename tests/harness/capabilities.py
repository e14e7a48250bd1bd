"""Every construct under every kind of change: the rows, the changes, and what is said of each view."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.errors import UnsupportedQueryError
from tests.harness.constructs import BELOW, CONSTRUCTS, T, U, W
from tests.harness.lab import Lab, Row
from tests.harness.small_changes import method_of
from tests.harness.user_functions import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.engine.reports import Report

PAGE = Path(__file__).parents[2] / "provider" / "docs" / "capabilities.md"
_TEXT = """# What is maintained, and how

Every construct below runs as a view over small sources, and its answer is compared with a batch run after every one of these
changes: *inserts*; *deletes*, the last row of a group and the current minimum among them; *updates* of keys, and NULL as a key; a
*dimension* alone; *both* sides of a join at once; *nothing*, a row that comes and goes; a *refill*, everything deleted and filled again.
Below each stands what the run then did: + took it in by changes, = found that it does not concern the view, *full* recomputed.

*incremental*: a change of a thousandth of the rows, all of them neighbours, reads less than half of the rows that full
recomputation reads. *touched keys*: only what belongs to changed keys is computed anew, and yet half of the rows or more are
read. *full*: recomputed from the sources whenever these change. *Rows* is the share that was read, over sources of 40,000 and
200,000 rows. *not measured*: maintained by changes alike, but the answer grows with the square of the rows, whoever computes it.

*This page is written by `python -m tests.campaigns.capabilities` from runs whose answers were all equal.*

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


COLUMNS: dict[str, Callable[[Lab], None]] = {
    "inserts": inserted,
    "deletes": deleted,
    "updates": updated,
    "dimension": dimension,
    "both": both,
    "nothing": nothing,
    "refill": refilled,
}
CHANGES = tuple(COLUMNS.values())
HEADS = ("construct", "method", "rows", *COLUMNS, "why")
HEAD = f"{_TEXT}| {' | '.join(HEADS)} |\n{'|---' * len(HEADS)}|\n"
_MARKS = {"incremental": "+", "unchanged": "=", "full": "full"}


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a construct.

    Attributes:
        reasons: why it is full; none where it is maintained by changes.
        methods: of its runs, after one change after the other.
    """

    reasons: tuple[str, ...]
    methods: tuple[str, ...]


def page(found: Mapping[str, Played], read: Mapping[str, float | None]) -> str:
    """The page, from what all changes found, and the shares of rows that are read."""
    lines = []
    for construct, one in found.items():
        share = read[construct]
        rows = "" if share is None else f"{share:.3f}"
        marks = [_MARKS[method] for method in one.methods]
        method = method_of(one.reasons, share)
        lines.append([construct, method, rows, *marks, " ".join(one.reasons)])
    return HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def played(
    spark: SparkSession, root: Path, constructs: list[str], changes: list[Callable[[Lab], None]]
) -> dict[str, Played]:
    """Run constructs under changes, all answers compared each time; give what became of each."""
    lab = Lab(spark, root)
    lab.source("t", T, *FACTS)
    lab.source("u", U, *DIMENSION)
    lab.source("w", W, *NESTED)
    register(lab.ws)
    for name, sql in BELOW.items():
        lab.view(name, sql)
    names = {f"v{place}": construct for place, construct in enumerate(constructs)}
    why = {name: _added(lab, name, CONSTRUCTS[construct]) for name, construct in names.items()}
    lab.step()
    methods: dict[str, list[str]] = {name: [] for name in names}
    for change in changes:
        change(lab)
        report = lab.step()
        broken = [names[name] for name in names if not _as_promised(report, name, why[name])]
        assert broken == [], f"after {change.__name__}: {broken}"
        for name, did in methods.items():
            did.append(report.views[name].method)
    return {names[name]: Played(why[name], tuple(did)) for name, did in methods.items()}


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
