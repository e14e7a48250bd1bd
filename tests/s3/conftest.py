"""Workspaces in an object store. Airflow reads its home when it is imported: it gets one of its own."""

from __future__ import annotations

import os
import tempfile

import pytest

from tests.harness.lake import Lake
from tests.harness.s3 import Bucket

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="slacktide-airflow-"))
os.environ.setdefault("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
os.environ.setdefault("AIRFLOW__CORE__UNIT_TEST_MODE", "False")


@pytest.fixture
def lake(spark, bucket: Bucket) -> Lake:
    """An empty workspace."""
    return Lake(spark, bucket)
