"""What the log tells of a period: where it stands, what came when, and what is to be expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.progressing import progress_of
from slacktide.engine.planning.staleness import again
from slacktide.optimizer.compaction import PRICES
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.plan import ViewPlan
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import VIEW, Priced

pytestmark = pytest.mark.unit
GOAL = {"goal": {"weights": [0.25, 0.25, 1]}}


def opened(root: Path, query: str) -> Priced:
    relation = TPCH.relation(query)
    read = ReadView(relation=relation, outputs=relation.columns, sources=sources(relation))
    rows = {name: TPCH.rows[name] for name in read.sources}
    priced = Priced(root, read, rows, settings=GOAL)
    priced.run(lambda _: 12.0)
    return priced


@pytest.fixture
def priced(tmp_path: Path) -> Priced:
    """Q10, which joins what is sold with who buys it."""
    return opened(tmp_path, "q10")


def seen(priced: Priced) -> Progress:
    world = priced.world()
    record = world.views[VIEW]
    view = ReadView.from_dict(record.definition)
    known, end = Knowledge(world), {n: world.sources[n].version for n in view.sources}
    found = progress_of(known, record, view, end, known.statistics(view, end, end))
    assert found is not None
    return found


def changes(found: Progress, source: str) -> list[float]:
    return [change.rows.value for change in found.statistics.source(source).changes]


def cost(plan: ViewPlan) -> float:
    return 0.5 if plan.method == "states-only" else 3.0


def a_day(priced: Priced, *rows: int) -> None:
    for count in rows:
        priced.arrive("lineitem", count)
        priced.run(cost)


def test_without_a_past_as_much_is_expected_as_came_so_far(priced: Priced) -> None:
    priced.arrive("lineitem", 30_000)
    found = seen(priced)
    assert (found.turn, found.is_due) == (1, False)
    assert changes(found, "lineitem") == [30_000, 60_000]
    assert changes(found, "orders") == [0, 0]
    assert ("orders", 2) in found.quiet
    assert ("lineitem", 2) not in found.quiet


def test_days_before_tell_what_comes(priced: Priced) -> None:
    a_day(priced, 90_000, 6_000, 3_000)
    priced.arrive("lineitem", 80_000)
    assert changes(seen(priced), "lineitem") == [80_000, 9_000]


def test_a_source_that_was_reset_begins_its_past_anew(priced: Priced) -> None:
    a_day(priced, 90_000, 6_000, 3_000)
    priced.commit(s.ResetSource("lineitem"))
    priced.arrive("lineitem", 6_000_000)
    priced.run(lambda _: 12.0)
    priced.arrive("lineitem", 10_000)
    assert changes(seen(priced), "lineitem") == [10_000, 20_000]


def test_rows_that_nobody_has_counted_follow_from_bytes(priced: Priced) -> None:
    priced.arrive("lineitem", None)
    found = seen(priced)
    assert ("lineitem", 2) not in found.quiet
    assert changes(found, "lineitem")[0] > 0


def test_what_a_refresh_has_seen_calls_for_no_other_one(priced: Priced) -> None:
    """A sensor would else play the refreshes of a whole day at the first arrival."""
    priced.arrive("lineitem", 30_000)
    assert priced.ws.pending()["lineitem"] == 1
    priced.run(lambda _: 3.0)
    assert set(priced.ws.pending().values()) == {0}
    priced.arrive("lineitem", 6_000)
    assert priced.ws.pending()["lineitem"] == 1
    priced.run(lambda _: 3.0)
    assert set(priced.ws.pending().values()) == {0}
    priced.arrive("lineitem", 3_000)
    assert priced.ws.plan().views[0].program is not None, "the due one"


@pytest.mark.parametrize(
    "undo", [s.ResetSource("lineitem"), s.SkipArrival("lineitem", 1), s.DoubtAnswer(VIEW, "fk")]
)
def test_what_was_seen_counts_no_more_where_the_answer_is_made_anew(
    priced: Priced, undo: s.Update
) -> None:
    priced.arrive("lineitem", 30_000)
    priced.run(lambda _: 3.0)
    assert not priced.ws.status().to_dict()["views"][VIEW]["anew"]
    priced.commit(undo)
    assert priced.ws.status().to_dict()["views"][VIEW]["anew"]
    assert min(priced.ws.pending().values()) >= 0
    assert any(priced.ws.pending().values()) or priced.world().sources["lineitem"].version == 0
    priced.arrive("lineitem", 6_000)
    assert priced.ws.pending()["lineitem"] > 0


def test_a_period_of_which_a_chain_is_gone_goes_on_from_the_answer(priced: Priced) -> None:
    priced.commit(s.AdvancePeriod(VIEW, s.Period(1, ({"lineitem": 1},), ("states/gone",))))
    found = seen(priced)
    assert (found.turn, found.stored, len(found.reached)) == (2, (), 1)


def at_much(root: Path) -> tuple[Priced, ViewPlan]:
    """Q19 at the first refresh of a day, of which most comes before that, and its plan, which stores something."""
    priced = opened(root, "q19")
    a_day(priced, 1_000_000, 1_000, 1_000)
    priced.arrive("lineitem", 1_000_000)
    plan = priced.ws.plan().views[0]
    assert plan.method == "states-only"
    return priced, plan


def test_much_that_comes_early_is_worked_on_early(tmp_path: Path) -> None:
    """By the prices that are built in: a day of which most comes before the first refresh."""
    priced, plan = at_much(tmp_path)
    assert plan.turn is not None
    assert plan.turn.writes
    period = plan.predicted["period"]
    assert 0 < period["planned"] < period["instead"]
    text = priced.ws.explain(VIEW).text
    assert "s by what is stored early" in text
    most = plan.guard.cpu_seconds
    assert most is not None
    assert most > plan.predicted["cpu_seconds"]
    assert f"leaves all to the due refresh past {most:.2f} s of CPU in tasks" in text
    priced.run(lambda _: 1.0)
    assert priced.ws.plan().views[0].method == "unchanged", "nothing has come since"
    priced.run(lambda _: 0.0)
    priced.arrive("lineitem", 1_000)
    due = priced.ws.plan().views[0]
    assert [reason.code for reason in due.reasons] == ["STORED_EARLY"]
    others = {one["way"]: one for one in due.predicted["period"]["alternatives"]}
    assert "observed" in {others["text"]["basis"], others["rebuild"]["basis"]}
    most = others["text"]["price"]
    assert due.guard.cpu_seconds == pytest.approx(most, rel=0.1), "as any that has not run"
    assert "the ways without: by increments" in priced.ws.explain(VIEW).text


def test_what_a_refresh_took_makes_the_next_as_much_dearer(tmp_path: Path) -> None:
    """Its programs are those of one period; how far off the model was of them is what the next one learns."""
    priced, _ = at_much(tmp_path)
    before = seen(priced).off or 0.0
    priced.run(lambda _: 40.0)
    assert seen(priced).off > before  # type: ignore[operator]
    a_day(priced, 1_000, 1_000)
    methods = []
    for rows in (1_000_000, 1_000, 1_000) * 5:
        priced.arrive("lineitem", rows)
        methods.append(priced.ws.plan().views[0].method)
        priced.run(cost)
    assert "states-only" not in methods[:9]
    assert "states-only" in methods[9:], (
        "what was long ago is forgotten, as nothing else would tell"
    )


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_plan_that_another_run_has_answered_does_not_end_the_next_period(
    priced: Priced, is_answered: bool
) -> None:
    a_day(priced, 90_000, 6_000)
    priced.arrive("lineitem", 3_000)
    plan = priced.ws.plan()
    assert plan.views[0].is_due
    if is_answered:
        priced.run(lambda _: 3.0)
    priced.arrive("lineitem", 3_000)
    (planned,) = again(priced.world(), plan, "view", PRICES).views
    assert planned.is_due != is_answered
