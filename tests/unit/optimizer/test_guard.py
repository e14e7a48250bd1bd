"""The break-even points of a program: where a step has written so much that the text costs no more."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from slacktide.algebra import relation as r
from slacktide.optimizer.costs import DEFAULTS, Evidence, Prediction, Vector, program_works
from slacktide.optimizer.derivation import maintain
from slacktide.optimizer.guard import LEAST, NO_GUARD, Guard, guard_of
from slacktide.optimizer.maintainability import Maintainability
from tests.unit.optimizer.costs.test_program_work import BOTH, SHAPES, known

TEXT = Prediction("text", "t", Vector(rows_read=7.5e6), 40.0, 1.0, "observed")


def guarded(rel: r.Rel, text: float) -> tuple[Guard, Prediction, partial]:
    program = maintain("v", Maintainability(rel), BOTH).program
    work_of = partial(program_works, program, known(0.01), rel)
    own = Evidence().predict("incremental", "i", work_of().total)
    other = replace(TEXT, in_tasks=text, outside=0.0)
    return guard_of(program, work_of, DEFAULTS, own, other), own, work_of


STORING = [rel for rel in SHAPES if guarded(rel, 1e6)[0].limits]


def test_shapes_with_states_have_break_even_points() -> None:
    assert len(STORING) >= 2


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_at_the_point_increments_cost_what_the_text_costs(rel: r.Rel) -> None:
    guard, own, work_of = guarded(rel, 400.0)
    for chain, rows in guard.limits.items():
        if rows > LEAST:
            there = DEFAULTS.in_tasks(work_of({chain: float(rows)}).total) + own.outside
            assert 0.5 * 400.0 < there < 2.0 * 400.0, "a line stands for what is nearly one"


@pytest.mark.parametrize("rel", STORING, ids=lambda rel: rel.tag)
def test_the_dearer_the_text_the_later_the_point(rel: r.Rel) -> None:
    near, far = guarded(rel, 40.0)[0].limits, guarded(rel, 4000.0)[0].limits
    assert near.keys() == far.keys()
    assert all(LEAST <= near[chain] <= far[chain] for chain in near)
    assert near != far


def test_what_is_dearer_anyway_is_run_to_find_out() -> None:
    assert guarded(STORING[0], 0.0)[0] == NO_GUARD


def test_is_stored_as_json() -> None:
    guard = guarded(STORING[0], 400.0)[0]
    assert Guard.from_dict(json.loads(json.dumps(guard.to_dict()))) == guard
    assert guard.instead["way"] == "text"
    assert Guard.from_dict({}) == NO_GUARD
