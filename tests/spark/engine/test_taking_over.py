"""Another Spark or Java takes over a workspace: what one has made, the other does not go on from."""

from __future__ import annotations

import pytest

from slacktide.errors import CommitConflictError
from slacktide.spark.sessions import engine
from slacktide.spark.sessions.classes import java_class
from slacktide.store import requirement as q
from slacktide.store import update as u
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

OLD = "Spark 3.9.9 on Java 11"
CHANGED = f"ENGINE_CHANGED({OLD})"
TEXTS = "SELECT CAST(d AS STRING) AS text, count(*) AS n FROM t GROUP BY ALL"
SUMS = "SELECT k, sum(k) AS s FROM u GROUP BY k"


@pytest.fixture
def old(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Two views that an engine has answered which is there no longer."""
    lab.source("t", "k INT, d DOUBLE", (1, 0.5), (2, 0.5), (2, 2e22))
    lab.source("u", "k INT", (1,), (1,))
    lab.view("texts", TEXTS)
    lab.view("sums", SUMS, lambda rows: [(1, sum(k for (k,) in rows))], "u")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "engine_of", lambda _: OLD)
        lab.refresh()
    assert lab.ws.status().engine == OLD
    return lab


def test_the_engine_of_a_session_is_named(lab: Lab) -> None:
    lab.source("t", "k INT", (1,))
    lab.view("v", "SELECT k FROM t")
    assert lab.ws.status().engine is None
    lab.refresh()
    version = java_class(lab.spark, "java.lang.System").getProperty("java.version")
    java = version.split(".")[0]
    told = f"Spark {lab.spark.version} on Java {java} with time zones 20"
    assert str(lab.ws.status().engine).startswith(told)


def test_all_is_made_anew_once(old: Lab) -> None:
    before = old.ws._store.world()
    old.land("t", insert=[(3, 0.5)])
    report = old.refresh()
    for name in ("texts", "sums"):
        view = report.views[name]
        assert (view.method, CHANGED in view.reasons) == ("full", True), (name, view.reasons)
    now = old.ws._store.world()
    states = {chain for view in before.views.values() for chain in view.states}
    assert states
    assert states <= now.chains.keys()
    assert all(now.chains[one].origin == report.run for one in states)
    assert sorted(old.read("texts")) == [("0.5", 3), ("2.0E22", 1)]
    old.land("t", delete=[(2, 2e22)])
    old.land("u", delete=[(1,)])
    old.step(texts="incremental", sums="incremental")
    assert old.ws.verify(old.spark).equal


def test_a_view_that_is_not_refreshed_is_made_anew_when_it_is(old: Lab) -> None:
    """Its answer stays readable, and its readers are owed the changes from it to the next one."""
    answer = sorted(old.read("texts"))
    old.land("u", insert=[(1,)])
    assert old.refresh("sums").views["sums"].method == "full"
    assert sorted(old.read("texts")) == answer
    told = old.refresh("texts").views["texts"]
    assert (told.method, told.reasons[0]) == ("full", CHANGED)
    assert old.refresh().views["texts"].method == "unchanged"


def test_a_run_of_the_engine_that_was_cannot_commit(
    old: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has begun before the other took over, and ends behind it."""
    store = old.ws._store
    commit = store.commit

    def late(updates: list[u.Update], needed: list[q.Requirement] | None = None) -> int:
        if any(isinstance(one, u.RecordRun) for one in updates):
            commit([u.NoteEngine(OLD)])
        return commit(updates, needed or [])

    old.land("u", insert=[(1,)])
    monkeypatch.setattr(store, "commit", late)
    with pytest.raises(CommitConflictError, match=f"{OLD} has taken the place of Spark"):
        old.refresh()


def test_a_workspace_that_nobody_has_told_of_engines_goes_on(old: Lab) -> None:
    """An earlier version of ours noted none: what it has made is taken for made by the one that runs."""
    old.ws._store.commit([u.NoteEngine("")])
    old.land("u", insert=[(1,)])
    assert old.refresh().views["sums"].method == "incremental"


def test_where_there_is_no_work_nobody_takes_over(old: Lab) -> None:
    assert {view.method for view in old.refresh().views.values()} == {"unchanged"}
    assert old.ws.status().engine == OLD
