"""One view over a world in memory, carried from batch to batch through the planner's own door."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from zlib import crc32

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.optimizer.api import plan_view
from slacktide.optimizer.compaction import extended, merge_program
from slacktide.optimizer.costs import Evidence
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import kept_versions
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.ways.situation import Situation
from slacktide.program.operator import Program
from slacktide.program.reference.bags import Bag, consolidate
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from slacktide.program.reference.world import Outcome
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import Case

VIEW = "v"


class Maintained:
    """The view of a case; every plan goes through its stored form before it is run.

    The changes of half of its sources are netted, as their names and the view have it.

    Args:
        case: the view and its sources.
        keep: how many of the oldest pieces of a chain are not compacted; the others of all chains
            are, in every run. None for no compaction.
        foreign_keys: those that hold after every batch.
        statistics: what is known of the sources; nothing where they are not given.
    """

    def __init__(
        self,
        case: Case,
        *,
        keep: int | None = None,
        foreign_keys: frozenset[ForeignKey] = frozenset(),
        statistics: Statistics | None = None,
    ) -> None:
        self._statistics = statistics or Statistics()
        self._keep = keep
        self._foreign_keys = foreign_keys
        self.relation: Rel = case.relation
        self.read = ReadView(
            relation=case.relation, outputs=case.relation.columns, sources=sources(case.relation)
        )
        self.world = MemoryWorld(
            {source.name: MemorySource(source.names) for source in case.sources},
            {VIEW: case.relation},
        )
        self.versions: dict[str, int] = {}
        self.states: dict[str, dict[str, int]] = {}
        self.remembers: tuple[str, ...] = ()
        self._is_shared = False
        seed = crc32(case.relation.digest)
        self._netted = frozenset(
            name for name in self.read.sources if crc32(name.encode(), seed) % 2
        )

    def arrive(self, batch: Mapping[str, Bag]) -> None:
        """Let changes arrive; a source that the batch does not name has none."""
        for name, bag in batch.items():
            self.world.sources[name].arrivals.append(bag)

    def plan(self, policy: str = "auto", share: float = 0.0) -> ViewPlan:
        """Plan the next run."""
        now = self.world.versions()
        end = {name: now[name] for name in self.read.sources}
        kept = {} if self.versions else kept_versions(self.read, self.states, end)
        situation = Situation(
            self.versions,
            end,
            share,
            self.states,
            policy,
            1,
            kept=kept,
            foreign_keys=self._foreign_keys,
            remembers=self.remembers,
            is_shared=self._is_shared,
            evidence=Evidence(merges=True),
            statistics=self._statistics,
            netted=self._netted,
        )
        if self._is_shared and self.versions:
            brought = kept_versions(self.read, self.states, end)
            situation = replace(situation, caught=replace(situation, start={}, kept=brought))
        plan = plan_view(VIEW, self.read, situation)
        return ViewPlan.from_dict(json.loads(json.dumps(plan.to_dict())))

    def run(self, plan: ViewPlan) -> Outcome:
        """Run a plan by the reference interpreter and keep what it wrote."""
        outcome = Outcome()
        if plan.program is not None:
            self.world.start, self.world.end = plan.start, plan.end
            outcome = run_program(plan.program, self.world)
            merged = [run_program(program, self.world) for program in self._merges(plan)]
            for compacted in merged:
                self.world.merge(compacted)
            self.world.accept(outcome)
            for chain in outcome.saved:
                self.states[chain] = dict(plan.end)
            self._remember(plan.remembers)
        self.versions = dict(plan.end)
        return outcome

    def _remember(self, chains: tuple[str, ...]) -> None:
        """Forget what the view remembers no more."""
        for chain in {*self.remembers} - {*chains}:
            self.states.pop(chain, None)
        self.remembers = chains

    def _merges(self, plan: ViewPlan) -> Iterator[Program]:
        for chain, written in extended(plan).items():
            pieces = len(self.world.starts.get(chain, ()))
            if self._keep is not None and pieces > self._keep + 1:
                yield merge_program(chain, self._keep, written)

    def refresh(self, policy: str = "auto", share: float = 0.0) -> ViewPlan:
        """Plan and run, and compare answer and published changes with batch evaluation."""
        plan = self.plan(policy, share)
        self.compare(plan)
        return plan

    def fall_behind(self) -> None:
        """Another view that keeps all of its states takes in what has arrived, and this one does not."""
        answer, pieces = self.world.answers[VIEW], self.world.starts[f"views/{VIEW}"]
        versions, self._is_shared = self.versions, True
        self.refresh()
        self.versions, self.world.answers[VIEW] = versions, answer
        self.world.starts[f"views/{VIEW}"] = pieces

    def replace(self, lost: Collection[str] = ()) -> None:
        """Take the answer for that of another text, and states for lost; others are kept."""
        self.versions = {}
        for chain in lost:
            del self.states[chain]

    def compare(self, plan: ViewPlan) -> None:
        """Run a plan, and compare answer and published changes with batch evaluation."""
        before = consolidate(self.world.answers.get(VIEW, []))
        outcome = self.run(plan)
        changes = outcome.published[VIEW].changes if outcome.published else []
        expected = as_bag(evaluate(self.relation, self.world.tables()))
        assert same_bag(self.world.answers[VIEW], expected), plan.method
        assert same_bag([*before, *changes], expected), "changes do not lead to the answer"
        assert len(consolidate(changes)) == len(changes), "changes are not consolidated"
