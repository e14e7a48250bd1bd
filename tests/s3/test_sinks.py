"""Answers published in an object store, for readers that know its `_latest.json` alone."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.harness.lab import bag
from tests.harness.lake import Lake

pytestmark = pytest.mark.s3

OUT = "published b%20c/sums é+=&#"


def latest(lake: Lake) -> dict[str, Any]:
    """What readers open."""
    document: dict[str, Any] = json.loads(lake.bucket.read(f"{OUT}/_latest.json"))
    return document


def rows(lake: Lake, document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of the files that it names."""
    keys = [f"{OUT}/{document['folder']}/{name}" for name in document["files"]]
    tables = [pq.read_table(io.BytesIO(lake.bucket.read(key))) for key in keys]
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def test_an_answer_is_published_and_published_again(lake: Lake) -> None:
    lake.source("t", "k STRING, v INT", ("a", 1), ("a", 2), ("b", 3))
    sink = {"parquet": lake.bucket.spelling(OUT)}
    lake.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k", None, sink=sink)
    assert lake.bucket.listed(OUT) == set(), "what was written to try the store is removed"
    assert lake.refresh().sinks["sums"]["error"] is None
    first = latest(lake)
    assert bag(rows(lake, first)) == lake.bag("sums") == bag([("a", 3), ("b", 3)])
    lake.land("t", insert=[("c", 4)], delete=[("b", 3)])
    assert lake.refresh().sinks["sums"]["error"] is None
    second = latest(lake)
    assert bag(rows(lake, second)) == lake.bag("sums") == bag([("a", 3), ("c", 4)])
    assert f"_slacktide/{second['previous']}" == first["folder"]
    assert bag(rows(lake, first)) == bag([("a", 3), ("b", 3)]), "who opened it reads on"
    assert lake.refresh().sinks == {}
    assert latest(lake) == second
