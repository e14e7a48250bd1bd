"""Airflow gets a home of its own."""

from __future__ import annotations

from tests.harness.airflow_home import pytest_configure  # noqa: F401 - a hook
