"""Periods of a view whose answer is due only now and then: planned, run by the reference interpreter, compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.optimizer.api import plan_view
from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.periods.planning import plan_turn
from slacktide.optimizer.periods.progress import Progress
from slacktide.optimizer.plan import Versions, ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.optimizer.statistics import ChangeFacts, Figure, SourceFacts, Statistics
from slacktide.optimizer.statistics.intervals import united
from slacktide.optimizer.ways.situation import Situation
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import SourceShape

VIEW = "v"
LARGE = 1_000_000.0
"""For how many rows one row of these stands, so that work on rows outweighs that of a job."""


@dataclass
class Days:
    """A view, what is stored of it, and where its period stands.

    Attributes:
        is_told: whether anybody knows how many rows a file has.
        append_only: the sources of which no row is ever taken away, by declaration.
        mirrors: by source, the version of which its mirror holds the rows.
        is_spent: whether the search of a plan has taken all its time.
        rules: of a user.
        stored_early: how many refreshes have stored something.
        used: how many due ones went by that.
    """

    relation: Rel
    shapes: tuple[SourceShape, ...]
    weights: Sequence[str]
    is_told: bool = True
    append_only: frozenset[str] = frozenset()
    mirrors: dict[str, int] = field(default_factory=dict)
    is_spent: IsSpent = never
    rules: tuple[MemoRule, ...] = ()
    stored_early: int = 0
    used: int = 0
    answered: Versions | None = None
    reached: tuple[Versions, ...] = ()
    stored: tuple[str, ...] = ()
    turn: int = 0
    states: dict[str, Versions] = field(default_factory=dict)

    foreseen_rows: ClassVar[float] = LARGE / 100

    def __post_init__(self) -> None:
        tables = {shape.name: MemorySource(shape.names) for shape in self.shapes}
        self.world = MemoryWorld(tables, views={VIEW: self.relation})
        self.view = ReadView(
            relation=self.relation, outputs=self.relation.columns, sources=sources(self.relation)
        )
        self.scopes = state_sources(self.view)

    def refresh(self, batch: Mapping[str, Bag]) -> ViewPlan:
        """Let a batch arrive, plan and run; check what readers see."""
        for name, source in self.world.sources.items():
            if name in batch:
                source.arrivals.append(list(batch[name]))
        plan = self._planned()
        assert ViewPlan.from_dict(plan.to_dict()) == plan
        if plan.program is not None:
            self.world.start, self.world.end = plan.start, plan.end
            self.world.accept(run_program(plan.program, self.world))
        self._commit(plan)
        expected = as_bag(evaluate(self.relation, self.world.tables(self.answered)))
        assert same_bag(self.world.answers[VIEW], expected), f"turn {self.turn}"
        return plan

    def _planned(self) -> ViewPlan:
        end = self.world.versions()
        start = self.answered or {}
        known = self._statistics([start, *self.reached, end] if start else [end])
        situation = Situation(
            start,
            end,
            0.1,
            self.states,
            "auto",
            1,
            mirrors=self.mirrors,
            statistics=united(known),
            append_only=self.append_only,
        )
        if not start:
            return plan_view(VIEW, self.view, situation)
        weights = tuple(map(Fraction, self.weights))
        is_due = self.turn + 1 >= len(weights)
        progress = Progress(
            weights,
            self.turn + 1,
            f"{VIEW}@{self.answered}",
            (start, *self.reached),
            self.stored,
            tuple(self.scopes),
            known if is_due else self._foreseen(known),
            frozenset(
                (name, instant)
                for instant, (one, other) in enumerate(pairwise([start, *self.reached, end]), 2)
                for name in end
                if one[name] == other[name]
            ),
        )
        return plan_turn(VIEW, self.view, situation, progress, self.is_spent, self.rules)

    def _statistics(self, instants: Sequence[Versions]) -> Statistics:
        """As counted, each row for very many."""
        found = {}
        for name, source in self.world.sources.items():
            rows = len(source.rows(instants[-1][name]))
            spans = pairwise(instants)
            bags = [source.changes(one[name], other[name]) for one, other in spans]
            changes = [
                ChangeFacts(
                    Figure(LARGE * len(bag) if self.is_told else 0.0, "observed"),
                    deleted=Figure(LARGE * sum(count < 0 for _, count in bag), "observed"),
                )
                for bag in bags
            ]
            found[name] = SourceFacts(Figure(LARGE * rows, "observed"), changes=tuple(changes))
        return Statistics(found)

    def _foreseen(self, known: Statistics) -> Statistics:
        """Little is expected to come until the answer is due."""
        little = ChangeFacts(Figure(self.foreseen_rows, "observed"))
        return Statistics(
            {
                name: SourceFacts(source.rows, changes=(*source.changes, little))
                for name, source in known.sources.items()
            }
        )

    def _commit(self, plan: ViewPlan) -> None:
        steps = () if plan.program is None else plan.program.steps
        for step in steps:
            if isinstance(step, o.Save):
                of = self.scopes.get(step.chain) or (
                    plan.turn.writes[step.chain] if plan.turn else ()
                )
                self.states[step.chain] = {name: plan.end[name] for name in of}
        turn = plan.turn
        if turn is not None and not turn.is_due:
            self.stored_early += bool(steps)
            reached = (*turn.reached, plan.end) if turn.writes else turn.reached
            self.turn, self.reached, self.stored = turn.number, reached, turn.keeps
            return
        if turn is not None and turn.expects:
            self.used += 1
            advanced = sorted(s.chain for s in steps if isinstance(s, o.Save) and not s.is_base)
            moving = sorted(chain for chain, of in self.scopes.items() if of)
            assert advanced == moving, "each state of the view, once"
        for chain in self.stored:
            del self.states[chain]
        self.answered, self.turn, self.reached, self.stored = plan.end, 0, (), ()
