"""What the tests of the workspace's behaviour share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import summed as harness
from tests.harness.lab import Lab


@pytest.fixture
def lab(spark, tmp_path: Path) -> Lab:
    """An empty workspace."""
    return Lab(spark, tmp_path)


@pytest.fixture
def filled(lab: Lab) -> Lab:
    """A workspace with the source `t`."""
    return harness.filled(lab)


@pytest.fixture
def shop(lab: Lab) -> Lab:
    """A workspace with an answer."""
    return harness.summed(lab)
