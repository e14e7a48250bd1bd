"""Random views, all methods: every alternative of every group against batch, and what is chosen.

As a campaign, at full length:

    python -m tests.campaigns.planner --views 1200 --seed 5 --out tests/campaigns/planner.json

Half of the views are random relations over two sources, under histories with deletes, updates, NULLs and
repeated rows; a quarter are trees of inner and outer joins over tables with keys, and a quarter groupings of groupings. Each expression of a
memo is run by the reference interpreter over the rows of the groups that it reads. For every fourth
view a plan is chosen from the space of all methods and from that of each alone, by tuples consumed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import to_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.choice.choosing import choose, choose_among
from slacktide.optimizer.choice.objective import weighted
from slacktide.optimizer.expand import METHODS, Problem, expand
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.programs.maintainability import Maintainability
from tests.harness.histories import next_changes
from tests.harness.planner.grouped import random_grouping
from tests.harness.planner.groups import Batch, Filled
from tests.harness.planner.keyed import history, random_tree
from tests.harness.planner.summary import TupleCosts
from tests.harness.planner.watched import FREE
from tests.harness.plans import Case, SourceShape, cases
from tests.harness.versions import versions

SINGLE: tuple[frozenset[str], ...] = (
    frozenset(),
    *(
        frozenset({"recompute", "derive", method})
        for method in ("derive", "hold", "touch", "higher order", "outer join", "aggregate early")
    ),
)
SAVE, LOAD = 2, 1
COMPARED = 4


@dataclass
class Found:
    """What a campaign found.

    Attributes:
        views: that were planned.
        expressions: that were run and compared.
        unknown: groups with alternatives whose rows could not be had.
        rules: firings by name of rule.
        different: alternatives that gave other rows, with their view.
        won: how often a single method alone was as cheap as the mixture, and how often the mixture
            was cheaper than all of them.
        dearer: views for which the mixture was dearer than a single method.
    """

    views: int = 0
    expressions: int = 0
    unknown: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)
    won: Counter[str] = field(default_factory=Counter)
    dearer: list[str] = field(default_factory=list)


def random_relations(views: int, seed: int) -> Iterator[tuple[Rel, tuple[SourceShape, ...], list]]:
    """Random relations that are maintained, with histories."""
    drawn: list[Case] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=2 * views,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=cases(batches=3, is_exact=True))
    def draw(case: Case) -> None:
        drawn.append(case)

    draw()
    maintained = (case for case in drawn if not Maintainability(case.relation).verdict())
    for case, _ in zip(maintained, range(views), strict=False):
        yield Maintainability(case.relation).root, case.sources, case.batches


def random_trees(views: int, seed: int) -> Iterator[tuple[Rel, tuple[SourceShape, ...], list]]:
    """Trees of joins over tables with keys, with histories."""
    for number in range(views):
        source = random.Random(1_000_003 * seed + number)  # noqa: S311
        relation, shapes = random_tree(source, source.randint(2, 4))
        yield relation, shapes, history(source, shapes, 3)


def random_groupings(views: int, seed: int) -> Iterator[tuple[Rel, tuple[SourceShape, ...], list]]:
    """Groupings of groupings, with histories."""
    for number in range(views):
        source = random.Random(1_000_033 * seed + number)  # noqa: S311
        relation, shapes = random_grouping(source)
        present: dict[str, list] = {shape.name: [] for shape in shapes}
        batches = [
            {shape.name: next_changes(source, shape, present[shape.name]) for shape in shapes}
            for _ in range(3)
        ]
        yield relation, shapes, batches


def examine(
    found: Found, relation: Rel, shapes: tuple[SourceShape, ...], batches: list[Batch]
) -> None:
    """Run all alternatives of a view, and choose among its plans."""
    tables = sources(relation)
    keys = {shape.name: ("k",) for shape in shapes if shape.names[0] == "k"}
    problem = Problem(relation, tables, len(batches), append_only=frozenset(tables), keys=keys)
    whole = expand(problem, switches=FREE)
    whole.memo.check()
    filled = Filled(whole, tables, shapes, batches)
    different = filled.differing()
    found.views += 1
    found.expressions += filled.tried
    found.unknown += len(filled.unknown)
    found.rules += whole.trace.fired
    found.different += [f"{name} of {to_text(relation)}" for name in different]
    if found.views % COMPARED == 0:
        compare(found, problem, shapes, batches)


def compare(
    found: Found, problem: Problem, shapes: tuple[SourceShape, ...], batches: list[Batch]
) -> None:
    """Choose from the space of all methods, and from that of each."""
    objective = weighted(["0.3"] * (problem.instants - 1) + [1])
    spaces = []
    for methods in (METHODS, *SINGLE):
        space = expand(problem, methods=methods)
        filled = Filled(space, problem.tables, shapes, batches)
        price = TupleCosts(filled).price
        spaces.append(
            space_of(space, [problem.instants], price, lambda _: (SAVE, LOAD), is_forgetful=False)
        )
    place, choice = choose_among(spaces, objective)
    keys = [choose(space, objective).key for space in spaces]
    found.won["greedy led astray" if place else "mixture"] += 1
    found.won["cheaper than every single method"] += choice.key < min(keys[1:])
    if choice.key > min(keys[1:]):
        found.dearer.append(to_text(problem.relation))


def run(views: int, seed: int) -> Found:
    """The campaign over so many views."""
    found = Found()
    for relation, shapes, batches in random_relations(views // 2, seed):
        examine(found, relation, shapes, batches)
    for relation, shapes, batches in random_trees(views // 4, seed):
        examine(found, relation, shapes, batches)
    for relation, shapes, batches in random_groupings(views - views // 2 - views // 4, seed):
        examine(found, relation, shapes, batches)
    return found


def main() -> int:
    """Run the campaign and write what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--views", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = run(arguments.views, arguments.seed)
    written: dict[str, Any] = {
        "seed": arguments.seed,
        **versions(),
        "views": found.views,
        "expressions": found.expressions,
        "unknown": found.unknown,
        "different": found.different,
        "dearer": found.dearer,
        "won": dict(sorted(found.won.items())),
        "rules": dict(sorted(found.rules.items())),
    }
    arguments.out.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(
        f"{found.views} views, {found.expressions} expressions, {len(found.different)} different, "
        f"{len(found.dearer)} dearer than a single method\n"
    )
    return 1 if found.different or found.dearer else 0


if __name__ == "__main__":
    raise SystemExit(main())
