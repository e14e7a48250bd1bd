"""Queries of few rows run otherwise than those of many, to the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.common import ranges
from slacktide.optimizer.costs import reach
from slacktide.program import lightness
from slacktide.spark.sessions.temporary import Temporary
from slacktide.spark.tasks import task_run
from slacktide.store.naming import segments
from tests.harness.lab import Lab

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

JOINED = "SELECT a.k, count(*) AS n, max(b.v) AS top FROM a JOIN b ON a.k = b.k GROUP BY a.k"


def jobs_of_a_refresh(lab: Lab) -> int:
    lab.source("a", "k INT, v INT", *((i % 7, i) for i in range(40)))
    lab.source("b", "k INT, v INT", *((i % 5, i) for i in range(30)))
    lab.view("joined", JOINED, joined, "a", "b")
    lab.step()
    lab.land("a", insert=[(1, 100), (9, 1)], delete=[(0, 0)])
    lab.land("b", delete=[(4, 29)], insert=[(9, 9)])
    return int(lab.step(joined="incremental").views["joined"].actual["jobs"])


def joined(a, b):
    matches = [(k, v) for k, _ in a for other, v in b if k == other]
    for key in {k for k, _ in matches}:
        values = [v for k, v in matches if k == key]
        yield key, len(values), max(values)


def test_few_rows_take_fewer_jobs(spark: SparkSession, tmp_path, monkeypatch) -> None:
    few = jobs_of_a_refresh(Lab(spark, tmp_path / "few"))
    monkeypatch.setattr(lightness, "MOST_READ", -1)
    many = jobs_of_a_refresh(Lab(spark, tmp_path / "many"))
    assert few < many


def test_few_rows_are_joined_and_grouped_where_they_are_read(lab: Lab) -> None:
    lab.source("a", "k INT, v INT", *((i % 7, i) for i in range(40)))
    lab.source("b", "k INT, v INT", *((i % 5, i) for i in range(30)))
    sql = "SELECT a.k, count(*) AS n, sum(b.v) AS s FROM a JOIN b ON a.k = b.k GROUP BY a.k"
    lab.view("summed", sql)
    lab.refresh()
    lab.land("a", insert=[(1, 100), (9, 1)], delete=[(0, 0)])
    lab.land("b", delete=[(4, 29)], insert=[(9, 9)])
    done = lab.refresh().views["summed"]
    assert done.method == "incremental"
    assert done.actual["bytes_shuffled"] == 0
    assert done.actual["stages"] <= done.actual["jobs"]
    lab.verified()


def test_what_the_last_run_wrote_tells_whether_rows_are_few(lab: Lab, monkeypatch) -> None:
    monkeypatch.setattr(task_run, "MOST_ROWS", 10)
    lab.source("t", "k INT, v INT", *((i % 2, i) for i in range(8)))
    lab.view("counted", "SELECT k, count(*) AS n FROM t GROUP BY k", counted, "t")
    lab.step()
    for run in range(2):
        lab.land("t", insert=[(i % 2, i) for i in range(20)])
        lab.step(counted="incremental")
        written = segments(lab.ws._store.world().chains["views/counted"])
        name = [*written][-1].files[0].path.rsplit("/", 1)[1]
        assert (name == "part-00000.zstd.parquet") is bool(run), "20 changes led to 4 rows"


def counted(rows):
    keys = [k for k, _ in rows]
    return [(k, keys.count(k)) for k in {*keys}]


def test_what_is_expected_to_be_read_tells_whether_a_query_is_light(
    lab: Lab, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(lightness, "MOST_READ", 1500)
    for module in (ranges, reach):
        monkeypatch.setattr(module, "LARGE_ROWS", 10)
    files = {name: tmp_path / name for name in ("big", "small")}
    for name, folder in files.items():
        folder.mkdir()
        lab.ws.add_source(name, kind="files", path=str(folder), schema="k INT, v INT")

    def land(name: str, keys: Sequence[int]) -> None:
        path = files[name] / f"{keys[0]}-{keys[-1]}.parquet"
        typed = pa.array(keys, pa.int32())
        pq.write_table(pa.table({"k": typed, "v": typed}), path)

    for first in range(0, 5000, 1000):
        land("big", range(first, first + 1000))
    land("small", [1, 1500])
    sql = "SELECT s.k, b.v FROM small s JOIN big b ON s.k = b.k"
    lab.ws.add_view(lab.spark, "joined", sql)
    lab.refresh()
    jobs = []
    for key in (5, 7, 1700):
        land("small", [key])
        done = lab.refresh().views["joined"]
        assert done.actual["rows_read"] < 1100, "one of the files"
        jobs.append(done.actual["jobs"])
        lab.verified()
    assert len({*jobs}) == 1, "the plan knows it before any run has extended the answer"
    # As many keys as in the run before, which lie anywhere: the plan knows that, and not the run before.
    done_by = []
    for keys in (range(100), range(100, 200), range(0, 5000, 50)):
        land("small", keys)
        done_by.append(lab.refresh().views["joined"].actual)
        lab.verified()
    _, near, anywhere = done_by
    assert near["rows_read"] < 1500 < 5000 < anywhere["rows_read"]
    assert near["jobs"] == jobs[0] < anywhere["jobs"]


def test_rows_have_the_name_that_was_given_last(spark: SparkSession) -> None:
    session = spark.newSession()
    temporary = Temporary(session)
    temporary.name(session.sql("SELECT 1 AS x"), "rows_here")
    assert session.sql("SELECT x FROM rows_here").collect() == [(1,)]
    temporary.name(session.sql("SELECT 2 AS x, 'a' AS y"), "rows_here")
    assert session.sql("SELECT r.x, y FROM rows_here r").collect() == [(2, "a")]
    assert not spark.catalog.tableExists("rows_here")
    session.catalog.dropTempView("rows_here")
    assert not session.catalog.tableExists("rows_here")
