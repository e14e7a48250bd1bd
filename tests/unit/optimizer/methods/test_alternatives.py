"""All alternatives of a group give the same rows, on random views and changes with deletes."""

from __future__ import annotations

import hypothesis
import pytest

from slacktide.algebra.textual import to_text
from slacktide.optimizer.expand import Problem, expand
from slacktide.optimizer.programs.maintainability import Maintainability
from tests.harness.planner.groups import Filled, changing
from tests.harness.planner.watched import FREE
from tests.harness.plans import Case, cases

pytestmark = pytest.mark.unit
SETTINGS = hypothesis.settings(
    max_examples=30, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)


@SETTINGS
@hypothesis.given(case=cases(batches=3, is_exact=True))
def test_a_group_is_one_relation(case: Case) -> None:
    analysis = Maintainability(case.relation)
    hypothesis.assume(not analysis.verdict())
    hypothesis.note(to_text(analysis.root))
    tables = changing(analysis.root)
    problem = Problem(analysis.root, tables, len(case.batches))
    space = expand(problem, switches=FREE)
    space.memo.check()
    filled = Filled(space, tables, case.sources, case.batches)
    assert filled.differing() == []
    assert filled.unknown == frozenset()
    assert filled.tried > 0
