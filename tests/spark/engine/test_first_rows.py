"""A limit in an order keeps the first rows of its input, and takes them anew when they run dry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slacktide.algebra.scalar import Reference, SortKey
from slacktide.engine.workspace import Workspace
from slacktide.errors import StorageError
from slacktide.optimizer.rule_parts import first
from slacktide.program import lightness
from slacktide.spark.sessions.working import working_session
from slacktide.spark.tasks.task_run import TaskRun
from slacktide.spark.texts.first import first_sql
from tests.harness.lab import Lab, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

T = "k INT, v INT, s STRING"
KEPT = 10
ROWS = 300
TOP = "SELECT k, v FROM t ORDER BY v DESC, k LIMIT 3"


@pytest.fixture(autouse=True)
def _few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first, "FEWEST_KEPT", KEPT)


def row(k: int, v: int | None, s: str = "a") -> Row:
    return (k, v, s)


def rows(*numbers: int) -> list[Row]:
    return [row(n, n) for n in numbers]


def top(t: list[Row]) -> list[Row]:
    return sorted(((k, v) for k, v, _ in t), key=lambda row: (-row[1], row[0]))[:3]


def read_by(lab: Lab, name: str) -> int:
    return int(lab.step(**{name: "incremental"}).views[name].actual["rows_read"])


def changes_of(lab: Lab, name: str) -> list[Any]:
    run = lab.step(**{name: "incremental"}).run or 0
    return lab.ws.changes(lab.spark, name, since=run - 1).collect()


def test_what_is_read_follows_the_change(lab: Lab) -> None:
    lab.source("t", T, *rows(*range(ROWS)))
    lab.view("best", TOP, top, "t")
    lab.step()
    kept, answer = KEPT + 1, 8
    lab.land("t", insert=rows(ROWS, 5), delete=rows(7, 8, ROWS - 1))
    assert read_by(lab, "best") <= 5 + 2 * kept + kept + answer
    lab.land("t", delete=rows(100))
    assert read_by(lab, "best") <= 1 + 2 * kept + kept + answer


def test_rows_that_run_dry_are_taken_anew(lab: Lab) -> None:
    lab.source("t", T, *rows(*range(ROWS)))
    lab.view("best", TOP, top, "t")
    lab.step()
    lab.land("t", delete=rows(*range(ROWS - 7, ROWS)))
    assert read_by(lab, "best") < ROWS, "three are left"
    lab.land("t", delete=rows(ROWS - 8))
    assert read_by(lab, "best") > ROWS - 10, "two are left, of what are more"
    lab.land("t", delete=rows(ROWS - 9))
    assert read_by(lab, "best") < ROWS, "and they are many again"


def test_fewer_rows_than_the_limit_are_never_taken_anew(lab: Lab) -> None:
    lab.source("t", T, *rows(1, 2))
    lab.source("u", T, *rows(*range(ROWS)))
    sql = "SELECT k, v FROM (SELECT * FROM t UNION ALL SELECT * FROM u WHERE k < 0) ORDER BY v DESC, k LIMIT 3"
    lab.view("best", sql, top, "t")
    lab.step()
    for change in ({"delete": rows(2)}, {"delete": rows(1)}, {"insert": rows(7, 8, 9, 4)}):
        lab.land("t", **change)
        assert read_by(lab, "best") < 30


def test_everything_goes_and_comes_again(lab: Lab) -> None:
    lab.source("t", T, *rows(*range(40)))
    lab.view("best", TOP, top, "t")
    lab.view("paged", "SELECT k FROM t ORDER BY k LIMIT 2 OFFSET 3", paged, "t")
    lab.step()
    lab.land("t", delete=rows(*range(40)))
    lab.step(best="incremental", paged="incremental")
    lab.land("t", insert=rows(*range(20, 50)))
    lab.step(best="incremental", paged="incremental")
    lab.land("t", delete=rows(*range(20, 48)), insert=rows(3))
    lab.step(best="incremental", paged="incremental")


def paged(t: list[Row]) -> list[Row]:
    return [(k,) for k, *_ in sorted(t)[3:5]]


def test_what_is_sorted_by_may_have_parameters(lab: Lab) -> None:
    lab.source("t", "k INT, a ARRAY<INT>", *((n, [n % 3, n]) for n in range(30)))
    few = "SELECT k FROM t ORDER BY size(filter(a, e -> e > 1)), k DESC LIMIT 3"
    lab.view("few", few, fewest, "t")
    lab.view("far", "SELECT k FROM t ORDER BY transform(a, (x, i) -> x + i) DESC LIMIT 2 OFFSET 1")
    lab.step()
    lab.land("t", insert=[(31, [0, 1])], delete=[(1, [1, 1]), (29, [2, 29])])
    lab.step(few="incremental", far="incremental")


def fewest(t: list[Row]) -> list[Row]:
    return [(-k,) for _, k in sorted((sum(e > 1 for e in a), -k) for k, a in t)[:3]]


ORDERS = {
    "rising": "SELECT k, v FROM t ORDER BY v LIMIT 2",
    "nulls last": "SELECT k, v FROM t ORDER BY v NULLS LAST, k DESC LIMIT 4",
    "falling": "SELECT k, v FROM t ORDER BY v DESC, k LIMIT 4 OFFSET 1",
    "nulls first": "SELECT k, v FROM t ORDER BY v DESC NULLS FIRST LIMIT 3",
    "by an expression": "SELECT k FROM t ORDER BY abs(v - 4), k LIMIT 3",
    "tied": "SELECT k, s FROM t ORDER BY s LIMIT 5",
    "in no order": "SELECT k, v FROM t WHERE v > 2 LIMIT 3",
    "with an offset alone": "SELECT k FROM t ORDER BY v, k OFFSET 20",
    "of all": "SELECT 1 AS one FROM t LIMIT 6",
    "of a join": "SELECT a.k, b.v FROM t a JOIN t b ON a.k = b.v ORDER BY b.v DESC, a.k LIMIT 3",
    "of a map": "SELECT map(s, v) AS m FROM t ORDER BY v LIMIT 3",
    "below": "SELECT s, count(*) AS n FROM (SELECT s, v FROM t ORDER BY v, k LIMIT 6) GROUP BY s",
    "over groups": "SELECT v, count(*) AS n FROM t GROUP BY v ORDER BY n DESC LIMIT 3",
}


ON_LARGE_DATA = ("falling", "tied", "below")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("names", [tuple(ORDERS), ON_LARGE_DATA], ids=["few rows", "many rows"])
def test_in_every_order(lab: Lab, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    """NULLs, ties at the fence and at the limit, equal rows, and deletes from the front on."""
    if names == ON_LARGE_DATA:
        monkeypatch.setattr(lightness, "MOST_READ", -1)
    facts = [row(n, None if n % 9 == 0 else n % 6, "ab"[n % 2]) for n in range(40)]
    lab.source("t", T, *facts, *facts[:4])
    for place, name in enumerate(names):
        lab.view(f"v{place}", ORDERS[name])
    lab.step()
    lab.land("t", delete=[fact for fact in facts if fact[1] is None], insert=facts[1:6])
    lab.step(v0="incremental")
    lab.land("t", delete=[fact for fact in facts if fact[1] in {0, 5}], insert=[row(99, None)])
    lab.step(v0="incremental")
    lab.land("t", update=[(facts[4], row(4, 9)), (facts[7], row(7, None, "b"))])
    lab.step(v0="incremental")
    lab.land("t", delete=lab.rows["t"][3:])
    lab.step(v0="incremental")


def test_a_choice_among_ties_stays(lab: Lab) -> None:
    lab.source("t", T, *(row(n, 1) for n in range(40)))
    lab.view("some", "SELECT k FROM t ORDER BY v LIMIT 3")
    lab.step()
    lab.land("t", insert=[row(90, 1)], delete=[row(30, 1)])
    assert changes_of(lab, "some") == []
    lab.land("t", delete=[row(1, 1)])
    assert len(changes_of(lab, "some")) == 2


def test_rows_behind_the_first_ones_are_dropped_before_they_meet(spark: SparkSession) -> None:
    """Or else all rows of an input would be sorted by one task."""
    rows = "SELECT id AS c1, false AS c2 FROM range(0, 100000, 1, 4)"
    order = (SortKey(Reference(1, "BIGINT", nullable=False), ascending=True, nulls_first=True),)
    sql = first_sql(rows, [("c1", "BIGINT"), ("c2", "BOOLEAN")], order, 2000)
    plan = working_session(spark, {}, {}).sql(f"EXPLAIN {sql}").collect()[0][0]
    assert plan.rindex("Exchange") < plan.rindex("WindowGroupLimit"), (
        "what comes last is done first"
    )


def test_views_share_first_rows(lab: Lab) -> None:
    lab.source("t", T, *rows(*range(ROWS)))
    lab.view("best", TOP, top, "t")
    lab.step()
    lab.view("other", f"SELECT v + 1 AS w FROM ({TOP})")  # noqa: S608 - a text of ours
    lab.land("t", delete=rows(*range(ROWS - 9, ROWS)))
    lab.step(best="incremental")
    lab.land("t", delete=rows(*range(ROWS - 18, ROWS - 9)))
    lab.step(best="incremental", other="incremental")


def test_no_other_view_takes_rows_that_may_have_run_dry(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where what fills them again fails, one that builds them anew would take them for whole."""
    lab.source("t", T, *rows(*range(40)))
    lab.view("best", TOP, top, "t")
    lab.view("other", f"SELECT v + 1 AS w FROM ({TOP})")  # noqa: S608 - a text of ours
    lab.step()
    lab.land("t", delete=rows(*range(30, 40)))
    is_dry, asked = TaskRun._is_dry, []

    def seen(run: TaskRun, step: Any) -> bool:
        asked.append((step.chain, True) in run._context.saved)
        return is_dry(run, step)

    monkeypatch.setattr(TaskRun, "_is_dry", seen)
    lab.step(best="incremental", other="incremental")
    assert asked[0] is False


def test_a_run_that_failed_after_taking_rows_anew_is_done_again(
    lab: Lab, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.source("t", T, *rows(*range(40)))
    lab.view("best", TOP, top, "t")
    lab.step()
    lab.land("t", delete=rows(*range(30, 40)))
    publish = TaskRun._publish

    def fails(run: TaskRun, step: Any) -> None:
        assert any(segment.rows == KEPT + 1 for segment in run._saved.values()), "taken anew"
        raise StorageError("the disk is gone", hint="")

    monkeypatch.setattr(TaskRun, "_publish", fails)
    with pytest.raises(StorageError):
        lab.refresh()
    monkeypatch.setattr(TaskRun, "_publish", publish)
    lab.ws = Workspace.open(lab.ws.root)
    lab.step(best="incremental")
