"""What is expected of the nodes of a plan: all of them together are what is expected of the program."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from slacktide.algebra import relation as r
from slacktide.common.tree import of_type
from slacktide.optimizer.costs import DEFAULTS, work_by_node
from slacktide.optimizer.estimates import NOTHING, Estimates, estimates_of, reads_of
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.optimizer.statistics import Figure
from slacktide.program import operator as o
from tests.unit.optimizer.costs.test_program_work import BIG, BOTH, SHAPES, known

SHARE = 0.01


def planned(rel: r.Rel) -> tuple[o.Program, Estimates]:
    """The program that maintains a relation, and what is expected of its nodes: two seconds in all."""
    program = maintain("v", Maintainability(rel), BOTH).program
    work = work_by_node(program, known(SHARE), rel)
    return program, estimates_of(program, work, DEFAULTS, 2.0)


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
def test_the_nodes_share_what_the_program_is_expected_to_take(rel: r.Rel) -> None:
    found = planned(rel)[1].nodes.values()
    assert sum(one.seconds for one in found) == pytest.approx(2.0, abs=0.001 * len(found))
    assert all(one.rows >= 0 and one.seconds >= 0 for one in found)


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
def test_every_node_has_figures_but_rows_that_may_run_dry(rel: r.Rel) -> None:
    program, found = planned(rel)
    dry: set[object] = {step for step in program.steps if isinstance(step, o.Refill)}
    wanted = {n for s in program.steps if s not in dry for n in of_type(s, o.Operator)}
    dry |= {n for s in program.steps if s in dry for n in of_type(s, o.Operator)} - wanted
    for node in (*program.steps, *of_type(program, o.Operator)):
        assert (found.of(node) is None) == (node in dry), node
    for read in of_type(program, o.ReadChanges):
        expected = found.of(read)
        assert expected is not None
        assert expected.rows == round(SHARE * BIG[read.source])


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
def test_what_steps_read_is_told_where_it_is_known_how_far_keys_reach(rel: r.Rel) -> None:
    program = maintain("v", Maintainability(rel), BOTH).program
    guessed = known(SHARE)
    sources = {
        name: replace(one, reach=Figure(0.1, "observed")) for name, one in guessed.sources.items()
    }
    found = replace(guessed, sources=sources)
    work = work_by_node(program, found, rel)
    extending = [s for s in program.steps if isinstance(s, o.Save | o.Publish) and not s.is_base]
    reads = reads_of(program, work, found)
    assert [*reads] == [o.target(step) for step in extending]
    assert sum(reads.values()) <= work.total.rows_read + len(reads)
    if len(extending) == len(program.steps):
        assert sum(reads.values()) == pytest.approx(work.total.rows_read, abs=len(reads))
    one = {"orders": guessed.sources["orders"]}
    fewer = reads_of(program, work, replace(found, sources=sources | one))
    for step in extending:
        large = {read.source for read in of_type(step.child, o.ReadSnapshot)}
        assert (o.target(step) in fewer) == ("orders" not in large)


def test_is_stored_as_json() -> None:
    found = planned(SHAPES[0])[1]
    assert Estimates.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert Estimates.from_dict({}) == NOTHING
