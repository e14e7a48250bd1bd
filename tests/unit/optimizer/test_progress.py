"""Progressive days: what runs before the due one store, and answers that are those of batch."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Rel
from slacktide.algebra.scalar import AggregateCall, Assignment, Column, Measure, reference
from slacktide.algebra.textual import from_text
from slacktide.common.tree import of_type
from slacktide.optimizer.periods import planning
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import analysis_of
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from tests.harness.histories import next_changes, shapes_of
from tests.harness.planner.days import Days
from tests.harness.planner.keyed import history, random_tree
from tests.harness.planner.summary import SUMMARY
from tests.harness.plans import Case, SourceShape, cases
from tests.unit.optimizer.methods.test_higher_order import CHAIN, STAR

pytestmark = pytest.mark.unit
CHEAP = ["0.001", "0.001", "1"]
VIEWS: dict[str, Rel] = {"summary": SUMMARY, "chain": CHAIN, "star": STAR}


def batches(shapes: tuple[SourceShape, ...], seed: int, count: int) -> list[dict[str, Bag]]:
    """Rows that come and go; now and then nothing comes to one source."""
    source = random.Random(seed)  # noqa: S311
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    found = []
    for _ in range(count):
        quiet = source.choice([*present, None, None])
        moved = [shape for shape in shapes if shape.name != quiet]
        found.append({s.name: next_changes(source, s, present[s.name]) for s in moved})
    return found


@pytest.fixture
def everything_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all be stored early that may be, and be used."""
    monkeypatch.setattr(planning, "is_worth", lambda *_: True)


@pytest.mark.parametrize("name", ["chain", "star"])
def test_answers_are_those_of_batch_and_change_when_they_are_due(name: str) -> None:
    shapes = shapes_of(VIEWS[name])
    days = Days(VIEWS[name], shapes, CHEAP)
    for batch in batches(shapes, 3, 7):
        days.refresh(batch)
    assert days.stored_early
    assert days.used


def test_so_they_are_where_storing_does_not_pay(everything_pays: None) -> None:
    shapes = shapes_of(SUMMARY)
    days = Days(SUMMARY, shapes, CHEAP)
    for batch in batches(shapes, 7, 7):
        days.refresh(batch)
    assert days.stored_early
    assert days.used


def of_the_past(plan: ViewPlan) -> set[str]:
    """The sources of which a plan reads the rows as of its start."""
    reads = () if plan.program is None else of_type(plan.program, o.ReadSnapshot)
    return {read.source for read in reads if read.moment == "before"}


@pytest.mark.parametrize("is_due", [True, False])
def test_rows_that_are_in_no_mirror_any_more_are_not_read(
    is_due: bool, everything_pays: None
) -> None:
    """Another view of the run had them written anew, and their files may be removed then."""
    shapes = shapes_of(CHAIN)
    history = batches(shapes, 3, 7)
    days = Days(CHAIN, shapes, CHEAP)
    plans = [days.refresh(batch) for batch in history]
    method = "incremental" if is_due else "states-only"
    moved = next(n for n, plan in enumerate(plans) if plan.method == method and of_the_past(plan))
    days = Days(CHAIN, shapes, CHEAP)
    for number, batch in enumerate(history):
        if number == moved:
            days.mirrors.update(dict.fromkeys(days.world.sources, len(history)))
        plan = days.refresh(batch)
        assert number < moved or not of_the_past(plan)


def counted(rel: Rel) -> Rel:
    """How often each value of a column stands in a relation."""
    key = rel.columns[1]
    columns = (Column(900, "x", key.type, key.nullable), Column(901, "n", "BIGINT", nullable=False))
    call = AggregateCall("count", (), distinct=False, filter=None, type="BIGINT", nullable=False)
    return r.Aggregate(rel, (Assignment(columns[0], reference(key)),), (Measure(columns[1], call),))


@pytest.mark.parametrize("name", VIEWS)
def test_rows_that_nobody_has_counted_are_not_taken_for_none(
    name: str, everything_pays: None
) -> None:
    shapes = shapes_of(VIEWS[name])
    days = Days(VIEWS[name], shapes, CHEAP, is_told=False)
    for batch in batches(shapes, 11, 4):
        days.refresh(batch)


def test_what_was_expected_to_stay_and_came_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Days, "foreseen_rows", 0.0)
    shapes = shapes_of(SUMMARY)
    days = Days(SUMMARY, shapes, CHEAP)
    for batch in batches(shapes, 3, 7):
        days.refresh(batch)
    assert days.stored_early


@pytest.mark.parametrize("seed", range(4))
def test_trees_of_outer_joins(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    relation, shapes = random_tree(source, 2)
    days = Days(counted(relation) if seed % 2 else relation, shapes, CHEAP)
    for batch in history(source, shapes, 7):
        days.refresh(batch)


JOINED = """
    join inner on (#2 = #8)
      scan r1 [a#1:INT, b#2:INT]
      scan r2 [b#8:INT, c#9:INT]
"""
ORDERED = {
    "over a join": (
        "window key=[#1] order=[#2 asc nulls first, #9 asc nulls first, #8 asc nulls first]"
        ' [w#7:INT! := rank():INT! over ""]\n  sort [#1 asc nulls first]' + JOINED
    ),
    "over an aggregate of a join": (
        'window key=[#5] order=[#6 asc nulls first, #4 asc nulls first] [w#7:INT! := rank():INT! over ""]\n'
        "  sort [#4 asc nulls first]\n"
        "    aggregate key=[k#4:INT := #1] [m#5:INT := max(#2), n#6:BIGINT! := count()]"
        + JOINED.replace("\n    ", "\n      ")
    ),
}


@pytest.mark.parametrize("name", ORDERED)
def test_states_that_differ_in_an_order_alone(name: str, everything_pays: None) -> None:
    """A sorted relation is in one group with the relation: each has a chain, and each goes on."""
    relation = from_text(ORDERED[name])
    shapes = shapes_of(relation)
    days = Days(relation, shapes, CHEAP)
    for batch in batches(shapes, 7, 7):
        days.refresh(batch)
    assert days.used


MET = from_text(
    "join inner on (#1 = #4)\n  scan l [k#1:INT, g#2:INT, v#3:INT]\n  scan r [k#4:INT, w#5:INT]\n"
)


@pytest.mark.parametrize("relation", [MET, counted(MET), STAR], ids=["met", "counted", "star"])
def test_an_answer_that_is_published_whole_has_rows_alone(relation: Rel) -> None:
    """Its readers read it as it is: of a row that came and one that went both would be there, or the first."""
    shapes = shapes_of(relation)
    whole = 0
    for seed in range(5, 9):
        days = Days(relation, shapes, ["0.001", "1"])
        for batch in batches(shapes, seed, 9):
            plan = days.refresh(batch)
            if any(reason.code == "STORED_EARLY" for reason in plan.reasons):
                assert plan.program is not None
                whole += (
                    isinstance(plan.program.steps[-1], o.Publish) and plan.program.steps[-1].is_base
                )
    assert whole


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases(batches=6, rows=4, is_exact=True), st.integers(1, 3))
def test_any_view(case: Case, early: int) -> None:
    """Whatever a period stores, the due answer is that of batch and each state of the view goes on."""
    days = Days(case.relation, case.sources, ["0.001"] * early + ["1"])
    analysis = analysis_of(days.view)
    if analysis is None or analysis.verdict():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "is_worth", lambda *_: True)
        for batch in case.batches:
            days.refresh(batch)


@pytest.mark.parametrize(("firings", "finds"), [(0, False), (100, False), (200, True)])
@pytest.mark.parametrize("name", ["summary", "chain"])
def test_a_search_whose_time_is_up_has_plans_that_give_batch(
    name: str, firings: int, finds: bool, everything_pays: None
) -> None:
    """The best of what was found by then; where that is too little, all is left to the due refresh."""
    shapes = shapes_of(VIEWS[name])
    asked = 0

    def is_spent() -> bool:
        nonlocal asked
        asked += 1
        return asked > firings

    days = Days(VIEWS[name], shapes, CHEAP, is_spent=is_spent)
    told = ""
    for batch in batches(shapes, 7, 4):
        asked = 0
        told += "".join(map(str, days.refresh(batch).reasons))
    assert "SEARCH_CUT" in told
    assert (days.stored_early > 0) == finds


RETURNED = from_text(
    """
aggregate key=[cat#6 := #2] [gross#7:BIGINT := sum(#3), n#8:BIGINT! := count()]
  join anti on (#1 = #4)
    scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
    scan returns [o_id#4:INT!, cost#5:INT!]
"""
)


@pytest.mark.parametrize(
    ("relation", "differs"), [(SUMMARY, True), (RETURNED, False)], ids=["summary", "not returned"]
)
def test_what_may_be_retracted_may_be_held_back_where_no_source_loses_rows(
    relation: Rel, differs: bool, everything_pays: None
) -> None:
    """IM-2, which is nothing to a source that may lose rows, is one more way, if not always the cheapest."""
    source = random.Random(3)  # noqa: S311
    shapes = shapes_of(relation)
    inserted = [
        {shape.name: [(shape.row(source.randrange(4**6)), 1) for _ in range(3)] for shape in shapes}
        for _ in range(7)
    ]
    kept = Days(relation, shapes, CHEAP, append_only=frozenset(one.name for one in shapes))
    free = Days(relation, shapes, CHEAP)
    programs = [(kept.refresh(batch).program, free.refresh(batch).program) for batch in inserted]
    assert kept.stored_early
    assert kept.used
    assert any(one != other for one, other in programs) == differs


def test_where_early_work_costs_as_much_all_waits() -> None:
    shapes = shapes_of(SUMMARY)
    days = Days(SUMMARY, shapes, ["5", "5", "1"])
    plans = [days.refresh(batch) for batch in batches(shapes, 3, 7)]
    assert not days.stored_early
    assert [plan.method for plan in plans[1:3]] == ["unchanged", "unchanged"]
    assert [str(reason) for reason in plans[1].reasons] == ["NOT_DUE(1 of 3, waiting costs less)"]


def test_a_long_period_plans_no_more_instants_than_it_may(everything_pays: None) -> None:
    shapes = shapes_of(SUMMARY)
    days = Days(SUMMARY, shapes, ["0.001"] * 5 + ["1"])
    most = 0
    for batch in batches(shapes, 5, 13):
        days.refresh(batch)
        most = max(most, len(days.reached))
    assert most == 2


def test_what_is_stored_early_is_no_answer_and_no_state_of_the_view(everything_pays: None) -> None:
    shapes = shapes_of(SUMMARY)
    days = Days(SUMMARY, shapes, CHEAP)
    plans = [days.refresh(batch) for batch in batches(shapes, 7, 4)]
    early = [plan.program for plan in plans if plan.turn and not plan.turn.is_due and plan.program]
    assert early
    for program in early:
        assert all(isinstance(step, o.Save) and step.is_base for step in program.steps)
        assert not {step.chain for step in program.steps} & days.scopes.keys()  # type: ignore[union-attr]
