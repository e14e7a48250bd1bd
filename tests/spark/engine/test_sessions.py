"""Runs work in sessions of their own: what the user has named stays as it is."""

from __future__ import annotations

import pytest

from tests.harness.lab import Lab

pytestmark = pytest.mark.spark


def test_temporary_views_of_the_user_stay(lab: Lab) -> None:
    names = ("t", "base", "over")
    lab.source("t", "k INT", (1,), (2,))
    lab.view("base", "SELECT k FROM t", policy="full")
    lab.view(
        "over", "SELECT k + 1 AS k FROM base", lambda t: [(k + 1,) for (k,) in t], policy="full"
    )
    for name in names:
        lab.spark.sql(f"SELECT 'mine' AS {name}_of_the_user").createOrReplaceTempView(name)
    try:
        lab.step()
        lab.land("t", insert=[(3,)])
        lab.step(base="full", over="full")
        for name in names:
            table = lab.spark.table(name)
            assert (table.columns, table.collect()) == ([f"{name}_of_the_user"], [("mine",)])
    finally:
        for name in names:
            lab.spark.catalog.dropTempView(name)
