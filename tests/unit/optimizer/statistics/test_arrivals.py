"""What is expected to arrive, by what has; and what a plan by a wrong expectation gives."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra.tree import sources
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.choice.plan import Run
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import Problem, expand
from slacktide.optimizer.memo.hole import ChangesBetween
from slacktide.optimizer.periods.emission import emit
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.statistics import (
    Arrived,
    ColumnFacts,
    Figure,
    SourceFacts,
    Statistics,
    expected,
    foreseen,
)
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.unit.optimizer.costs.test_memo import SALES

pytestmark = pytest.mark.unit
INSTANTS = 3
DAYS = (
    (Arrived(900, 90, 9_000), Arrived(100)),
    (Arrived(1_000, 100, 10_000), Arrived(200, 200)),
)


def test_an_interval_is_like_its_past_and_more_like_its_newer_past() -> None:
    early, late = expected(DAYS)
    assert 950 < early.rows.value < 1_000
    assert early.deleted.value == pytest.approx(early.rows.value / 10)
    assert early.bytes == pytest.approx(10 * early.rows.value)
    assert 150 < late.rows.value < 200
    assert late.deleted.value > 100
    assert {
        figure.origin for change in (early, late) for figure in (change.rows, change.deleted)
    } == {"observed"}


def test_a_period_that_is_not_over_tells_of_its_intervals_so_far() -> None:
    early, late = expected([*DAYS, (Arrived(2_000),)])
    assert early.rows.value > expected(DAYS)[0].rows.value
    assert late == expected(DAYS)[1]
    assert expected([]) == ()


def test_expectations_feed_sizes_and_retraction_rates() -> None:
    now = SourceFacts(Figure(5_000.0, "observed"), bytes=50_000)
    source = foreseen(now, expected(DAYS))
    assert source.rows_at(1).value == pytest.approx(5_000)
    early, late = source.changes
    assert source.rows_at(2).value == pytest.approx(5_000 + early.rows.value * 0.8)
    assert source.rows.value == pytest.approx(
        source.rows_at(2).value + late.rows.value - 2 * late.deleted.value
    )
    assert source.bytes == pytest.approx(50_000 + early.bytes)
    assert source.rows_at(2).origin == "observed"


def test_rows_that_go_are_rows_of_the_change() -> None:
    with pytest.raises(InvalidSettingError, match="take one away"):
        Arrived(10, 11)


def known(shares: dict[str, float]) -> Statistics:
    """A fact table and its parents, to which a share has come in each interval of each past day."""
    found = {}
    for name, rows, key in (("lines", 6e6, "l_order"), ("orders", 1.5e6, "o_key")):
        arrived = Arrived(2 * rows * shares[name], rows * shares[name])
        now = SourceFacts(
            Figure(rows, "observed"), columns={key: ColumnFacts(Figure(1.5e6, "declared"))}
        )
        found[name] = foreseen(now, expected([(arrived, arrived)] * 3))
    return Statistics(found)


BIG_LINES, BIG_ORDERS = {"lines": 2.0, "orders": 0.001}, {"lines": 0.001, "orders": 2.0}
SMALL, BIG = dict.fromkeys(BIG_LINES, 0.001), dict.fromkeys(BIG_LINES, 2.0)


def planned(shares: dict[str, float]):
    expanded = expand(Problem(SALES, sources(SALES), INSTANTS))
    costs = MemoCosts(expanded.memo, known(shares))
    due = range(1, INSTANTS + 1)
    space = space_of(expanded, due, costs.price, costs.carrying)
    return expanded, space, choose(space, LastFirst(INSTANTS))


def followed(shares: dict[str, float]) -> bool:
    """Whether the last run of a plan follows changes."""
    expanded, _, choice = planned(shares)
    runs = [source for source, _ in choice.plan.uses() if isinstance(source, Run)]
    return any(
        isinstance(expanded.memo.groups.expressions(run.node)[run.place], ChangesBetween)
        for run in runs
        if run.instant == INSTANTS
    )


def test_what_has_arrived_decides_what_is_chosen() -> None:
    assert followed(SMALL)
    assert not followed(BIG)


@pytest.mark.parametrize("shares", [SMALL, BIG, BIG_LINES, BIG_ORDERS])
@pytest.mark.parametrize("seed", range(3))
def test_swapped_estimates_never_change_an_answer(shares: dict[str, float], seed: int) -> None:
    """Whatever was expected, large for small and one table for the other: the runs give what batch gives."""
    expanded, space, choice = planned(shares)
    programs = emit("v", expanded, space, choice.plan)
    source = random.Random(seed)  # noqa: S311
    shapes = shapes_of(SALES)
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in shapes})
    for instant in range(1, INSTANTS + 1):
        world.start = world.versions()
        for shape in shapes:
            arrivals = world.sources[shape.name].arrivals
            arrivals.append(next_changes(source, shape, present[shape.name]))
        world.end = world.versions()
        world.accept(run_program(programs[instant], world))
        assert same_bag(world.answers["v"], as_bag(evaluate(SALES, world.tables())))
