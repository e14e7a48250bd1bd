"""All texts of TPC-DS are read; what is read survives serde and has the digests it always had.

The digests stand in a file, so that neither another process with another hash seed nor another order
of Catalyst's own can change the name of a state unseen.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.algebra.textual import from_text, to_text
from slacktide.algebra.tree import CLASSES, canonical
from slacktide.common.serde import dump, load
from slacktide.spark.reader import read_view
from tests.harness.tpcds import SCHEMAS, queries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

QUERIES = queries()
GOLDEN = Path(__file__).parent / "tpcds_digests.json"


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    found: dict[str, str] = json.loads(GOLDEN.read_text())
    return found


def test_the_texts_are_all_there() -> None:
    assert len(QUERIES) == 103


@pytest.mark.parametrize("name", QUERIES)
def test_is_read(spark: SparkSession, digests: dict[str, str], name: str) -> None:
    view = read_view(spark, QUERIES[name], SCHEMAS)
    assert view.relation is not None, [str(reason) for reason in view.reasons]
    assert load(json.loads(json.dumps(dump(view.relation))), CLASSES) == (view.relation,)
    assert from_text(to_text(view.relation)) == view.relation
    digest = canonical(view.relation).digest.hex()
    if "SLACKTIDE_GOLDEN" in os.environ:
        digests[name] = digest
        GOLDEN.write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n")
    assert digests.get(name) == digest
