"""What the log teaches the planner, and what it makes of a log that says little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.common.ranges import MOST_KEYS
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.sizes import extension_of
from slacktide.optimizer.costs import DEFAULTS
from slacktide.optimizer.programs.normal import normal
from slacktide.optimizer.statistics import Cardinality, ChangeFacts, Extension, Figure, StoredFacts
from slacktide.store.record import ArrivalSpans, ColumnStatistics, KeySpans
from slacktide.store.update import CreateWorkspace
from tests.harness.priced import VIEW, Priced
from tests.unit.optimizer.views import JOINED, SUMMED, view

READ = view(SUMMED)


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    return Priced(tmp_path, READ, {"orders": 1000, "lines": 4000})


def test_rows_are_counted_and_keys_declared(priced: Priced) -> None:
    arguments = {"path": "/in", "key": ["id"]}
    priced.commit(s.AddSource("parts", "change-feed", arguments, ()))
    priced.arrive("parts", 100)
    priced.arrive("lines", 30, deletes=10)
    world = priced.world()
    known = Knowledge(world).statistics(READ, {"lines": 1}, {"orders": 1, "lines": 2})
    lines = known.source("lines")
    assert lines.rows == Figure(4010.0, "observed"), "a delete takes a row that came before along"
    change = ChangeFacts(Figure(30.0, "observed"), 1500, Figure(10.0, "observed"))
    assert lines.changes == (change,)
    assert lines.rows_at(1) == Figure(4000.0, "observed")
    other = Knowledge(world).statistics(replace(READ, sources=("parts",)), {}, {"parts": 1})
    assert other.source("parts").columns["id"].distinct == Figure(100.0, "declared")
    assert known.source("nobody knows").rows.origin == "default"


def test_footers_tell_of_columns_and_a_declared_key_is_believed(priced: Priced) -> None:
    told = {
        "id": ColumnStatistics(4000, 0, 1.0, 90.0, 90.0),
        "kind": ColumnStatistics(4000, 1000, None, None, 9000.0),
        "text": ColumnStatistics(4000),
    }
    priced.commit(s.AddSource("parts", "change-feed", {"path": "/in", "key": ["id"]}, ()))
    priced.arrive("parts", 4000)
    priced.commit(s.NoteStatistics("parts", told), s.NoteStatistics("lines", told))
    read = replace(READ, sources=("parts", "lines"))
    known = Knowledge(priced.world()).statistics(read, {}, {"parts": 1, "lines": 1})
    keyed, plain = (known.source(name).columns for name in ("parts", "lines"))
    assert keyed["id"].distinct == Figure(4000.0, "declared")
    assert (keyed["id"].low, keyed["id"].high) == (1.0, 90.0)
    assert plain["id"].distinct == Figure(90.0, "observed")
    assert plain["kind"].distinct == Figure(4000.0, "observed"), "no more values than rows"
    assert plain["kind"].nulls == Figure(0.25, "observed")
    assert plain["text"].distinct is None
    assert plain["text"].nulls.origin == "default"


def test_an_answer_that_is_there_tells_how_many_rows_the_view_has(tmp_path: Path) -> None:
    """Of a join there is no state; only while its sources have not grown to more than twice as much."""
    joined = view(JOINED)
    priced = Priced(tmp_path, joined, {"orders": 1000, "lines": 4000})
    priced.run(lambda _: 1.0)
    for lines, is_told in ((0, True), (3_000, True), (10_000, False)):
        if lines:
            priced.arrive("lines", lines)
        world = priced.world()
        end = {"orders": 1, "lines": world.sources["lines"].version}
        known = Knowledge(world).statistics(joined, {}, end, world.views[VIEW])
        rows = Cardinality(known).of(normal(JOINED)).rows
        assert (rows == Figure(1000.0, "observed")) is is_told, lines


def test_states_that_are_stored_tell_how_many_rows_their_relation_has(priced: Priced) -> None:
    end = {"orders": 1, "lines": 1}
    assert dict(Knowledge(priced.world()).statistics(READ, {}, end).observed) == {}
    priced.run(lambda _: 1.0)
    known = Knowledge(priced.world()).statistics(READ, {}, end)
    assert list(known.observed.values()) == [1000.0]
    assert known.stored[f"views/{VIEW}"] == StoredFacts(1000.0, 1000.0, 0)
    priced.arrive("lines", 10)
    priced.run(lambda _: 1.0)
    known = Knowledge(priced.world()).statistics(READ, {}, {"orders": 1, "lines": 2})
    assert list(known.observed.values()) == [1000.0], "what a change touches was there before"
    assert known.stored[f"views/{VIEW}"].rows == 1010.0


@pytest.mark.parametrize(
    "views",
    [
        {},
        {VIEW: {"method": "incremental", "versions": {}}},
        {VIEW: {"method": "full", "predicted": {}, "actual": {"jobs": 3, "cpu_seconds": 1.0}}},
        {VIEW: {"method": "failed", "predicted": {"program": "p", "way": "text"}, "actual": {}}},
    ],
    ids=["none", "old", "unpredicted", "failed"],
)
def test_a_report_that_says_too_little_teaches_nothing_of_a_view(
    priced: Priced, views: dict
) -> None:
    priced.run(lambda _: 1.0)
    before = Knowledge(priced.world()).evidence(priced.world().views[VIEW], None)
    priced.commit(s.RecordRun(2, "f" * 64, {"run": 2, "views": views}))
    world = priced.world()
    assert Knowledge(world).evidence(world.views[VIEW], None).runs == before.runs
    assert len(before.runs) == 1


def test_a_workspace_without_runs_goes_by_the_defaults(priced: Priced) -> None:
    known = Knowledge(priced.world())
    assert known.fitted.samples == 0
    assert known.coefficients.to_dict() == pytest.approx(DEFAULTS.to_dict())
    unknown = ("median_error", "tail_factor", "expected_error")
    assert priced.ws.status().costs == {"runs": 0, **dict.fromkeys(unknown)}


def test_what_was_given_up_tells_no_prices(priced: Priced) -> None:
    """Of what was cancelled, the CPU is told and the work is not."""
    priced.run(lambda _: 5.0)
    priced.arrive("lines", 40_000)
    priced.run(lambda _: 90.0, switched=True)
    known = Knowledge(priced.world())
    assert known.fitted.samples == 1
    assert [past.turned_back for past in known.evidence(priced.world().views[VIEW], None).runs] == [
        False,
        True,
    ]


def test_where_keys_lie_is_told_of_all_changes_together(priced: Priced) -> None:
    """Of versions of which one does not tell, nobody knows; what was left out does not count."""
    priced.commit(s.AddSource("parts", "change-feed", {"path": "/in"}, ()))
    for _ in range(5):
        priced.arrive("parts", 10)
    told = {name: ColumnStatistics(50, 0, 0.0, 1000.0, 50.0) for name in ("id", "kind", "other")}
    told["flat"] = ColumnStatistics(50, 0, 7.0, 7.0, 1.0)
    spans = [
        {"id": KeySpans(10, (0.0, 100.0)), "flat": KeySpans(1, (7.0, 7.0))},
        {"id": KeySpans(10, (50.0, 150.0, 900.0, 1000.0)), "kind": KeySpans(None, (0.0, 9.0))},
        {"id": KeySpans(MOST_KEYS + 1, (0.0, 1.0)), "kind": KeySpans(2, (5.0, 2000.0))},
    ]
    noted = tuple(ArrivalSpans(version, of) for version, of in zip((1, 2, 4), spans, strict=True))
    priced.commit(s.NoteStatistics("parts", told), s.NoteSpans("parts", noted))

    def covered(start: int, end: int) -> dict[str, float]:
        read = replace(READ, sources=("parts",))
        known = Knowledge(priced.world()).statistics(read, {"parts": start}, {"parts": end})
        (change,) = known.source("parts").changes
        return {name: figure.value for name, figure in change.covered.items()}

    assert covered(0, 1) == {"id": pytest.approx(0.1, abs=0.002), "flat": 1.0}
    assert covered(0, 2) == {"id": pytest.approx(0.25, abs=0.002)}
    assert covered(1, 2) == {
        "id": pytest.approx(0.2, abs=0.002),
        "kind": pytest.approx(0.009, abs=0.002),
    }
    assert covered(1, 4) == {}, "nobody knows of version 3"
    assert covered(3, 4) == {"id": 1.0, "kind": pytest.approx(0.995, abs=0.002)}, (
        "too many keys to ask for"
    )
    assert covered(2, 2) == {}
    priced.commit(s.SkipArrival("parts", 3))
    assert covered(1, 4) == {"id": 1.0, "kind": 1.0}


@pytest.mark.parametrize(
    ("read", "runs", "extension"),
    [
        (500, 1, Extension(500.0, 10.0)),
        (500, 4, Extension(500.0, 10.0)),  # of four runs with an arrival each, as of one of them
        (None, 1, None),
    ],
)
def test_what_the_newest_run_read_to_extend_a_chain(
    read: int | None, runs: int, extension: Extension | None
) -> None:
    arrivals = [
        s.Arrival(
            (s.PinnedFile(f"/in/{n}", 10, f"m{n}", None, 10),), 10, 10, "2026-01-01T00:00:00Z"
        )
        for n in range(1 + runs)
    ]
    base = s.Segment(0, (), 1_000, 1_000, {"t": 1})
    newest = s.Segment(1, (), 5, 500, {"t": 1 + runs}, runs=runs, read=read)
    updates: list[s.Update] = [
        s.AddSource("t", "change-feed", {"path": "/in"}, ()),
        s.AcceptArrivals("t", arrivals),
        s.SetChain(s.Chain("states/s", (), base, (newest,))),
        s.SetChain(s.Chain("states/new", (), base, ())),
    ]
    world = s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, updates)])
    found = {name: extension_of(chain, world) for name, chain in world.chains.items()}
    assert found == {"states/s": extension, "states/new": None}
