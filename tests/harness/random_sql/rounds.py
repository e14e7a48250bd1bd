"""A round: some views over one stream in one workspace, and what is kept of it."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.harness.eager import are_eager
from tests.harness.random_sql import random_view, random_view_over
from tests.harness.random_sql.arena import COPIES, Arena, Seen
from tests.harness.random_sql.moves import MOVES
from tests.harness.random_sql.nodes import QUERY, Leaf, Node, constructs, sql
from tests.harness.random_sql.outputs import TIES
from tests.harness.random_sql.shrinking import Case
from tests.harness.random_sql.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OVER = 5
START = -1
"""The place of the first run before the batches."""
LATE = 0.25
"""The share of the views that are added later, where some are."""
METHODS = {"incremental": "i", "full": "F", "unchanged": "u", "failed": "x", "states-only": "s"}


def is_read(seed: int, tree: Node) -> bool:
    """Whether another view is written over that of a seed: over every fifth, unless ties leave it several answers.

    Which rows of a tie a LIMIT keeps is Spark's to say, and may differ where another view reads them.
    """
    return seed % OVER == 0 and TIES not in constructs(tree)


@dataclass
class ViewStory:
    """What happened to one view, one letter for each run since it was added.

    Attributes:
        name: ``v`` and its seed, or ``o`` and the seed of the view that it reads.
        methods: i(ncremental), F(ull), u(nchanged), s(tates only) or x for a failure that batch has, too.
        answers: ``-`` empty, ``=`` as before, ``*`` changed.
        reasons: codes of why a run after the first was full.
        constructs: named parts of SQL that the view has.
        wrong: what is wrong, with the number of the run; empty where every answer is equal.
    """

    name: str
    methods: str = ""
    answers: str = ""
    reasons: list[str] = field(default_factory=list)
    constructs: list[str] = field(default_factory=list)
    wrong: str = ""

    def add(self, seen: Seen) -> None:
        """Add a run."""
        is_first = not self.methods
        self.methods += METHODS[seen.method]
        self.answers += "-" if not seen.rows else "*" if seen.changed else "="
        if seen.method == "full" and not is_first:
            codes = {reason.split("(")[0] for reason in seen.reasons}
            self.reasons = sorted({*self.reasons, *codes})
        if seen.wrong and not self.wrong:
            self.wrong = f"run {len(self.methods)}: {seen.wrong}"


@dataclass
class Round:
    """What is kept of a round.

    Attributes:
        number: which round, and the seed of its stream.
        cases: the case that each batch is, or the move that each run belongs to.
        refused: why Spark refused views, by name.
    """

    number: int
    cases: list[str] = field(default_factory=list)
    views: list[ViewStory] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The form that is written."""
        return asdict(self)


class Player:
    """Plays one round.

    Args:
        spark: a running session.
        root: an empty folder.
        number: of the round.
        seeds: of the views.
    """

    def __init__(self, spark: SparkSession, root: Path, number: int, seeds: Sequence[int]) -> None:
        self.stream = Stream(number)
        self.arena = Arena(spark, root, COPIES)
        self.round = Round(number)
        self.failures: list[Case] = []
        self._trees: dict[str, Node] = {name: Leaf(text, QUERY) for name, text in COPIES.items()}
        self._stories: dict[str, ViewStory] = {name: ViewStory(name) for name in COPIES}
        self._added: dict[str, int] = dict.fromkeys(COPIES, 0)
        self.add(seeds)

    def load(self, *, compare: bool = True) -> None:
        """The first run."""
        self._tell("initial", self.arena.step(self.stream.initial(), compare=compare))

    def batches(self, count: int) -> None:
        """Batches, with a run after each."""
        for _ in range(count):
            name, batch = self.stream.batch()
            self._tell(name, self.arena.step(batch))

    def batches_and_views(self, count: int, seeds: Mapping[int, Sequence[int]]) -> None:
        """Batches, with more views before some of them, by its place."""
        for place in range(count):
            self.add(seeds.get(place, ()))
            self.batches(1)

    def days(self, count: int, refreshes: int) -> None:
        """Days of some refreshes, of which the last answers."""
        for _ in range(count):
            for turn in range(1, refreshes + 1):
                name, batch = self.stream.batch()
                is_due = turn == refreshes
                self._tell(name, self.arena.step(batch, compare=is_due), is_answered=is_due)

    def together(self, count: int) -> None:
        """Batches that one run takes in."""
        named = [self.stream.batch() for _ in range(count)]
        cases = ", ".join(name for name, _ in named)
        self._tell(cases, self.arena.step(*(batch for _, batch in named)))

    def moves(self, names: Sequence[str] = tuple(MOVES)) -> None:
        """Metamorphic moves, one after another."""
        for name in names:
            for run in MOVES[name](self.arena, self.stream):
                self._tell(name, run)

    def add(self, seeds: Sequence[int]) -> None:
        """Add views, and over some of them another one."""
        for seed in seeds:
            self._add(f"v{seed}", tree := random_view(seed), tree)
            if is_read(seed, tree) and f"v{seed}" in self.arena.views:
                self._add(f"o{seed}", *random_view_over(seed, f"v{seed}"))

    def _add(self, name: str, text: Node, tree: Node) -> None:
        self.arena.add({name: sql(text)})
        if name in self.arena.refused:
            self.round.refused[name] = self.arena.refused[name]
            return
        if name in self.arena.crashed:
            wrong = self.arena.crashed[name]
            self.failures.append(Case(tree, [], wrong, f"view {name}", eager=are_eager()))
            self.round.views.append(ViewStory(name, wrong=wrong))
            return
        over = ["view over a view"] if text is not tree else []
        if TIES in constructs(tree):
            self.arena.tied.add(name)
        self._trees[name] = tree
        self._added[name] = len(self.arena.history)
        self._stories[name] = ViewStory(name, constructs=sorted([*constructs(tree), *over]))
        self.round.views.append(self._stories[name])

    def _tell(self, case: str, run: Mapping[str, Seen], *, is_answered: bool = True) -> None:
        self.round.cases.append(case)
        for name, seen in run.items():
            story = self._stories[name]
            if seen.wrong and not story.wrong:
                self.failures.append(self._case(name, seen.wrong, case))
                if name in COPIES:
                    self.round.views.append(story)
            story.add(seen)
        if is_answered and not any(self._stories[name].wrong for name in COPIES):
            self.arena.check_sources()

    def _case(self, name: str, wrong: str, case: str) -> Case:
        """What is needed to play again what has happened to a view."""
        return Case(
            self._trees[name],
            list(self.arena.history),
            wrong,
            f"view {name}, stream {self.round.number}, {case}",
            are_eager(),
            self._added[name],
            dict(self.arena.removals),
        )


def entries(number: int, seeds: Sequence[int], batches: int) -> dict[int, list[int]]:
    """The views of a round with moves by the batch before which they come, which for most is the first run."""
    dice = random.Random(f"entries {number}")  # noqa: S311 - tests, not secrets
    found: dict[int, list[int]] = {}
    for seed in seeds:
        place = dice.randrange(batches) if batches and dice.random() < LATE else START
        found.setdefault(place, []).append(seed)
    return found


def play(
    spark: SparkSession, number: int, seeds: Sequence[int], *, batches: int, moves: bool
) -> tuple[Round, list[Case]]:
    """Play a whole round in a folder of its own; give what happened and what was wrong.

    In a round with moves some views are added after other batches.
    """
    seeds_at = entries(number, seeds, batches) if moves else {START: seeds}
    with tempfile.TemporaryDirectory(prefix="random-views-") as folder:
        player = Player(spark, Path(folder), number, seeds_at.get(START, ()))
        player.load()
        player.batches_and_views(batches, seeds_at)
        if moves:
            player.moves()
        return player.round, player.failures
