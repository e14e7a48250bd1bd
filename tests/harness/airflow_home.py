"""Airflow reads its home when it is imported: it gets one of its own, which goes when the tests end."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Give Airflow a home, unless whoever runs the tests has, and settings for tests."""
    if "AIRFLOW_HOME" not in os.environ:
        home = tempfile.mkdtemp(prefix="slacktide-airflow-")
        os.environ["AIRFLOW_HOME"] = home
        config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    os.environ.setdefault("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
    os.environ.setdefault("AIRFLOW__CORE__UNIT_TEST_MODE", "False")
