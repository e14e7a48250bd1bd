"""Programs that remember joins give what batch evaluation gives, and what is remembered is what it says."""

from __future__ import annotations

from collections.abc import Collection

import hypothesis
import pytest
from hypothesis import strategies as st

from slacktide.algebra.textual import to_text
from slacktide.optimizer.programs import join_bags
from slacktide.optimizer.programs.join_bags import joins_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.states import bag_chain
from slacktide.optimizer.ways import remembered_joins
from slacktide.optimizer.ways.remembered_joins import Question
from slacktide.optimizer.ways.switch import Remembering
from slacktide.optimizer.ways.weighed import Weighed
from slacktide.program.reference.bags import consolidate
from slacktide.program.reference.relations import evaluate
from tests.harness.maintained import Maintained
from tests.harness.memory import as_bag, same_bag
from tests.harness.plans import cases

pytestmark = pytest.mark.timeout(600)

SHARDS = 4
LEAST = 3
"""Runs after which something was remembered, of all of a shard."""
MOST_ROUNDS = 8
COUNTED: list[int] = []
DECISIONS = ((("auto", 0.0),) * 8) + (("full", 0.0), ("auto", 0.5))


def holds(maintained: Maintained) -> int:
    """Check what is remembered; how many joins that is."""
    analysis = Maintainability(maintained.relation, maintained.read.conf)
    rels = joins_of(analysis, maintained.remembers)
    for rel in rels:
        chain = bag_chain(rel, analysis.conf)
        rows = as_bag(evaluate(rel, maintained.world.tables(maintained.states[chain])))
        assert same_bag(consolidate(maintained.world.bags[chain]), rows), to_text(rel)
    assert {bag_chain(rel, analysis.conf) for rel in rels} == {*maintained.remembers}
    return len(rels)


def asked(question: Question, now: Remembering, full: float) -> Remembering:
    """Ask in every run, without evidence of others."""
    return question.stopped(now) or question._started(now, 1, full) or now


def asked_in_full(
    question: Question, now: Remembering, found: Weighed, named: Collection[str]
) -> Remembering:
    """Also in those that build the states, or would do without."""
    return question._started(now, 1, found.full, named, found.building) or now


@hypothesis.settings(
    max_examples=60, suppress_health_check=list(hypothesis.HealthCheck), deadline=None
)
@hypothesis.given(data=st.data())
def refresh_equals_batch(data: st.DataObject) -> None:
    case = data.draw(cases())
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    maintained.refresh()
    are_few = data.draw(st.booleans(), "few")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_bags, "MOST_ROWS", float("inf"))
        patch.setattr(remembered_joins.Question, "reconsidered", asked)
        patch.setattr(remembered_joins.Question, "started_in_full", asked_in_full)
        patch.setattr(remembered_joins.Question, "_has_few", lambda *_: are_few)
        patch.setattr(remembered_joins, "pays", lambda *_: data.draw(st.booleans(), "pays"))
        for batch in case.batches:
            maintained.arrive(batch)
            maintained.refresh(*data.draw(st.sampled_from(DECISIONS)))
            COUNTED.append(holds(maintained))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_refresh_equals_batch(shard: int) -> None:
    COUNTED.clear()
    for turn in range(MOST_ROUNDS):  # some draws hold few views with joins that can be remembered
        if hypothesis.settings().derandomize:  # a turn by the same seed draws the same views again
            hypothesis.seed(200 + shard + SHARDS * turn)(refresh_equals_batch)
        refresh_equals_batch()
        if sum(map(bool, COUNTED)) >= LEAST:
            break
    assert sum(map(bool, COUNTED)) >= LEAST
