"""How the rows of a state lie in its files, so that a reader who knows the keys it wants skips the rest."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from slacktide.common.chain_ids import mirror_id
from slacktide.engine.workspace import Workspace
from slacktide.optimizer.compaction import Prices
from slacktide.program import lightness
from slacktide.spark.tasks import task_run
from slacktide.store.naming import segments
from tests.harness.lab import Lab, Row, grouped

pytestmark = pytest.mark.spark

SQL = "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"


def summed(rows: list[Row]) -> list[Row]:
    found = grouped(rows, lambda row: row[0])
    return [(key, len(many), sum(v for _, v in many)) for key, many in found.items()]


def met(left: list[Row], right: list[Row]) -> list[Row]:
    values = {key: value for value, key in right}
    return [(key, value, values[key]) for value, key in left if key in values]


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is light: of one that is, a page holds all."""
    monkeypatch.setattr(lightness, "MOST_READ", -1)
    monkeypatch.setattr(task_run, "MOST_ROWS", -1)


def keys_by_file(lab: Lab, chain: str, column: str, *, pieces: int) -> list[list[Any]]:
    """The values of a column as they lie in each file of a chain of so many pieces."""
    found = [*segments(lab.ws._store.world().chains[chain])]
    assert len(found) == pieces
    files = (Path(lab.ws.root) / file.path for piece in found for file in piece.files)
    return [pq.read_table(file)[column].to_pylist() for file in files]


@pytest.mark.usefixtures("heavy")
def test_segments_lie_sorted_as_the_base_does(lab: Lab) -> None:
    lab.source("t", "k INT, v INT", *((i * 7919 % 200, i) for i in range(400)))
    lab.view("summed", SQL, summed)
    lab.step(summed="full")
    for start in (1_000, 2_000):
        lab.land("t", insert=[(start + i * 7919 % 200, i) for i in range(300)] + [(None, 1)])
        lab.step(summed="incremental")
    (state,) = (name for name in lab.ws._store.world().chains if name.startswith("states/"))
    for keys in keys_by_file(lab, state, "c0", pieces=3):
        assert all(
            one is None or (other is not None and one <= other) for one, other in pairwise(keys)
        )


@pytest.mark.usefixtures("heavy")
def test_segments_of_mirrors_lie_sorted_by_the_key_wherever_it_stands(lab: Lab) -> None:
    lab.ws = Workspace(
        lab.ws._store, lab.clock, prices=Prices(file=0, job=0, write=0, write_byte=0)
    )
    for name in ("t", "u"):
        rows = [(-i, i * 7919 % 4_000) for i in range(4_000)]
        lab.source(name, "v INT, k INT", *rows, key=["k"])
    joined = "SELECT t.k, t.v, u.v AS w FROM t JOIN u ON t.k = u.k"
    lab.view("joined", joined, met, "t", "u")
    lab.step(joined="full")
    for start in (10_000, 20_000):
        lab.land("t", insert=[(-i, start + i * 7919 % 100) for i in range(100)])
        lab.step(joined="incremental")
    for keys in keys_by_file(lab, mirror_id("t"), "c1", pieces=2):
        assert keys == sorted(keys)
