"""The break-even points of a program: where a step has written so much that the text costs no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest

from slacktide.algebra import relation as r
from slacktide.optimizer.costs import (
    DEFAULTS,
    Candidate,
    Evidence,
    PastRun,
    Prediction,
    Vector,
    predict,
    work_by_node,
)
from slacktide.optimizer.costs.evidence import LEAST_ROWS
from slacktide.optimizer.costs.prediction import Basis
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.optimizer.ways.guard import LEAST, break_even, early_limits_of
from slacktide.optimizer.ways.situation import Situation
from slacktide.optimizer.ways.weighed import Predictions
from slacktide.program import operator as o
from slacktide.program.limits import UNLIMITED, Limits
from tests.unit.optimizer.costs.test_program_work import BOTH, SHAPES, known

TEXT = Prediction("text", "t", Vector(rows_read=7.5e6), 40.0, 1.0, "observed")


def program_of(rel: r.Rel) -> o.Program:
    return maintain("v", Maintainability(rel), BOTH).program


def guarded(rel: r.Rel, text: float) -> tuple[Mapping[str, int], Prediction, partial]:
    program = program_of(rel)
    work_of = partial(work_by_node, program, known(0.01), rel)
    own = predict(Evidence(), "incremental", Candidate("i", work_of().total))
    other = replace(TEXT, in_tasks=text, outside=0.0)
    found = Predictions(own, replace(other, way="rebuild"), other)
    return break_even(program, work_of, DEFAULTS, found).rows, own, work_of


STORING = [rel for rel in SHAPES if guarded(rel, 1e6)[0]]


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_jobs_that_are_left_count_as_what_full_runs_have_of_them_does(rel: r.Rel) -> None:
    """Where a job costs as much as the text, a run that has some left turns back as soon as it may."""
    program = program_of(rel)
    work_of = partial(work_by_node, program, known(0.01), rel)
    own = replace(predict(Evidence(), "incremental", Candidate("i", work_of().total)), outside=0.0)
    text = replace(TEXT, in_tasks=400.0, outside=0.0)
    found = Predictions(own, replace(text, way="rebuild"), text)
    dear = replace(DEFAULTS, jobs=400.0)
    free = replace(DEFAULTS, jobs=0.0, plans=0.0)
    late, soon = (break_even(program, work_of, rates, found).rows for rates in (free, dear))
    assert late.keys() == soon.keys()
    assert all(late[chain] > soon[chain] == LEAST for chain in late)


def test_shapes_with_states_have_break_even_points() -> None:
    assert len(STORING) >= 2


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_at_the_point_increments_cost_what_the_text_costs(rel: r.Rel) -> None:
    guard, _, work_of = guarded(rel, 400.0)
    for chain, rows in guard.items():
        if rows > LEAST:
            work = work_of({chain: float(rows)})
            targets = [o.target(step) for step in program_of(rel).steps]
            left = DEFAULTS.in_tasks(work.since(targets.index(chain) + 1))
            assert 0.5 * 400.0 < left < 2.0 * 400.0, "a line stands for what is nearly one"


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_the_dearer_the_text_the_later_the_point(rel: r.Rel) -> None:
    near, far = guarded(rel, 40.0)[0], guarded(rel, 4000.0)[0]
    assert near.keys() == far.keys()
    assert all(LEAST <= near[chain] <= far[chain] for chain in near)
    assert near != far


def test_states_that_are_dear_to_build_are_not_thrown_away_sooner_for_increments_being_dear() -> (
    None
):
    program, work_of = (
        program_of(STORING[0]),
        partial(work_by_node, program_of(STORING[0]), known(0.01), STORING[0]),
    )
    own = predict(Evidence(), "incremental", Candidate("i", work_of().total))
    text = replace(TEXT, in_tasks=own.price / 1.2, outside=0.0)
    dear = Predictions(own, replace(text, way="rebuild", in_tasks=10 * own.price), text)
    cheap = Predictions(own, replace(text, way="rebuild"), text)
    late, soon = (break_even(program, work_of, DEFAULTS, found).rows for found in (dear, cheap))
    assert late.keys() == soon.keys()
    assert all(late[chain] > soon[chain] or soon[chain] == LEAST for chain in late)


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_what_is_dearer_anyway_may_cost_twice_of_what_is_expected(rel: r.Rel) -> None:
    tried, own, _ = guarded(rel, 0.0)
    assert tried == guarded(rel, max(2.0 * own.price, own.price + 1e-9))[0]
    assert tried


def seconds(
    incremental: float, text: float, rebuild: float, basis: Basis, own: Basis = "observed"
) -> float | None:
    """What tasks may take where these are expected, and full runs and increments are known so."""
    extending = replace(TEXT, way="incremental", in_tasks=incremental, basis=own)
    full = replace(TEXT, in_tasks=text, basis="modelled")
    built = replace(full, way="rebuild", in_tasks=rebuild, basis=basis)
    program = program_of(STORING[0])
    work_of = partial(work_by_node, program, known(0.01), STORING[0])
    return break_even(program, work_of, DEFAULTS, Predictions(extending, built, full)).cpu_seconds


@pytest.mark.parametrize(
    ("expected", "most"),
    [((1.0, 40.0, 60.0), 120.0), ((90.0, 40.0, 60.0), 180.0)],
    ids=["full", "keeping states"],
)
def test_tasks_may_take_twice_of_the_dearest_way(
    expected: tuple[float, float, float], most: float
) -> None:
    assert seconds(*expected, "observed") == most


@pytest.mark.parametrize(
    ("own", "expected"),
    [("doubted", 1.0), ("doubted", 900.0), ("modelled", 1.0), ("modelled", 40.0)],
)
def test_what_runs_to_find_out_ends_where_it_has_taken_what_the_answer_alone_takes(
    own: Basis, expected: float
) -> None:
    assert seconds(expected, 40.0, 60.0, "observed", own) == 40.0
    assert seconds(expected, 60.0, 40.0, "observed", own) == 60.0
    assert seconds(expected, 40.0, 60.0, "modelled", own) is None


def test_what_is_meant_to_take_more_may_take_twice_of_that() -> None:
    assert seconds(90.0, 40.0, 60.0, "observed", "modelled") == 180.0


SEEN = Evidence([PastRun(1, "text", "t", TEXT.work, TEXT.work, 40.0)], rows=LEAST_ROWS)


@pytest.mark.parametrize(
    ("margin", "most"), [(0.1, 2.0), (1.0, 2.0), (3.0, 4.0)], ids=["none", "little", "much"]
)
def test_an_early_refresh_may_take_twice_of_what_is_expected_or_what_it_saves(
    margin: float, most: float
) -> None:
    assert early_limits_of(situation("auto", SEEN), 1.0, margin) == Limits(cpu_seconds=most)


@pytest.mark.parametrize(
    ("policy", "evidence"),
    [
        ("incremental", SEEN),
        ("auto", replace(SEEN, rows=LEAST_ROWS - 1)),
    ],
    ids=["policy", "few rows"],
)
def test_nobody_bounds_an_early_refresh_who_cannot_tell(policy: str, evidence: Evidence) -> None:
    assert early_limits_of(situation(policy, evidence), 1.0, 1.0) == UNLIMITED


def situation(policy: str, evidence: Evidence) -> Situation:
    return Situation({"t": 1}, {"t": 2}, 0.1, {}, policy, 1, evidence=evidence)


def test_what_no_full_run_has_told_bounds_nothing() -> None:
    assert seconds(1.0, 40.0, 60.0, "modelled") is None
