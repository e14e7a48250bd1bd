"""What plans of a memo cost, and the choice between changes and full recomputation."""

from __future__ import annotations

import random
from dataclasses import replace

import hypothesis
import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.choice.plan import Run
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.costs import DEFAULTS, Vector
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.costs.operators import operator_work, write_work
from slacktide.optimizer.costs.vector import KINDS
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.optimizer.periods.emission import emit
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.statistics import (
    ChangeFacts,
    ColumnFacts,
    Estimate,
    Figure,
    SourceFacts,
    Statistics,
)
from slacktide.optimizer.statistics.widths import packed
from slacktide.program import operator as o
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import Case, cases
from tests.unit.optimizer.views import ORDERS

pytestmark = pytest.mark.unit
SALES = from_text(
    """
aggregate key=[city#6 := #5] [total#7:BIGINT := sum(#2)]
  join inner on (#1 = #4)
    scan lines [l_order#1:INT!, l_price#2:INT!, l_day#3:INT]
    scan orders [o_key#4:INT!, o_city#5:STRING!]
"""
)


def rows(count: float) -> Estimate:
    return Estimate(Figure(count), {}, packed(Figure(count), ORDERS.columns))


def hole(number: int) -> Hole:
    return Hole(number, ORDERS.columns, of_state=False)


def work(operator: o.Operator, *inputs: float, gives: float) -> Vector:
    return operator_work(operator, [*map(rows, inputs)], rows(gives), Statistics())


def test_a_write_has_the_price_of_its_jobs_however_small() -> None:
    small, large = (write_work(rows(count), ORDERS.columns) for count in (1, 100_000_000))
    assert small.jobs == large.jobs == 2
    assert DEFAULTS.price(small) >= 2 * DEFAULTS.jobs
    assert DEFAULTS.price(large) > 10 * DEFAULTS.price(small)


def test_a_small_side_is_sent_to_all_and_large_ones_are_shuffled() -> None:
    join, semi = o.JoinBags(hole(1), hole(2), None), o.SemiBags(hole(1), hole(2), None, False)
    size = packed(Figure(9_000_000), ORDERS.columns)
    moved = Vector(rows_shuffled=9_000_000, bytes_shuffled=size, stages=1, jobs=1)
    sent = Vector(stages=1, jobs=1)
    assert work(join, 4_000_000, 5_000_000, gives=100) == moved
    assert work(join, 100, 5_000_000, gives=100) == sent
    assert work(join, 5_000_000, 100, gives=100) == sent
    assert work(semi, 5_000_000, 100, gives=100) == sent
    # Spark does not send the side of a semi-join that is kept.
    assert work(semi, 100, 5_000_000, gives=100).bytes_shuffled > sent.bytes_shuffled


def test_grouping_moves_groups_and_consolidating_moves_rows() -> None:
    summed = work(o.Summarise(hole(1), (), ()), 1_000_000, gives=10)
    merged = work(o.Consolidate(hole(1)), 1_000_000, gives=1_000_000)
    assert summed.bytes_shuffled < merged.bytes_shuffled
    assert (summed.stages, summed.jobs) == (merged.stages, merged.jobs) == (1, 1)


def test_a_query_inside_costs_what_its_operators_cost() -> None:
    left, right = (f"input{place}" for place in range(2))
    columns = ORDERS.columns, tuple(replace(c, id=c.id + 50) for c in ORDERS.columns)
    query = r.Join(r.Scan(left, columns[0]), r.Scan(right, columns[1]), "inner", None)
    inputs = (o.Input(left, hole(1)), o.Input(right, hole(2)))
    whole = work(o.Evaluate(query, inputs), 4_000_000, 5_000_000, gives=1)
    assert whole == work(o.JoinBags(hole(1), hole(2), None), 4_000_000, 5_000_000, gives=1)
    assert work(o.Evaluate(r.Values((), ()), ()), gives=0) == Vector()


def known(share: float, rows: float = 6_000_000) -> Statistics:
    """A fact table and its parents, of which a share is replaced."""

    def source(name: str, count: float, keys: dict[str, float]) -> SourceFacts:
        change = ChangeFacts(Figure(2 * count * share), deleted=Figure(count * share))
        columns = {key: ColumnFacts(Figure(number, "declared")) for key, number in keys.items()}
        return SourceFacts(Figure(count), changes=(change,), columns=columns)

    return Statistics(
        {
            "lines": source("lines", rows, {"l_order": rows / 4}),
            "orders": source("orders", rows / 4, {"o_key": rows / 4, "o_city": 50}),
        }
    )


def planned(statistics: Statistics) -> tuple[Expanded, PlanSpace, Choice]:
    expanded = expand(Problem(SALES, sources(SALES), 2))
    costs = MemoCosts(expanded.memo, statistics)
    space = space_of(expanded, [1, 2], costs.price, costs.carrying)
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


def test_what_changes_reach_of_a_table_is_what_they_cost() -> None:
    def taken(reach: float) -> int:
        told = known(0.001)
        of = {n: replace(s, reach=Figure(reach)) for n, s in told.sources.items()}
        return planned(Statistics(of))[2].key[0]

    near, half, far = (taken(reach) for reach in (0.01, 0.5, 1.0))
    assert near < half < far
    assert taken(SourceFacts().reach.value) == planned(known(0.001))[2].key[0]


def test_what_is_chosen_is_never_dearer_than_full_recomputation() -> None:
    for share in (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0, 2.0):
        statistics = known(share)
        _, _, choice = planned(statistics)
        full = expand(Problem(SALES, sources(SALES), 2), methods=frozenset())
        costs = MemoCosts(full.memo, statistics)
        space = space_of(full, [1, 2], costs.price, costs.carrying)
        assert choice.key <= choose(space, LastFirst(2)).key


@pytest.mark.parametrize("seed", range(10))
def test_wrong_statistics_cost_and_never_change_the_answer(seed: int) -> None:
    """Tables swapped, and sizes wrong by a factor of a thousand: the plan runs to what batch gives."""
    right = known(0.01)
    swapped = Statistics({"lines": right.sources["orders"], "orders": right.sources["lines"]})
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
    costs = MemoCosts(memo, Statistics())
    for group in memo.groups:
        for flat in memo.groups.expressions(group):
            work = costs.work(flat)
            assert costs.price(flat) >= 1
            assert all(getattr(work, kind) >= 0 for kind in KINDS)
        if memo.linked(group):
            assert min(costs.carrying(group)) > 0
