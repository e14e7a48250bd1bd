"""What each update does to the world, and which worlds it does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest

from slacktide import store as s
from slacktide.errors import InvalidNameError, InvariantError
from slacktide.optimizer.costs import Vector
from slacktide.optimizer.costs.past_run import Way
from slacktide.optimizer.costs.prediction import Prediction
from slacktide.store.fold import KEPT_REPORTS, STEPS
from slacktide.store.fold.workspace import MOST_OLDER_REPORTS
from slacktide.store.record import MOST_SPANS, ArrivalSpans, ColumnStatistics, KeySpans
from slacktide.store.update import CreateWorkspace
from tests.harness.objects import arrival, segment

ORDERS = s.AddSource("orders", "files", {"path": "/in"}, ({"name": "a", "type": "INT"},))
VIEW = s.AddView("q1", "SELECT 1", {"due": "1h"}, {"k": "v"}, {"d": 1}, ("CLOCK",), ("states/x",))


def after(*entries: Sequence[s.Update]) -> s.World:
    """Fold entries after the first one; entry k has number k + 1."""
    numbered: list[tuple[int, Sequence[s.Update]]] = [(0, [CreateWorkspace({"goal": "cost"})])]
    return s.fold(s.World(), numbered + list(enumerate(entries, 1)))


def test_every_update_has_a_meaning() -> None:
    assert set(STEPS) == set(get_args(s.Update))


def test_what_was_measured_last_holds() -> None:
    notes = [s.NoteCalibration({"cores": cores}) for cores in (2, 8)]
    assert dict(after([notes[0]], [notes[1]]).calibration) == {"cores": 8}
    assert dict(after([]).calibration) == {}


def test_the_first_entry_sets_the_settings() -> None:
    world = after()
    assert (world.number, dict(world.settings), world.next_run) == (0, {"goal": "cost"}, 1)
    for number, update in ((1, CreateWorkspace({})), (0, s.DropView("q1"))):
        with pytest.raises(InvariantError, match=f"entry {number}"):
            s.apply(s.World(), number, update)


def test_entries_follow_each_other() -> None:
    with pytest.raises(InvariantError, match="entry 2 does not follow entry 0"):
        s.fold(after(), [(2, [ORDERS])])


def test_apply_leaves_the_older_world_as_it_was() -> None:
    old = after([ORDERS], [s.SetChain(s.Chain("states/x", (), segment(1, orders=0)))])
    new = s.apply(old, 3, s.AcceptArrivals("orders", [arrival("a")]))
    assert (old.sources["orders"].version, new.sources["orders"].version) == (0, 1)
    assert (old.number, new.number) == (2, 3)
    with pytest.raises(TypeError):
        old.sources["x"] = old.sources["orders"]  # type: ignore[index]


def test_source() -> None:
    accept = s.AcceptArrivals("orders", [arrival("a"), arrival("b")])
    marks: list[s.Update] = [s.MarkComplete("orders", day) for day in ("d1", "d2", "d1")]
    world = after(
        [ORDERS], [accept, s.SkipArrival("orders", 2), s.HoldSource("orders", held=True), *marks]
    )
    source = world.sources["orders"]
    assert source.arrivals == (arrival("a"), arrival("b"))
    assert source.skipped == {2}
    assert (source.held, source.complete) == (True, ("d1", "d2"))
    assert (source.epoch, source.kind, source.arguments) == (1, "files", {"path": "/in"})
    assert not s.apply(world, 3, s.HoldSource("orders", held=False)).sources["orders"].held


def test_rows_that_are_kept_apart_are_counted_by_version() -> None:
    world = after([ORDERS], [s.AcceptArrivals("orders", [arrival("a"), arrival("b")])])
    world = s.apply(world, 3, s.ExamineArrivals("orders", 2, {"2": 5}))
    world = s.apply(world, 4, s.ExamineArrivals("orders", 1, {"1": 3}))
    source = world.sources["orders"]
    assert (source.examined, source.quarantined) == (2, {"1": 3, "2": 5})
    with pytest.raises(InvariantError, match="examines version 3 of source orders, which has 2"):
        s.apply(world, 5, s.ExamineArrivals("orders", 3, {}))
    again = s.apply(world, 5, s.ResetSource("orders")).sources["orders"]
    assert (again.examined, again.quarantined) == (0, {})


def test_two_views_have_no_sink_in_common() -> None:
    sink = {"sink": {"parquet": "/out"}}
    world = after([s.AddView("a", "SELECT 1", sink, {}, {})])
    with pytest.raises(InvariantError, match="gives view b the sink of view a"):
        s.apply(world, 2, s.AddView("b", "SELECT 1", sink, {}, {}))
    with_b = s.apply(world, 2, s.AddView("b", "SELECT 1", {}, {}, {}))
    with pytest.raises(InvariantError, match="gives view b the sink of view a"):
        s.apply(with_b, 3, s.ReplaceView("b", "SELECT 1", sink, {}, {}))
    assert s.apply(with_b, 3, s.ReplaceView("a", "SELECT 2", sink, {}, {})).views["a"].sql


@pytest.mark.parametrize("version", [0, 2])
def test_skips_only_what_has_come(version: int) -> None:
    world = after([ORDERS], [s.AcceptArrivals("orders", [arrival("a")])])
    with pytest.raises(InvariantError, match=f"version {version} of source orders"):
        s.apply(world, 3, s.SkipArrival("orders", version))


def built() -> s.World:
    """A source, another one, and chains and views made from them."""
    other = replace(ORDERS, name="lines")
    chains = [
        s.Chain("sources/orders", (), segment(1, orders=1)),
        s.Chain("states/both", (), segment(1, lines=1), (segment(2, orders=1, lines=1),)),
        s.Chain("states/lines", (), segment(1, lines=1)),
        s.Chain("views/q1", (), segment(1, orders=1)),
    ]
    return after(
        [ORDERS, other, VIEW, replace(VIEW, name="q2")],
        [s.AcceptArrivals("orders", [arrival("a")]), s.SkipArrival("orders", 1)],
        [s.SetChain(chain) for chain in chains],
        [s.AdvanceView("q1", {"orders": 1}, 1), s.AdvanceView("q2", {"lines": 1}, 1)],
    )


def test_a_reset_forgets_what_was_made_from_the_history() -> None:
    world = s.apply(built(), 5, s.ResetSource("orders"))
    source = world.sources["orders"]
    assert (source.version, source.skipped, source.epoch) == (0, frozenset(), 5)
    assert set(world.chains) == {"states/lines", "views/q1"}
    assert (world.views["q1"].versions, world.views["q1"].token) == (None, 5)
    assert (world.views["q2"].versions, world.views["q2"].token) == ({"lines": 1}, 4)


def test_what_an_older_history_was_answered_with_is_not_made_from_a_version() -> None:
    """The answers stay with their versions, which compare with none of the history that began since."""
    answer = s.Chain("views/q1", (), segment(1, orders=9))
    state = s.Chain("states/both", (), segment(2, orders=1, lines=1))
    world = after(
        [ORDERS, replace(VIEW, name="q1"), s.SetChain(answer)],
        [s.SetChain(replace(answer, id="changes/q1@1")), s.SetChain(state)],
        [s.AcceptArrivals("orders", [arrival("a"), arrival("b")])],
        [s.AdvanceView("q1", {"orders": 1}, 1)],
    )
    kept = s.apply(world, 5, s.SkipArrival("orders", 2))
    assert ("states/both" in kept.chains, kept.views["q1"].versions) == (True, {"orders": 1})
    gone = s.apply(world, 5, s.SkipArrival("orders", 1))
    assert ("states/both" in gone.chains, gone.views["q1"].versions) == (False, None)
    assert gone.views["q1"].reached == {"orders": 1}


def test_a_source_that_is_dropped_and_added_again_is_another() -> None:
    world = s.apply(built(), 5, s.DropSource("orders"))
    assert set(world.chains) == {"states/lines", "views/q1"}
    again = s.apply(world, 6, ORDERS)
    assert (again.sources["orders"].version, again.sources["orders"].epoch) == (0, 6)


def test_view() -> None:
    world = after([VIEW], [s.AdvanceView("q1", {"orders": 3}, 7)], [s.PauseView("q1", paused=True)])
    view = world.views["q1"]
    assert (view.sql, view.settings, view.conf, view.definition) == (
        "SELECT 1",
        {"due": "1h"},
        {"k": "v"},
        {"d": 1},
    )
    assert (view.reasons, view.states) == (("CLOCK",), ("states/x",))
    assert (view.versions, view.run, view.paused) == ({"orders": 3}, 7, True)
    assert view.token == 2, "a pause does not disturb a refresh under way"


def test_a_period_lasts_until_the_next_answer() -> None:
    state = s.Chain("states/early", (), segment(1, orders=1, lines=1))
    stored = s.Period(2, ({"lines": 2, "orders": 1},), ("states/early",))
    world = after(
        [ORDERS, replace(ORDERS, name="lines"), VIEW, s.SetChain(state)],
        [s.AcceptArrivals("lines", [arrival("a"), arrival("b")])],
        [s.AcceptArrivals("orders", [arrival("c")])],
        [s.AdvanceView("q1", {"orders": 0, "lines": 1}, 1)],
        [s.AdvancePeriod("q1", s.Period(1))],
        [s.AdvancePeriod("q1", stored)],
    )
    view = world.views["q1"]
    assert (view.period, view.token, view.versions) == (stored, 6, {"orders": 0, "lines": 1})
    assert view.reached == {"lines": 2, "orders": 1}
    assert view.kept == ("states/x", "states/early")
    again = s.apply(world, 7, s.RestateView("q1", "SELECT 1 ", {}, {}, {}))
    assert again.views["q1"].period == stored
    other = s.apply(world, 7, s.ReplaceView("q1", "SELECT 2", {}, {}, {}))
    assert (other.views["q1"].period, other.views["q1"].reached) == (None, view.reached)
    skipped = s.apply(world, 7, s.SkipArrival("lines", 2))
    assert skipped.views["q1"].versions is None, "what is stored was made from it"
    assert "states/early" not in skipped.chains
    assert s.apply(world, 7, s.AdvancePeriod("q1", None)).views["q1"].period is None
    assert s.apply(world, 7, s.AdvanceView("q1", {}, 2)).views["q1"].period is None


def test_another_text_sets_the_answer_aside() -> None:
    paused = s.apply(built(), 5, s.PauseView("q1", paused=True))
    changed = s.apply(paused, 6, s.SetChain(s.Chain("changes/q1", (), None, (segment(1),))))
    world = s.apply(changed, 7, s.ReplaceView("q1", "SELECT 2", {}, {}, {"d": 2}))
    view = world.views["q1"]
    assert (view.sql, view.versions, view.run, view.since) == ("SELECT 2", None, None, None)
    assert (view.token, view.defined, view.paused) == (7, 7, True)
    assert view.former == (s.FormerText(1, 1, {"d": 1}),)
    assert {name for name in world.chains if "q1" in name} == {"views/q1@1", "changes/q1@1"}
    assert world.chains["views/q1@1"].base == built().chains["views/q1"].base
    again = s.apply(world, 8, s.ReplaceView("q1", "SELECT 3", {}, {}, {}))
    assert again.views["q1"].former == view.former, "what was never answered leaves nothing"
    later = s.apply(again, 9, s.AdvanceView("q1", {"orders": 1}, 4))
    later = s.apply(later, 10, s.AdvanceView("q1", {"orders": 1}, 5))
    assert (later.views["q1"].since, later.views["q1"].run) == (4, 5)
    forgotten = s.apply(later, 11, s.ForgetFormer("q1", 1))
    assert forgotten.views["q1"].former == ()
    assert (later.views["q1"].forgotten_run, forgotten.views["q1"].forgotten_run) == (None, 1)
    replaced = s.apply(forgotten, 12, s.ReplaceView("q1", "SELECT 4", {}, {}, {}))
    assert replaced.views["q1"].forgotten_run == 1, "whatever comes after it"
    assert not {name for name in forgotten.chains if "@" in name}
    dropped = s.apply(later, 11, s.DropView("q1"))
    assert not {name for name in dropped.chains if "q1" in name}


def test_how_far_an_answer_had_come_is_known_until_there_is_another() -> None:
    both = {"lines": 1, "orders": 1}
    first = s.apply(built(), 5, s.AdvanceView("q1", both, 2))
    world = s.apply(first, 6, s.ReplaceView("q1", "SELECT 2", {}, {}, {}))
    assert (first.views["q1"].reached, world.views["q1"].reached) == (both, both)
    again = s.apply(world, 7, s.RestateView("q1", "SELECT 2 ", {}, {}, {}))
    assert again.views["q1"].reached == both
    answered = s.apply(again, 8, s.AdvanceView("q1", {"lines": 2}, 9)).views["q1"]
    assert (answered.reached, answered.former_versions) == ({"lines": 2}, {})
    for before in (first, world):
        for gone in (s.ResetSource("orders"), s.DropSource("orders")):
            assert s.apply(before, 7, gone).views["q1"].reached == {"lines": 1}


def test_readers_through_other_views() -> None:
    low = replace(VIEW, name="low", definition={"sources": ["orders"]})
    mid = replace(VIEW, name="mid", definition={"views": ["low"]})
    top = replace(VIEW, name="top", definition={"views": ["mid"]})
    world = after([ORDERS, low], [mid], [top, VIEW])
    assert world.readers("orders") == ("low", "mid", "top")
    assert (world.readers("mid"), world.readers("top")) == (("top",), ())


def test_a_text_that_means_the_same_keeps_the_answer() -> None:
    before = built()
    world = s.apply(before, 5, s.RestateView("q1", "SELECT 1 ", {"policy": "full"}, {}, {"d": 1}))
    old, view = before.views["q1"], world.views["q1"]
    assert (view.versions, view.run, view.since) == (old.versions, old.run, old.since)
    assert (view.sql, view.settings, view.token) == ("SELECT 1 ", {"policy": "full"}, 5)
    assert world.chains == before.chains


def test_a_source_gains_columns() -> None:
    seen = {"name": "b", "type": "INT", "version": 1}
    other = {"name": "c", "type": "INT", "version": 1}
    world = after([ORDERS], [s.NoteColumns("orders", (seen, other))])
    world = s.apply(world, 3, s.NoteColumns("orders", ({**seen, "version": 2},)))
    assert world.sources["orders"].extra == (seen, other), "the first version is kept"
    wide = (*ORDERS.schema, {"name": "b", "type": "INT", "added": True})
    altered = s.apply(world, 4, s.AlterSource("orders", {"schema": "a INT, b INT"}, wide))
    source = altered.sources["orders"]
    assert (source.schema, source.extra, source.defined, source.epoch) == (wide, (other,), 4, 1)
    assert s.apply(altered, 5, s.ResetSource("orders")).sources["orders"].schema == wide
    with pytest.raises(InvariantError, match="other columns than it has"):
        s.apply(world, 4, s.AlterSource("orders", {}, wide[1:]))


def test_statistics_are_of_the_files_that_came() -> None:
    one, two = ColumnStatistics(1, 0, 1.0, 1.0, 1.0), ColumnStatistics(2, 0, 1.0, 2.0, 2.0)
    world = after([ORDERS], [s.NoteStatistics("orders", {"a": one, "b": one})])
    world = s.apply(world, 3, s.NoteStatistics("orders", {"a": two}))
    assert world.sources["orders"].statistics == {"a": two, "b": one}
    assert s.apply(world, 4, s.ResetSource("orders")).sources["orders"].statistics == {}


def test_where_keys_lie_is_kept_of_the_newest_arrivals() -> None:
    spans = [ArrivalSpans(v, {"a": KeySpans(1, (float(v), float(v)))}) for v in range(1, 100)]
    world = after([ORDERS], [s.NoteSpans("orders", tuple(spans[:40]))])
    world = s.apply(world, 3, s.NoteSpans("orders", tuple(spans[40:])))
    assert world.sources["orders"].spans == tuple(spans[-MOST_SPANS:])
    assert s.apply(world, 4, s.ResetSource("orders")).sources["orders"].spans == ()


def test_a_dropped_view_takes_its_answer_along_and_leaves_its_states() -> None:
    world = s.apply(built(), 5, s.DropView("q1"))
    assert set(world.views) == {"q2"}
    assert set(world.chains) == {"sources/orders", "states/both", "states/lines"}


def test_chain() -> None:
    base, more = segment(1, orders=1), segment(2, orders=2)
    world = after(
        [s.SetChain(s.Chain("states/x", ({"name": "a"},), base, token=99))],
        [s.ExtendChain("states/x", more)],
    )
    chain = world.chains["states/x"]
    assert (chain.base, chain.segments, chain.token) == (base, (more,), 2)
    assert chain.versions == {"orders": 2}
    assert replace(chain, segments=()).versions == {"orders": 1}
    assert s.Chain("states/x", (), None).versions is None
    assert not s.apply(world, 3, s.DropChain("states/x")).chains


def test_run() -> None:
    world = after([s.RecordRun(4, "p", {"views": {}})])
    assert world.runs == {4: s.RunRecord(4, "p", {"views": {}}, 1)}
    assert (dict(world.plans), world.next_run) == ({"p": 4}, 5)
    for update in (s.RecordRun(4, "q", {}), s.RecordRun(5, "p", {})):
        with pytest.raises(InvariantError, match="recorded already"):
            s.apply(world, 2, update)


def test_old_reports_leave_the_world_but_not_their_runs() -> None:
    world = after(*([s.RecordRun(n, f"p{n}", {"n": n})] for n in range(1, KEPT_REPORTS + 3)))
    assert [run for run, record in world.runs.items() if not record.report] == [1, 2]
    assert world.runs[2].number == 2
    assert world.runs[3].report == {"n": 3}


def test_the_newest_report_of_each_way_of_a_view_stays() -> None:
    def run(number: int, way: Way, *views: str) -> list[s.Update]:
        predicted = Prediction(way, "p", Vector(), 0.0, 0.0, "modelled").to_dict()
        told = {name: {"predicted": predicted} for name in views}
        return [s.RecordRun(number, f"p{number}", {"views": told})]

    first = [run(1, "text", "v"), run(2, "rebuild", "v"), run(3, "text", "v", "gone")]
    more = [run(n, "incremental", "v") for n in range(4, 2 * KEPT_REPORTS)]
    added = s.AddView("v", "SELECT 1", {}, {}, {})
    world = after([added], *first, *more)
    known = [n for n, record in world.runs.items() if record.report]
    newest = 2 * KEPT_REPORTS - 1
    evicted = newest - KEPT_REPORTS
    assert known == [2, 3, evicted, *range(evicted + 1, newest + 1)]
    dropped: list[list[s.Update]] = [[s.DropView("v")], run(newest + 1, "text", "w")]
    world = s.fold(world, enumerate(dropped, world.number + 1))
    assert next(n for n, record in world.runs.items() if record.report) == evicted + 2


def test_of_many_views_that_run_one_by_one_the_newest_reports_stay() -> None:
    added = [s.AddView(f"v{n}", "SELECT 1", {}, {}, {}) for n in range(1100)]
    runs = [
        [s.RecordRun(n + 1, f"p{n}", {"views": {f"v{n}": {"predicted": {"way": "full"}}}})]
        for n in range(1100)
    ]
    world = after(added, *runs)
    known = [n for n, record in world.runs.items() if record.report]
    assert known == [*range(1100 - KEPT_REPORTS - MOST_OLDER_REPORTS + 1, 1101)]


FUNCTION = s.AddFunction(s.FunctionRecord("price", "m:price", "DOUBLE", {}))


def test_function() -> None:
    world = after([FUNCTION])
    assert world.functions["price"].target == "m:price"
    assert not s.apply(world, 2, s.DropFunction("price")).functions


@pytest.mark.parametrize(
    "update",
    [
        replace(ORDERS, name="Orders"),
        replace(VIEW, name="ORDERS"),
        replace(ORDERS, name="q1"),
        replace(VIEW, name="Q1"),
        s.AddFunction(replace(FUNCTION.function, name="PRICE")),
    ],
    ids=str,
)
def test_names_are_compared_as_spark_compares_them(update: s.Update) -> None:
    with pytest.raises(InvariantError, match="but there is"):
        s.apply(after([ORDERS, VIEW, FUNCTION]), 2, update)


@pytest.mark.parametrize("name", ["a b", "a/b", "a'b", "", "1a", "a" * 129])
@pytest.mark.parametrize("update", [ORDERS, VIEW])
def test_names_that_no_object_may_have(update: s.AddSource | s.AddView, name: str) -> None:
    with pytest.raises(InvalidNameError):
        s.apply(after(), 1, replace(update, name=name))


@pytest.mark.parametrize(
    "update",
    [
        s.DropSource("x"),
        s.AcceptArrivals("x", []),
        s.SkipArrival("x", 1),
        s.ExamineArrivals("x", 1, {}),
        s.HoldSource("x", held=True),
        s.MarkComplete("x", "d"),
        s.ResetSource("x"),
        s.DropFunction("x"),
        s.NoteColumns("x", ()),
        s.NoteStatistics("x", {}),
        s.NoteSpans("x", ()),
        s.RepinFiles("x", ()),
        s.AlterSource("x", {}, ()),
        s.ReplaceView("x", "", {}, {}, {}),
        s.RestateView("x", "", {}, {}, {}),
        s.ForgetFormer("x", 1),
        s.DropView("x"),
        s.PauseView("x", paused=True),
        s.ExtendChain("x", segment(1)),
        s.DropChain("x"),
        s.AdvanceView("x", {}, 1),
    ],
    ids=lambda update: type(update).__name__,
)
def test_what_is_not_there_cannot_change(update: s.Update) -> None:
    with pytest.raises(InvariantError, match=r"x, which is not there"):
        s.apply(after(), 1, update)


PARENT = s.ForeignKeyRecord("r", "orders", ("b",), "orders", ("a",), {"orders": 2})


def test_foreign_keys() -> None:
    world = after([ORDERS], [s.NoteForeignKeys((PARENT,))])
    assert world.foreign_keys["r"] == replace(PARENT, token=2)
    assert world.held_keys == world.foreign_keys
    broken = replace(PARENT, broken="7 without its row")
    withdrawn = s.apply(world, 3, s.NoteForeignKeys((broken,)))
    assert withdrawn.foreign_keys == {"r": replace(broken, token=3)}
    assert not withdrawn.held_keys
    other = replace(PARENT, target="parts")
    with pytest.raises(InvariantError, match="source parts"):
        s.apply(world, 3, s.NoteForeignKeys((other,)))


@pytest.mark.parametrize(
    ("update", "is_known"),
    [
        (s.ResetSource("orders"), False),
        (s.DropSource("orders"), False),
        (s.SkipArrival("orders", 2), False),
        (s.SkipArrival("orders", 3), True),
    ],
)
def test_another_history_says_nothing_of_foreign_keys(update: s.Update, is_known: bool) -> None:
    arrivals = s.AcceptArrivals("orders", [arrival(name) for name in "abc"])
    world = after([ORDERS], [arrivals], [s.NoteForeignKeys((PARENT,))])
    assert bool(s.apply(world, 4, update).foreign_keys) is is_known


def test_a_doubted_answer_is_made_anew() -> None:
    advance = s.AdvanceView("q1", {"orders": 2}, 1)
    world = after([ORDERS], [VIEW], [advance], [s.DoubtAnswer("q1", "r")])
    view = world.views["q1"]
    assert (view.versions, dict(view.reached), view.doubted) == (None, {"orders": 2}, "r")
    assert (view.token, view.run) == (4, 1)
    assert s.apply(world, 5, advance).views["q1"].doubted == ""


def test_an_answer_outlived_by_its_engine_is_made_anew() -> None:
    advance = s.AdvanceView("q1", {"orders": 2}, 1)
    notes: list[s.Update] = [s.NoteEngine("new"), s.DoubtAnswer("q1", engine="old")]
    world = after([ORDERS], [VIEW], [s.NoteEngine("old")], [advance], notes)
    view = world.views["q1"]
    assert (world.engine, view.versions, view.doubted, view.outlived) == ("new", None, "", "old")
    assert s.apply(world, 6, advance).views["q1"].outlived == ""
