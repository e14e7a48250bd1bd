"""How far a run takes each source in, and which views it works on, from the log alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.engine.planning.mirrors_due import is_mirror_due
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.staleness import again, stale
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.compaction import PRICES
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.program.operator import Save
from slacktide.store.update import CreateWorkspace

NOW = "2026-01-01T00:00:00.000000Z"


def world(*updates: s.Update, arrivals: int = 5, **arguments: Any) -> s.World:
    """A workspace with the source `t`, whose arrivals have ten bytes each, and what follows."""
    pins = [s.PinnedFile(f"/in/{n}", 10, f"m{n}") for n in range(arrivals)]
    taken = [s.Arrival((pin,), None, 10, NOW) for pin in pins]
    source = s.AddSource("t", "change-feed", {"path": "/in", **arguments}, ())
    return s.fold(
        s.World(),
        [(0, [CreateWorkspace({})]), (1, [source, s.AcceptArrivals("t", taken), *updates])],
    )


def view(name: str, *, at: int | None = None, run: int = 1) -> list[s.Update]:
    """A view over `t`, with an answer of a version where one is given."""
    definition = ReadView(None, (), sources=("t",)).to_dict()
    added: list[s.Update] = [s.AddView(name, "SELECT 1", {}, {}, definition)]
    return added if at is None else [*added, s.AdvanceView(name, {"t": at}, run)]


@pytest.mark.parametrize(("came", "is_due"), [((20,), False), ((21,), True), ((10, 11), True)])
def test_a_mirror_is_written_anew_once_a_fifth_has_come_to_it(
    came: tuple[int, ...], *, is_due: bool
) -> None:
    """Of a feed whose files nobody counts when they land, by its segments."""
    base, *more = [s.Segment(n, (), rows, 10, {"t": n}) for n, rows in enumerate((100, *came), 1)]
    there = world(s.SetChain(s.Chain("sources/t", (), base, tuple(more))))
    assert is_mirror_due(there, "t", 5) == is_due


def end(of: s.World, *names: str) -> int:
    """The version of `t` at the end of the next run."""
    return make_plan(of, now=NOW, views=names or None).versions["t"]


@pytest.mark.parametrize(("limit", "first"), [(2, 2), (9, 5), ("25B", 2), ("5B", 1), (None, 5)])
def test_a_backlog_is_limited_from_the_first_run_on(limit: object, first: int) -> None:
    given: dict[str, Any] = {} if limit is None else {"max_backlog": limit}
    assert end(world(*view("v"), **given)) == first
    assert end(world(*view("v", at=3), **given)) == min(3 + first, 5)


def test_all_views_of_a_run_stand_where_the_foremost_does() -> None:
    both = [*view("first", at=3), *view("second", at=1), *view("third")]
    assert end(world(*both, max_backlog=1)) == 4, "one more than the foremost, whoever lags"
    assert end(world(*both, max_backlog=1), "second") == 2


def test_an_answer_that_is_made_anew_does_not_go_back() -> None:
    again = world(*view("v", at=4), s.SkipArrival("t", 1), max_backlog=1)
    assert again.views["v"].versions is None
    assert end(again) == 5


def test_what_a_mirror_holds_is_no_backlog() -> None:
    """The landed files of it may have been removed."""
    base = s.Segment(1, (), 0, 0, {"t": 3})
    mirror = s.SetChain(s.Chain("sources/t", (), base))
    assert end(world(*view("v"), mirror, max_backlog=1)) == 4


def test_a_view_that_fails_in_every_run_holds_no_other_back() -> None:
    both = [*view("fails", at=5), *view("fine", at=6)]
    assert end(world(*both, arrivals=10, max_backlog=1)) == 7


def test_no_run_goes_behind_the_rows_of_a_mirror() -> None:
    """The landed files of older ones may be gone."""
    lagging = view("lags", at=3)
    ahead = s.SetChain(s.Chain("sources/t", (), s.Segment(1, (), 0, 0, {"t": 5})))
    assert end(world(*lagging, ahead, max_backlog=1)) == 5
    assert end(world(*lagging, ahead, s.HoldSource("t", held=True))) == 5
    plan = make_plan(world(*lagging, arrivals=4), now=NOW)
    assert stale(world(*lagging), plan) == ""
    assert stale(world(*lagging, ahead), plan) == "sources/t, which is ahead"


def test_what_a_mirror_holds_from_before_an_arrival_that_is_left_out_stays() -> None:
    pieces = [s.Segment(1, (), 0, 0, {"t": at}) for at in (2, 3, 5)]
    mirror = s.SetChain(s.Chain("sources/t", (), pieces[0], tuple(pieces[1:])))
    left = world(*view("v", at=5), mirror, s.SkipArrival("t", 4)).chains["sources/t"]
    assert (left.base, left.segments) == (pieces[0], (pieces[1],))
    assert "sources/t" not in world(*view("v", at=5), mirror, s.SkipArrival("t", 2)).chains


SUMS = "aggregate key=[#3:INT! := #1] [s#4:BIGINT := sum(#2)]\n  scan a [k#1:INT!, v#2:INT!]"
JOINED = (
    "join inner on (#3 = #5)\n  " + SUMS.replace("\n", "\n  ") + "\n  scan b [k#5:INT!, w#6:INT!]"
)


def test_views_that_share_a_state_build_it_anew_together_where_one_of_them_lags() -> None:
    """The one that lags would go on from it as the other has left it; planning did not end."""
    one, other = (
        ReadView(rel, rel.columns, sources=sources(rel)) for rel in map(from_text, (JOINED, SUMS))
    )
    (shared,) = state_sources(other)
    at = {"a": 2}
    updates: list[s.Update] = [
        *_filled("a", [100, 1, 30], "kv"),
        *_filled("b", [10_000], "kw"),
        s.AddView("x", "SELECT 1", {}, {}, one.to_dict(), states=(*state_sources(one),)),
        s.AddView("y", "SELECT 1", {}, {}, other.to_dict(), states=(shared,)),
        s.AdvanceView("x", {"a": 1, "b": 1}, 1),
        s.AdvanceView("y", at, 2),
        *(s.SetChain(s.Chain(i, (), s.Segment(1, (), 10, 100, at))) for i in (shared, "views/y")),
    ]
    there = s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, updates)])
    plan = make_plan(there, now=NOW)
    written = [
        [save.is_base for save in of_type(one.program, Save) if save.chain == shared]
        for one in plan.views
        if one.program is not None
    ]
    assert written == [[True], [True]]


def _filled(name: str, rows: list[int], columns: str) -> list[s.Update]:
    pins = [s.PinnedFile(f"/in/{name}/{number}", 10 * n, "m") for number, n in enumerate(rows)]
    taken = [s.Arrival((pin,), n, 10 * n, NOW, 0) for pin, n in zip(pins, rows, strict=True)]
    schema = tuple({"name": one, "type": "INT", "nullable": False} for one in columns)
    source = s.AddSource(name, "files", {"path": f"/in/{name}"}, schema)
    return [source, s.AcceptArrivals(name, taken)]


def test_a_held_source_stands_still() -> None:
    held = s.HoldSource("t", held=True)
    assert end(world(*view("v", at=2), held)) == 2
    assert end(world(*view("v", at=2), held, s.HoldSource("t", held=False))) == 5


def test_nothing_of_a_held_source_is_taken_in_for_a_first_answer() -> None:
    held = s.HoldSource("t", held=True)
    assert end(world(*view("v"), held)) == 0
    assert end(world(*view("v"), *view("w", at=3), held), "v") == 3, "where others stand"
    state = s.SetChain(s.Chain("states/s", (), s.Segment(1, (), 0, 0, {"t": 2})))
    assert end(world(*view("v"), state, held)) == 2


REPLACED = s.ReplaceView("v", "SELECT 2", {}, {}, ReadView(None, (), sources=("t",)).to_dict())


@pytest.mark.parametrize("anew", [REPLACED, s.SkipArrival("t", 1)], ids=["replaced", "skipped"])
def test_an_answer_that_is_made_anew_takes_in_no_more_than_another(anew: s.Update) -> None:
    held = s.HoldSource("t", held=True)
    given = [*view("v", at=2), anew]
    assert world(*given).views["v"].versions is None
    assert end(world(*given, held)) == 2
    assert end(world(*given, max_backlog=1)) == 3
    assert end(world(*given)) == 5
    assert end(world(*given, *view("w", at=4), max_backlog=1)) == 5, "it holds no other back"
    assert end(world(*given, *view("w", at=1), max_backlog=1)) == 3, "it does not go back"
    other = s.ReplaceView("v", "SELECT 3", {}, {}, ReadView(None, (), sources=("t",)).to_dict())
    assert end(world(*given, other, held)) == 2, "after two texts without an answer, too"


def test_a_source_that_was_reset_begins_anew_for_a_replaced_view() -> None:
    reset = world(*view("v", at=4), REPLACED, s.ResetSource("t"), s.HoldSource("t", held=True))
    assert reset.views["v"].reached == {}
    assert end(reset) == 0


def test_a_paused_view_is_left_out_even_where_it_is_named() -> None:
    paused = world(*view("v", at=2), *view("w", at=2), s.PauseView("v", paused=True))
    assert [one.view for one in make_plan(paused, now=NOW).views] == ["w"]
    plan = make_plan(paused, now=NOW, views=["v", "w"])
    assert [one.view for one in plan.views] == ["w"]
    assert plan.notices == ("view v is paused and left out; slacktide view resume v",)


def test_a_view_that_is_named_twice_is_planned_once() -> None:
    plan = make_plan(world(*view("v", at=2), *view("w", at=2)), now=NOW, views=["v", "w", "v"])
    assert [one.view for one in plan.views] == ["v", "w"]
    twice = replace(plan, views=(*plan.views, plan.views[0]))
    with pytest.raises(InvalidSettingError, match="names view v more than once"):
        twice.check_made_for("w", "/w")


def test_a_view_that_was_paused_since_is_left_out() -> None:
    there = world(*view("v", at=2), *view("w", at=2))
    plan = make_plan(there, now=NOW)
    paused = world(*view("v", at=2), *view("w", at=2), s.PauseView("v", paused=True))
    assert stale(there, plan) == ""
    moved = stale(paused, plan)
    assert moved == "view v, which is paused"
    fresh = again(paused, plan, moved, PRICES)
    assert [one.view for one in fresh.views] == ["w"]
    assert fresh.notices == ("view v is paused and left out; slacktide view resume v",)
