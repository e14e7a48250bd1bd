"""What a small change costs beside full recomputation, construct by construct, in rows that Spark reads.

A thousandth of the rows changes, all of them neighbours: the oldest ones go, and as many come at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slacktide.errors import UnsupportedQueryError
from tests.harness.constructs import BELOW, CONSTRUCTS, T, U, W
from tests.harness.lab import Lab, Row
from tests.harness.user_functions import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FACTS: Final = 200_000
DIMENSION: Final = 40_000
GROUP: Final = 20  # facts of a key
COPIES: Final = 4  # rows of the dimension for a key
SHARE: Final = 1_000
HALF: Final = 0.5
# Their answers grow with the square of the rows, whoever computes them.
QUADRATIC: Final = frozenset({"inner join, any condition", "left join, any condition"})


def fact(number: int) -> Row:
    day = date(2020, 1, 1) + timedelta(days=number // 200)
    value = (number * 7) % 100
    return (number, number // GROUP, "abc"[number % 3], value, Decimal(value) / 4, value / 8, day)


def dimension(number: int) -> Row:
    return (number // COPIES, f"n{number}", 3 if number % (DIMENSION // 3) == 1 else number % 2)


def nested(number: int) -> Row:
    return (number, [number, number + 1], (number % 9, "pqr"[number % 3]))


SOURCES = {"t": (T, fact, FACTS), "u": (U, dimension, DIMENSION), "w": (W, nested, FACTS)}


def shares(spark: SparkSession, root: Path, constructs: Iterable[str]) -> dict[str, float | None]:
    """Give for each construct the rows read by its maintenance, as a share of those of `full`.

    None stands for a construct that is full anyway, or whose answer grows with the square of the rows.
    """
    lab = Lab(spark, root)
    for name, (ddl, row, count) in SOURCES.items():
        lab.source(name, ddl)
        lab.land_as(name, [("insert", row(number)) for number in range(count)])
    register(lab.ws)
    for name, sql in BELOW.items():
        lab.view(name, sql)
    chosen = [one for one in constructs if one not in QUADRATIC]
    measured = [one for place, one in enumerate(chosen) if _added(lab, place, CONSTRUCTS[one])]
    lab.ws.refresh(spark)
    for name, (_, row, count) in SOURCES.items():
        few = count // SHARE // 2
        gone = [("delete", row(number)) for number in range(few)]
        come = [("insert", row(number)) for number in range(count, count + few)]
        lab.land_as(name, [*gone, *come])
    report = lab.ws.refresh(spark)
    verified = lab.ws.verify(spark)
    places = {one: place for place, one in enumerate(chosen)}
    named = {f"{kind}{place}": one for one, place in places.items() for kind in ("v", "full")}
    wrong = {named[n]: view.to_dict() for n, view in verified.views.items() if not view.equal}
    assert wrong == {}, wrong
    return {
        one: _rows(report.views[f"v{places[one]}"].actual)
        / max(_rows(report.views[f"full{places[one]}"].actual), 1)
        if one in measured
        else None
        for one in constructs
    }


def _added(lab: Lab, place: int, sql: str) -> bool:
    try:
        lab.ws.add_view(lab.spark, f"v{place}", sql, policy="incremental")
    except UnsupportedQueryError:
        return False
    lab.ws.add_view(lab.spark, f"full{place}", sql, policy="full")
    return True


def _rows(actual: object) -> int:
    assert isinstance(actual, dict)
    return int(actual["rows_read"])


def method_of(reasons: Sequence[str], share: float | None) -> str:
    """Name how a construct is maintained."""
    if reasons:
        return "full"
    if share is None:
        return "not measured"
    return "touched keys" if share >= HALF else "incremental"
