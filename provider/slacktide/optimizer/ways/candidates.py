"""What the programs of a run are expected to cost, each by what is known of what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.optimizer.costs import Candidate, Way, predict, program_work
from slacktide.optimizer.costs.reads import is_sure
from slacktide.optimizer.programs.full import merging
from slacktide.optimizer.ways.situation import Situation
from slacktide.optimizer.ways.weighed import Weighed
from slacktide.program.operator import Operator, Program


def predicted_of(
    way: Way, program: Program, view: ReadView, situation: Situation, *like: Program
) -> Mapping[str, Any]:
    """What a program is expected to cost where there is nothing to choose; empty if it is not read."""
    if view.relation is None:
        return {}
    programs = dict.fromkeys((program, *like))
    candidates = [in_full(one, view, situation) for one in programs]
    return Weighed(way, (), (predict(situation.evidence, way, *candidates),)).to_dict()


def extending(program: Program, view: ReadView, situation: Situation) -> Candidate:
    """A program that extends the answer, with the work that is expected of it."""
    known = situation.statistics
    is_guessed = not all(is_sure(operator, known) for operator in of_type(program, Operator))
    work = program_work(program, known, view.relation)
    return Candidate.of(program, work, is_guessed=is_guessed)


def in_full(program: Program, view: ReadView, situation: Situation) -> Candidate:
    """A program that makes the answer anew."""
    work = program_work(program, situation.statistics, view.relation)
    return Candidate.of(program, work)._replace(merging=merging(program))
