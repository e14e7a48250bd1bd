"""Rounds that the plan space gives, on Spark and by the reference interpreter, batch after batch.

Prices are drawn, so that what no model would choose is chosen, too. The first run makes all anew,
the others go on; each plan goes through its stored form before it is run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.hole import SnapshotAt
from slacktide.optimizer.periods.applications import maintenance
from slacktide.optimizer.periods.rounds import Rounds, worth_keeping
from slacktide.optimizer.plan import ViewPlan
from slacktide.program.operator import Operator
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import evaluate
from slacktide.program.reference.world import Outcome
from tests.harness.memory import MemorySource, MemoryWorld, as_bag, same_bag
from tests.harness.plans import Case
from tests.harness.workspace_on_spark import SparkWorkspace, Written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "v"
_DEAREST = 1000


@dataclass(frozen=True, slots=True)
class Prices:
    """Drawn prices of expressions, and what whole sources and whole answers cost besides."""

    seed: int
    snapshot: int
    answer: int

    @classmethod
    def drawn(cls, source: random.Random) -> Prices:
        """Prices by which answers and states are extended as a rule, or now and then."""
        whole = source.choice((0, 5 * _DEAREST, 50 * _DEAREST, 50 * _DEAREST))
        return cls(source.randrange(2**31), whole, source.choice((0, 50 * _DEAREST)))

    def price(self, flat: Operator) -> int:
        """What an expression costs: of any order of magnitude, so that detours round a dear one pay."""
        whole = self.snapshot if isinstance(flat, SnapshotAt) else 0
        return 1 + whole + int(_DEAREST ** (crc32(flat.digest, self.seed) / 2**32))

    def carrying(self, group: int, answers: Collection[int]) -> tuple[int, int]:
        """What it costs to save a group, and to load it."""
        drawn = crc32(str(group).encode(), self.seed)
        whole = self.answer if group in answers else 0
        return 1 + whole + drawn % _DEAREST, 1 + drawn // _DEAREST % _DEAREST


def planned_rounds(
    case: Case,
    methods: Collection[str],
    keys: Mapping[str, tuple[str, ...]],
    prices: Prices,
) -> Rounds:
    """Plan the rounds of a case by some methods.

    All tables are called append-only, whatever their batches do: what holds rows back is right under
    deletes, too, and the declaration only tells where that pays.
    """
    tables = sources(case.relation)
    problem = Problem(case.relation, tables, 2, append_only=frozenset(tables), keys=keys)
    expanded: Expanded = expand(problem, methods=frozenset(methods))
    carrying = partial(prices.carrying, answers=expanded.answers)
    planned = maintenance(expanded, prices.price, carrying)
    return Rounds(
        VIEW,
        expanded,
        worth_keeping(expanded, planned, {}),
        price=prices.price,
        carrying=carrying,
    )


def differences(spark: SparkSession, root: Path, case: Case, rounds: Rounds) -> Iterator[str]:
    """Run a case on both sides; tell where Spark writes other rows, or the answer is not that of batch."""
    world = MemoryWorld({shape.name: MemorySource(shape.names) for shape in case.sources})
    workspace = SparkWorkspace(spark, root, case, view=VIEW)
    for number, batch in enumerate(case.batches):
        start = world.versions() if number else {}
        for name, source in world.sources.items():
            if name in batch:
                source.arrivals.append(list(batch[name]))
        workspace.arrive(batch)
        made = rounds.onward() if number else rounds.anew()
        plan = _stored(
            ViewPlan(
                VIEW,
                "incremental" if number else "full",
                (),
                made.program,
                start,
                world.versions(),
                1,
            )
        )
        world.start, world.end = plan.start, plan.end
        assert plan.program is not None
        expected = run_program(plan.program, world)
        world.accept(expected)
        answer = as_bag(evaluate(case.relation, world.tables()))
        if not same_bag(world.answers[VIEW], answer):
            yield f"round {number}: the reference's answer is not that of batch"
        yield from (f"round {number}: {what}" for what in _differing(expected, workspace.run(plan)))


def _differing(expected: Outcome, found: Written) -> Iterator[str]:
    if found.chains.keys() != expected.saved.keys():
        yield f"chains {sorted(found.chains)} in place of {sorted(expected.saved)}"
        return
    for chain, saved in expected.saved.items():
        rows = found.chains[chain]
        is_same = (
            same_bag(_additive(rows), _additive(saved.data))
            if saved.is_state
            else same_bag(_signed(rows), saved.data)
        )
        if not is_same:
            yield f"{chain} has {rows} in place of {saved.data}"
    published = expected.published[VIEW]
    if not same_bag(_signed(found.answer), published.data):
        yield f"the answer is {found.answer} in place of {published.data}"
    if not same_bag(_signed(found.changes), published.changes):
        yield f"the changes are {found.changes} in place of {published.changes}"


def _signed(rows: list) -> list:
    return [(row[:-1], row[-1]) for row in rows]


def _additive(rows: list) -> list:
    """Partial aggregates, without the row of zeros that SQL gives where nothing is summed up."""
    return [(row, 1) for row in rows if any(value != 0 for value in row)]


def _stored(plan: ViewPlan) -> ViewPlan:
    return ViewPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
