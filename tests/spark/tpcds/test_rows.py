"""Rows and batches of TPC-DS are as declared, and its queries say something about them.

No Spark is asked; the tier is the one that runs in a single process, so that the rows are made once.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.campaigns.tpcds_views import SEED, kinds
from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_base import generate
from tests.harness.tpcds_feed import advance
from tests.harness.tpcds_probe import answers, broken, is_void

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BATCHES = 8


def rows_of(folder: Path) -> dict[str, int]:
    import pyarrow.parquet as pq

    return {file.stem: pq.read_metadata(file).num_rows for file in folder.glob("*.parquet")}


def test_batches_keep_what_is_declared_and_change_the_answers(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        generate(connection)
        assert list(broken(connection)) == []
        history = [answers(connection)]
        for number, kind in enumerate(kinds(BATCHES), start=1):
            advance(connection, tmp_path, seed=SEED, number=number, kind=kind)
            assert list(broken(connection)) == []
            history.append(answers(connection))

    for number, kind in enumerate(kinds(BATCHES), start=1):
        changed = {table for table, count in rows_of(tmp_path / str(number)).items() if count}
        facts = {"store_sales", "catalog_returns", "web_sales", "inventory"}
        masters = {"item", "customer", "customer_address"}
        assert changed >= facts | masters if kind != "empty" else not changed
    assert set(rows_of(tmp_path / "4")) == set(SCHEMAS)

    names = set(history[0])
    filled = {name for name in names if not any(is_void(answer[name]) for answer in history)}
    moves = {name: sum(a[name] != b[name] for a, b in pairwise(history)) for name in names}
    lively = {name for name in filled if moves[name] >= BATCHES / 2}
    assert len(names) == 103
    assert names - lively == set()
