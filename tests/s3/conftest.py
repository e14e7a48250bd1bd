"""Workspaces in an object store; Airflow gets a home of its own."""

from __future__ import annotations

import pytest

from tests.harness.airflow_home import pytest_configure  # noqa: F401 - a hook
from tests.harness.lake import Lake
from tests.harness.s3 import Bucket


@pytest.fixture
def lake(spark, bucket: Bucket) -> Lake:
    """An empty workspace."""
    return Lake(spark, bucket)
