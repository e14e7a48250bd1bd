"""Measuring what work costs: on a real Spark, over fewer rows than users have measured."""

from __future__ import annotations

import pytest

from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.workspace import Workspace
from slacktide.optimizer.costs import DEFAULTS
from slacktide.spark.measures import probes
from slacktide.spark.measures.metrics import Meter
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "ROWS", 60_000)
    monkeypatch.setattr(probes, "TIMES", 1)


def test_plans_start_from_what_was_measured(lab: Lab) -> None:
    told: list[str] = []
    found = lab.ws.calibrate(lab.spark, told.append)
    assert told[0] == "rows to measure with"
    assert {"a scan", "a join", "a write", "small queries"} <= {*told}
    assert all(found.coefficients[kind] > 0 for kind, price in DEFAULTS.to_dict().items() if price)
    assert found.coefficients["sessions"] == DEFAULTS.sessions, "this one was in use before"
    assert found.coefficients["jobs"] != DEFAULTS.jobs
    again = Workspace.open(lab.ws.root)
    known = Knowledge(again._store.world())
    assert known.coefficients.to_dict() == pytest.approx(dict(found.coefficients))
    assert again.status().to_dict()["calibration"] == {**found.to_dict(), "is_whole": True}


def test_leaves_nothing_behind(lab: Lab) -> None:
    lab.ws.calibrate(lab.spark)
    assert list(lab.ws._store.list_objects("states")) == []
    assert lab.spark.catalog.listTables() == []


def test_counts_what_each_probe_does(lab: Lab) -> None:
    store = lab.ws._store
    found = {one.name: one for one in probes.probes(lab.spark, store, "states/c/a", lambda _: None)}
    assert found["a scan"].cost.rows_read == 60_000
    assert found["a join"].cost.rows_read == 120_000
    assert found["many files"].cost.files_read > 20
    assert found["a grouping by many keys"].cost.bytes_shuffled > 60_000
    assert found["a grouping by many keys"].cost.rows_shuffled >= 60_000
    assert found["a grouping by many keys"].cost.rows_grouped >= 2 * 60_000
    assert found["a join"].cost.rows_grouped == 0
    assert found["a light query"].cost.rows_interpreted == 60_000
    assert found["a scan"].cost.rows_interpreted == 0
    assert found["a write"].cost.bytes_written > 60_000
    assert found["small queries"].cost.jobs >= found["small queries"].texts
    assert (found["plans alone"].cost.jobs, found["plans alone"].cost.stages) == (0, 0)
    assert found["plans alone"].java_seconds > 0


def test_a_session_that_was_used_tells_nothing_of_starting_one(lab: Lab) -> None:
    before = Meter(lab.spark).mark()
    lab.spark.sql("SELECT 1").collect()
    assert Meter(lab.spark).mark() > before
    assert probes.started_for(lab.spark) is None
