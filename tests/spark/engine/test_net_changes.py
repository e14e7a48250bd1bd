"""Updates of columns that a view does not read are no change for it, and so meet nothing."""

from __future__ import annotations

import pytest

from slacktide.common.tree import of_type
from slacktide.program.operator import Consolidate, ReadChanges
from tests.harness.lab import Lab, Row

pytestmark = pytest.mark.spark

SQL = "SELECT d.g, sum(f.v) AS s, count(*) AS n FROM facts f JOIN dims d ON f.d = d.k GROUP BY d.g"
OUTER = "SELECT f.id, d.g FROM facts f LEFT JOIN dims d ON f.d = d.k"


def sums(facts: list[Row], dims: list[Row]) -> list[Row]:
    groups: dict[object, list[int]] = {}
    for _, d, v in facts:
        for k, g, _note in dims:
            if d is not None and d == k:
                groups.setdefault(g, []).append(v)
    return [(g, sum(values), len(values)) for g, values in groups.items()]


def padded(facts: list[Row], dims: list[Row]) -> list[Row]:
    found: list[Row] = []
    for number, d, _ in facts:
        met = [g for k, g, _note in dims if d is not None and d == k]
        found += [(number, g) for g in met or [None]]
    return found


@pytest.fixture
def star(lab: Lab) -> Lab:
    lab.source("facts", "id INT, d INT, v INT", *((i, i % 4 or None, i) for i in range(40)))
    lab.source("dims", "k INT, g STRING, note STRING", *((i, "ab"[i % 2], "n") for i in range(4)))
    lab.view("sums", SQL, sums, "facts", "dims")
    lab.view("padded", OUTER, padded, "facts", "dims")
    lab.step(sums="full", padded="full")
    return lab


def read(lab: Lab) -> dict[str, int]:
    """The rows that each view reads of tables and changes; all answers are compared with batch."""
    report = lab.step(sums="incremental", padded="incremental")
    return {name: int(view.actual["rows_read"]) for name, view in report.views.items()}


def test_what_changes_nothing_that_is_read_reads_no_other_table(star: Lab) -> None:
    star.land("dims", insert=[(9, "a", "n")], delete=[(0, "a", "n")])
    star.land("facts", delete=[(4, None, 4)])  # both have lost rows from here on
    star.step(sums="incremental", padded="incremental")
    star.land("dims", update=[((1, "b", "n"), (1, "b", "other")), ((9, "a", "n"), (9, "a", None))])
    assert sum(read(star).values()) == 4, "the changes, once for both views"
    star.land("dims", update=[((1, "b", "other"), (1, "b", "n"))])
    star.land("facts", insert=[(50, 1, 50)])
    assert all(read(star).values()), "the change of the other side is taken in"


def test_the_change_of_what_is_small_is_netted(star: Lab) -> None:
    star.land("dims", update=[((1, "b", "n"), (1, "a", "n")), ((2, "a", "n"), (2, "a", "m"))])
    star.land("facts", delete=[(4, None, 4)], insert=[(51, 2, 1)])
    plan = star.ws.plan()
    star.step(sums="incremental", padded="incremental")
    for view in plan.views:
        assert view.program is not None
        netted = {
            one.child.source
            for one in of_type(view.program, Consolidate)
            if isinstance(one.child, ReadChanges)
        }
        assert netted == {"dims"}


def test_each_kind_of_change_at_once(star: Lab) -> None:
    """Rows that come, go and come again, the same row twice, and an update there and back."""
    star.land(
        "dims",
        update=[((1, "b", "n"), (1, "a", "n")), ((2, "a", "n"), (2, "a", "m"))],
        insert=[(3, "b", "n"), (None, "a", "n")],
        delete=[(0, "a", "n")],
    )
    star.land("facts", insert=[(60, 3, 1), (60, 3, 1), (61, None, 2)], delete=[(5, 1, 5)])
    assert all(read(star).values())
    star.land("dims", update=[((1, "a", "n"), (1, "b", "x"))])
    star.land("dims", update=[((1, "b", "x"), (1, "a", "n"))])
    assert sum(read(star).values()) == 4
    star.land("dims", delete=[(1, "a", "n"), (2, "a", "m"), (3, "b", "n"), (3, "b", "n")])
    read(star)
