"""How the rows of a state lie in its files, so that a reader who knows the keys it wants skips the rest."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slacktide.program import lightness
from slacktide.spark import task_run
from slacktide.store.naming import segments
from tests.harness.lab import Lab, Row, grouped

pytestmark = pytest.mark.spark

SQL = "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"


def summed(rows: list[Row]) -> list[Row]:
    found = grouped(rows, lambda row: row[0])
    return [(key, len(many), sum(v for _, v in many)) for key, many in found.items()]


def test_segments_lie_sorted_as_the_base_does(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for those of a light step, of which a page holds all."""
    monkeypatch.setattr(lightness, "MOST_READ", -1)
    monkeypatch.setattr(task_run, "MOST_ROWS", -1)
    lab.source("t", "k INT, v INT", *((i * 7919 % 200, i) for i in range(400)))
    lab.view("summed", SQL, summed)
    lab.step(summed="full")
    for start in (1_000, 2_000):
        lab.land("t", insert=[(start + i * 7919 % 200, i) for i in range(300)] + [(None, 1)])
        lab.step(summed="incremental")
    chains = lab.ws._store.world().chains
    (state,) = (chain for name, chain in chains.items() if name.startswith("states/"))
    pieces = [*segments(state)]
    assert len(pieces) == 3
    for file in (file for piece in pieces for file in piece.files):
        keys = pq.read_table(Path(lab.ws.root) / file.path)["c0"].to_pylist()
        assert all(
            one is None or (other is not None and one <= other) for one, other in pairwise(keys)
        )
