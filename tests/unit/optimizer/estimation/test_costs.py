"""What programs cost: fixed prices first, and the choice between changes and full recomputation."""

from __future__ import annotations

import random

import hypothesis
import pytest

from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.choice.plan import Run
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.emission import emit
from slacktide.optimizer.estimation.coefficients import Coefficients
from slacktide.optimizer.estimation.estimating import Estimated
from slacktide.optimizer.estimation.known import (
    ChangeStatistics,
    ColumnStatistics,
    Statistics,
    TableStatistics,
)
from slacktide.optimizer.estimation.operators import SparkCosts
from slacktide.optimizer.estimation.sizes import Size
from slacktide.optimizer.estimation.vector import NOTHING, CostVector
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.optimizer.pricing import space_of
from slacktide.program import operator as o
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import Case, cases
from tests.unit.optimizer.views import ORDERS

pytestmark = pytest.mark.unit
PRICES = Coefficients()
COSTS = SparkCosts()
SALES = from_text(
    """
aggregate key=[city#6 := #5] [total#7:BIGINT := sum(#2)]
  join inner on (#1 = #4)
    scan lines [l_order#1:INT!, l_price#2:INT!, l_day#3:INT]
    scan orders [o_key#4:INT!, o_city#5:STRING!]
"""
)


def size(rows: float, width: float = 16) -> Size:
    return Size(rows, width)


def hole(number: int) -> Hole:
    return Hole(number, ORDERS.columns, of_state=False)


def test_vectors_add() -> None:
    both = CostVector(1, 2, 3, 4, 5, 6) + CostVector(cpu_seconds=1, jobs=1)
    assert both == CostVector(2, 2, 3, 4, 5, 7)
    assert both + NOTHING == both


def test_no_work_is_for_nothing() -> None:
    assert NOTHING.micros == 1
    assert CostVector(cpu_seconds=0.25).micros == 250_000


def test_a_write_has_the_price_of_a_job_however_small() -> None:
    small = COSTS.write(size(1))
    assert small.jobs == 1
    assert small.cpu_seconds >= PRICES.job
    assert COSTS.write(size(10_000_000)).cpu_seconds > 10 * small.cpu_seconds


def test_a_small_side_is_broadcast_and_a_large_one_shuffled() -> None:
    join = o.SemiBags(hole(1), hole(2), None, negated=False)
    large = size(5_000_000)
    small = COSTS.operator(join, (size(100), large), size(100))
    both = COSTS.operator(join, (size(4_000_000), large), size(100))
    assert small.bytes_shuffled == 1600
    assert small.jobs == 1
    assert both.bytes_shuffled == 9_000_000 * 16
    assert both.cpu_seconds > small.cpu_seconds


def test_grouping_moves_groups_and_consolidating_moves_rows() -> None:
    rows, groups = size(1_000_000), size(10)
    summed = COSTS.operator(o.Summarise(hole(1), (), ()), (rows,), groups)
    merged = COSTS.operator(o.Consolidate(hole(1)), (rows,), rows)
    assert summed.bytes_shuffled < merged.bytes_shuffled
    assert summed.cpu_seconds < merged.cpu_seconds


def known(share: float, rows: float = 6_000_000) -> Statistics:
    """A fact table and its parents, of which a share changes."""
    return Statistics(
        {
            "lines": TableStatistics(rows, {"l_order": ColumnStatistics(rows / 4)}),
            "orders": TableStatistics(
                rows / 4,
                {"o_key": ColumnStatistics(rows / 4), "o_city": ColumnStatistics(50, width=8)},
            ),
        },
        {
            ("lines", 2): ChangeStatistics(rows * share, rows * share),
            ("orders", 2): ChangeStatistics(rows * share / 4, rows * share / 4),
        },
    )


def planned(statistics: Statistics) -> tuple[Expanded, PlanSpace, Choice]:
    expanded = expand(Problem(SALES, sources(SALES), 2))
    estimated = Estimated(expanded.memo, statistics, COSTS)
    space = space_of(expanded, [1, 2], estimated.price, estimated.carrying, is_forgetful=True)
    return expanded, space, choose(space, LastFirst(2))


def reads(expanded: Expanded, choice: Choice, kind: type) -> int:
    """How often the second run reads sources of a kind."""
    found = 0
    for source, times in choice.plan.uses():
        if isinstance(source, Run) and source.instant == 2:
            flat = expanded.memo.groups.expressions(source.node)[source.place]
            found += times * isinstance(flat, kind)
    return found


def test_a_small_change_is_followed_and_a_large_one_is_not() -> None:
    expanded, _, choice = planned(known(0.001))
    assert reads(expanded, choice, ChangesBetween) > 0
    expanded, _, choice = planned(known(2.0))
    assert reads(expanded, choice, ChangesBetween) == 0
    assert reads(expanded, choice, SnapshotAt) == 2


def test_what_is_chosen_is_never_dearer_than_full_recomputation() -> None:
    for share in (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 2.0):
        statistics = known(share)
        _, _, choice = planned(statistics)
        full = expand(Problem(SALES, sources(SALES), 2), methods=frozenset())
        estimated = Estimated(full.memo, statistics, COSTS)
        space = space_of(full, [1, 2], estimated.price, estimated.carrying, is_forgetful=True)
        assert choice.key <= choose(space, LastFirst(2)).key


@pytest.mark.parametrize("seed", range(10))
def test_wrong_statistics_cost_and_never_change_the_answer(seed: int) -> None:
    """Tables swapped, and sizes wrong by a factor of a thousand: the plan runs to what batch gives."""
    right = known(0.01)
    swapped = Statistics({"lines": right.tables["orders"], "orders": right.tables["lines"]})
    source = random.Random(seed)  # noqa: S311
    statistics = source.choice((swapped, known(0.01, rows=6_000), known(3.0), Statistics()))
    expanded, space, choice = planned(statistics)
    programs = emit("v", expanded, space, choice.plan)
    shapes = shapes_of(SALES)
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in shapes})
    for instant in (1, 2):
        world.start = world.versions()
        for shape in shapes:
            found = world.sources[shape.name]
            found.arrivals.append(next_changes(source, shape, present[shape.name]))
        world.end = world.versions()
        world.accept(run_program(programs[instant], world))
        assert same_bag(world.answers["v"], as_bag(evaluate(SALES, world.tables())))


@hypothesis.settings(
    max_examples=20, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
@hypothesis.given(case=cases(batches=2))
def test_every_expression_of_any_view_has_a_price(case: Case) -> None:
    analysis = Maintainability(case.relation)
    hypothesis.assume(not analysis.verdict())
    tables = sources(analysis.root)
    memo = expand(Problem(analysis.root, tables, 2, append_only=frozenset(tables))).memo
    estimated = Estimated(memo, Statistics(), COSTS)
    for group in memo.groups:
        for flat in memo.groups.expressions(group):
            cost = estimated.cost(flat)
            assert estimated.price(flat) >= 1
            assert cost.cpu_seconds >= 0
            assert min(cost.rows_read, cost.bytes_shuffled, cost.bytes_written, cost.jobs) >= 0
        if memo.linked(group):
            assert min(estimated.carrying(group)) > 0
