"""The whole cycle over an object store: land, refresh, read, travel in time, damage, collect."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from slacktide import errors as e
from slacktide.spark.failures.translation import translated
from slacktide.spark.tasks.small import MOST_ROWS
from tests.harness.lake import ROOT, Lake
from tests.harness.s3 import SECRET, Bucket, running_s3

pytestmark = pytest.mark.s3

ROWS = [(f"k{number % 50}", number) for number in range(300)]
SUMS = "SELECT k, sum(v) AS s, min(v) AS least FROM t GROUP BY k"
NAMED = "SELECT t.v, n.name FROM t JOIN n ON t.k = n.k"


def sums(rows):
    groups: dict[str, list[int]] = {}
    for k, v in rows:
        groups.setdefault(k, []).append(v)
    return [(k, sum(values), min(values)) for k, values in groups.items()]


def named(rows, names):
    return [(v, name) for k, v in rows for other, name in names if k == other]


def stocked(lake: Lake) -> None:
    lake.source("t", "k STRING, v INT", *ROWS)
    lake.source("n", "k STRING, name STRING", *((f"k{i}", f"name {i}") for i in range(40)))
    lake.view("sums", SUMS, sums)
    lake.view("named", NAMED, named, "t", "n")
    lake.view("above", "SELECT count(*) AS n FROM sums WHERE s > 100", policy="auto")
    lake.step()


def test_views_follow_what_lands(lake: Lake) -> None:
    stocked(lake)
    first = {view: lake.bag(view) for view in ("sums", "named")}
    lake.land("t", insert=[("k1", -7), ("new", 1)], delete=[("k2", 2)])
    lake.land("n", update=[(("k3", "name 3"), ("k3", "other"))])
    report = lake.step(sums="incremental", named="incremental")
    assert report.run == 2
    lake.land("t", insert=[("k1", 10_000 + i) for i in range(MOST_ROWS + 1)])
    lake.step()
    assert lake.bag("sums", run=1) == first["sums"]
    assert lake.bag("named", run=1) == first["named"]
    gone = lake.changes("named", 0, 1)
    assert gone == first["named"]
    since = Counter(first["named"])
    since.update(lake.changes("named", 1))
    assert +since == lake.bag("named")
    assert set(lake.named()) <= lake.written()
    lake.step(sums="unchanged")


def test_the_environment_reaches_it_as_well(
    spark, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in bucket.server.environment.items():
        monkeypatch.setenv(name, value)
    lake = Lake(spark, bucket, options={})
    stocked(lake)
    lake.land("t", insert=[("k1", -7)])
    lake.step(sums="incremental")


def test_credentials_are_kept_nowhere(lake: Lake) -> None:
    stocked(lake)
    keys = [key for key in lake.bucket.listed() if not key.endswith("/")]
    assert not any(SECRET.encode() in lake.bucket.read(key) for key in keys)
    known = lake.spark._jsparkSession.sharedState().statusStore()
    newest = known.executionsList(known.executionsCount() - 9, 9)
    shown = " ".join(str(newest.apply(i).modifiedConfigs()) for i in range(newest.size()))
    assert "fs.s3a.secret.key" in shown
    assert SECRET not in shown


@pytest.mark.parametrize("damage", ["lost", "cut off"])
def test_a_damaged_state_is_built_anew(lake: Lake, damage: str) -> None:
    stocked(lake)
    for key in set(lake.named("states/")):
        content = lake.bucket.read(key)
        lake.bucket.delete(key)
        if damage == "cut off":
            lake.bucket.put(key, content[:-9])
    lake.land("t", insert=[("k1", -7)], delete=[("k2", 2)])
    report = lake.step(sums="full")
    assert "of which a file is damaged" in " ".join(report.views["sums"].reasons)
    lake.land("t", insert=[("k1", -8)])
    lake.step(sums="incremental")


def test_a_landed_file_that_changes_ends_the_run(lake: Lake) -> None:
    stocked(lake)
    entries = lake.number
    key = lake.land("t", insert=[("k1", -7)])
    plan = lake.ws.plan()
    same = lake.bucket.read(key)
    lake.bucket.put(key, same + b" ")
    with pytest.raises(e.ArrivalChangedError, match=r"\[x\]\{y\}"):
        lake.ws.refresh(lake.spark, plan)
    assert lake.number == entries + 1
    lake.bucket.put(key, same)
    lake.step(sums="incremental")


def test_what_nobody_needs_is_collected(lake: Lake) -> None:
    stocked(lake)
    left = f"{ROOT}/views/sums/{'0' * 32}/base/part-0.parquet"
    lake.bucket.put(left, b"of a dead attempt")
    lake.land("t", insert=[("k1", -7)])
    lake.step()
    # The server tells whole seconds, and what is as young as the newest entry stays.
    while left in lake.written():
        lake.ws.discover()
        lake.land("t", insert=[("k1", 0)])
        lake.ws.discover()
        lake.clock.now += timedelta(days=3650)
        lake.ws.gc(grace=timedelta(0))
    kept = {key for key in lake.written() if not key.endswith("/")}
    assert set(lake.named()) <= kept
    lake.step()


def test_a_store_that_goes_away_is_no_damage(spark) -> None:
    with running_s3() as server:
        lake = Lake(spark, server.bucket())
        lake.source("t", "k STRING, v INT", *ROWS)
        lake.view("sums", SUMS)
        lake.refresh()
        answer = lake.ws.read(spark, "sums")
    with pytest.raises(e.StorageError, match="sums") as gone, translated("view sums"):
        answer.collect()
    assert type(gone.value) is e.StorageError
