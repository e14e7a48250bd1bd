"""Which chains a plan compacts, what a commit makes of them, and how old answers are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from slacktide import store as s
from slacktide.algebra import scalar as sc
from slacktide.algebra.view import ReadView
from slacktide.engine.answers.reading import _as_of
from slacktide.engine.planning.compacting import compactions_due
from slacktide.engine.planning.mirrors_due import mirror_segments_due, mirror_versions
from slacktide.engine.planning.staleness import still_apart
from slacktide.engine.running.committing import updates
from slacktide.errors import UnknownObjectError
from slacktide.optimizer.compaction import Prices
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.spark.tables.mirrors import mirror_chains, mirrored
from slacktide.store.naming import with_merged
from tests.harness.objects import arrival

COLUMNS = (sc.Column(1, "k", "INT", nullable=True),)
CHANGE = o.Consolidate(o.ReadChanges("t", COLUMNS))
EAGER = Prices(job=0, write=0, write_byte=0)
DEFINITION = ReadView(relation=None, outputs=COLUMNS, sources=("t",)).to_dict()
SCHEMA = ({"name": "k", "type": "INT", "nullable": True},)


def piece(run: int, version: int | None = None, *, runs: int = 1, files: int = 1) -> s.Segment:
    names = tuple(s.StoredFile(f"x/{run}/{n}", 10, 1) for n in range(files))
    versions = {"t": run if version is None else version}
    return s.Segment(run, names, files, 10 * files, versions, runs)


def chain(name: str, *pieces: s.Segment) -> s.Chain:
    return s.Chain(name, (), pieces[0], pieces[1:], token=7)


def world(*chains: s.Chain, views: Mapping[str, int] | None = None, arrivals: int = 0) -> s.World:
    def view(name: str, version: int) -> s.ViewRecord:
        return s.ViewRecord(
            name,
            "",
            {},
            {},
            DEFINITION,
            states=("states/s",),
            versions={"t": version},
            paused=name == "paused",
        )

    landed = s.Arrivals.of([arrival(f"{n}") for n in range(arrivals)])
    return s.World(
        chains={one.id: one for one in chains},
        sources={"t": s.Source("t", "change-feed", {"key": ["k"]}, SCHEMA, landed)},
        views={name: view(name, version) for name, version in (views or {}).items()},
    )


def plan(*steps: o.Step) -> ViewPlan:
    return ViewPlan("v", "incremental", (), o.Program(steps), {"t": 1}, {"t": 2}, 1)


GROWN = [piece(1), *(piece(run) for run in range(2, 6))]
APPENDS = plan(o.Save("states/s", CHANGE, is_base=False), o.Publish("v", CHANGE, is_base=False))


def test_chains_to_which_a_run_appends_are_compacted() -> None:
    there = world(
        chain("states/s", *GROWN), chain("views/v", *GROWN), chain("states/other", *GROWN)
    )
    found = compactions_due(there, [APPENDS], {}, EAGER)
    assert [one.chain for one in found] == ["states/s", "views/v"]
    assert {one.token for one in found} == {7}


def test_chains_that_a_run_writes_anew_are_not() -> None:
    there = world(chain("states/s", *GROWN), chain("views/v", *GROWN))
    anew = plan(o.Save("states/s", CHANGE, is_base=True), o.Publish("v", CHANGE, is_base=True))
    assert compactions_due(there, [anew], {}, EAGER) == ()
    assert compactions_due(world(), [APPENDS], {}, EAGER) == ()


@pytest.mark.parametrize(
    ("views", "is_merged"),
    [({"v": 5}, True), ({"v": 3}, False), ({"v": 5, "paused": 3}, True)],
    ids=["all there", "one lags", "a paused one lags"],
)
def test_a_mirror_is_merged_where_no_view_reads_between_its_pieces(
    views: dict[str, int], is_merged: bool
) -> None:
    there = world(chain("sources/t", *GROWN), views=views, arrivals=6)
    found = compactions_due(there, [], {"t": 6}, EAGER)
    assert [(one.chain, one.first) for one in found] == [("sources/t", 1)] * is_merged


def test_no_snapshot_is_told_that_is_older_than_the_last_compaction() -> None:
    assert mirror_versions(world(chain("sources/t", *GROWN))) == {"t": 1}
    merged = chain("sources/t", piece(1), piece(4, runs=3), piece(5))
    assert mirror_versions(world(merged)) == {"t": 4}


def test_a_snapshot_is_made_of_the_pieces_up_to_it() -> None:
    stored = chain("sources/t", piece(1), piece(4, runs=3), piece(5))
    there = world(stored)
    chains = mirror_chains(there, "t", {}, {})
    assert mirrored(chains, "t", 0).base is None
    assert [mirrored(chains, "t", v).version for v in (1, 3, 4, 5, 9)] == [1, 1, 4, 5, 5]
    added = mirror_chains(there, "t", {}, {"sources/t": piece(9)})
    assert [mirrored(added, "t", v).version for v in (8, 9)] == [5, 9]
    anew = mirror_chains(there, "t", {"sources/t": piece(9)}, {})
    assert [mirrored(anew, "t", v).version for v in (8, 9)] == [5, 9]
    assert mirrored(anew, "t", 9).segments == ()
    assert mirrored(anew, "t", 9).since == 9


def test_mirror_segments_are_due_when_landed_files_have_cost_enough() -> None:
    there = world(chain("sources/t", piece(1)), views={"v": 1}, arrivals=20)
    assert mirror_segments_due(there, {"t": 20}, EAGER) == {"t": 20}
    assert mirror_segments_due(there, {}, EAGER) == {}
    assert mirror_segments_due(there, {"t": 20}, Prices(file=0)) == {}
    assert still_apart(there, {"t": 20}) == {"t": 20}
    told = world(chain("sources/t", piece(1), piece(2, 20)), views={"v": 1}, arrivals=20)
    assert still_apart(told, {"t": 20}) == {}
    assert still_apart(world(), {"t": 20}) == {}


def test_a_merged_piece_stands_where_the_newest_stood() -> None:
    merged = s.Segment("attempt", (s.StoredFile("new", 1, 1),), 1, 1, {})
    whole = with_merged(chain("views/v", *GROWN), 0, merged)
    assert whole.base is not None
    assert (whole.base.run, whole.base.versions, whole.base.runs) == (5, {"t": 5}, 5)
    assert whole.segments == ()
    part = with_merged(chain("views/v", *GROWN), 2, merged)
    assert [(p.run, p.runs) for p in part.segments] == [(2, 1), (5, 3)]
    assert part.base == GROWN[0]
    assert part.segments[-1].files == merged.files


def test_idle_runs_of_a_state_are_one_segment() -> None:
    idle = replace(piece(3), files=(), rows=0, bytes=0)
    pieces = (piece(1), replace(idle, run=2, versions={"t": 2}))
    there = world(chain("states/s", *pieces), views={"v": 2})
    (update,) = _written(there, idle, run=3)
    assert isinstance(update, s.SetChain)
    assert [(p.run, p.runs, p.versions) for p in update.chain.segments] == [(3, 2, {"t": 3})]
    (update,) = _written(there, piece(3), run=3)
    assert isinstance(update, s.ExtendChain)


def _written(there: s.World, segment: s.Segment, run: int) -> list[s.Update]:
    from slacktide.spark.tasks.task import Outcome

    outcome = Outcome(chains={"states/s": (segment, False)})
    return updates(there, [], {"t": outcome}, run)


CHANGES = s.Chain("changes/v", (), None, tuple(piece(run) for run in range(1, 10)))


@pytest.mark.parametrize(
    ("run", "added", "taken"),
    [
        (1, [1], []),
        (2, [1, 2], []),
        (3, [1, 2, 6], [4, 5, 6]),
        (6, [1, 2, 6], []),
        (7, [1, 2, 6], []),
        (8, [1, 2, 6, 8], []),
        (9, [1, 2, 6, 8], []),
        (None, [1, 2, 6, 8], []),
    ],
)
def test_an_answer_of_a_run_inside_a_piece_is_the_piece_less_its_changes(
    run: int | None, added: list[int], taken: list[int]
) -> None:
    answer = chain("views/v", piece(1), piece(2), piece(6, runs=4), piece(8))
    pieces, back = _as_of("v", answer, CHANGES, run)
    assert [p.run for p in pieces] == added
    assert [p.run for p in back] == taken


def test_an_answer_whose_changes_are_forgotten_is_told_only_at_its_pieces() -> None:
    answer = chain("views/v", piece(6, runs=6), piece(8))
    forgotten = s.Chain("changes/v", (), piece(5, files=0), (piece(6), piece(8)))
    assert [p.run for p in _as_of("v", answer, forgotten, 5)[1]] == [6]
    with pytest.raises(UnknownObjectError, match="no answer as of run 4"):
        _as_of("v", answer, forgotten, 4)
