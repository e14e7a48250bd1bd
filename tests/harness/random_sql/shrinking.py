"""From a failure to a small one of the same kind: fewer batches, fewer rows, less SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.harness.eager import eagerly
from tests.harness.lab import canonical
from tests.harness.random_sql.arena import COPIES, Arena
from tests.harness.random_sql.changes import (
    AFTER,
    BEFORE,
    DELETE,
    INSERT,
    Batch,
    from_json,
    to_json,
)
from tests.harness.random_sql.nodes import QUERY, Leaf, Node, smaller, sql
from tests.harness.random_sql.removals import Removal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = {BEFORE: DELETE, AFTER: INSERT}


@dataclass(frozen=True, slots=True)
class Case:
    """A view, the batches that it goes through, and what was wrong at the end.

    Attributes:
        view: the tree of its text; a leaf where only the text is known.
        batches: the initial load first.
        wrong: what was seen; empty where all is well.
        origin: from where it comes, in words.
        eager: whether views remember all joins that they may.
        added: how many batches there were before the view.
        removals: what is removed by hand before a batch, by its place.
    """

    view: Node
    batches: Sequence[Batch]
    wrong: str = ""
    origin: str = ""
    eager: bool = False
    added: int = 0
    removals: Mapping[int, Removal] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of what is wrong."""
        return self.wrong.split(":")[0]

    def to_dict(self) -> dict[str, Any]:
        """The form of a fixture."""
        return {
            "sql": sql(self.view),
            "wrong": self.wrong,
            "origin": self.origin,
            **self._circumstances(),
            "batches": to_json(self.batches),
        }

    def _circumstances(self) -> dict[str, Any]:
        """What is said only where it is not as usual."""
        removals = {str(place): one.to_dict() for place, one in sorted(self.removals.items())}
        told = {"eager": self.eager, "added": self.added, "removals": removals}
        return {key: value for key, value in told.items() if value}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Case:
        """Read a fixture."""
        view = Leaf(document["sql"], QUERY)
        removals = document.get("removals", {})
        return cls(
            view,
            from_json(document["batches"]),
            document["wrong"],
            document["origin"],
            document.get("eager", False),
            document.get("added", 0),
            {int(place): Removal.from_dict(one) for place, one in removals.items()},
        )


def replay(spark: SparkSession, root: Path, case: Case) -> Case:
    """Run a case in a workspace of its own, up to the first batch after which something is wrong."""
    with eagerly(really=case.eager):
        arena = Arena(spark, root, COPIES if case.added else {})
        for batch in case.batches[: case.added]:
            arena.step(batch)
        arena.add({"v": sql(case.view)})
        if "v" not in arena.views:
            return replace(case, batches=[], wrong=arena.crashed.get("v", ""))
        for number, batch in enumerate(case.batches[case.added :], case.added):
            if number in case.removals:
                arena.remove(case.removals[number])
            seen = arena.step(batch)["v"]
            if seen.wrong:
                return replace(case, batches=case.batches[: number + 1], wrong=seen.wrong)
    return replace(case, wrong="")


@dataclass
class Shrinker:
    """Shrinks one case.

    Args:
        runs: runs a case in a fresh folder and says what is wrong.
        most: how many runs it may take.
        resolves: whether a text resolves, so that a run is worth its while.
    """

    runs: Callable[[Case], Case]
    resolves: Callable[[str], bool]
    most: int = 150
    tried: set[str] = field(default_factory=set)

    def shrink(self, case: Case) -> Case:
        """The smallest case of the same kind that is found; the case itself if it does not recur."""
        found = self.runs(case)
        if found.kind != case.kind or not found.wrong:
            return case
        before = None
        while found is not before:
            before = found
            for candidates in (_more_usual, _fewer_batches, _less_sql, _fewer_rows):
                found = self._greedily(found, candidates)
        return found

    def _greedily(self, case: Case, candidates: Callable[[Case], Iterator[Case]]) -> Case:
        """Take the first smaller case that is wrong in the same way, until there is none."""
        while True:
            better = next(filter(None, map(self._recurs, candidates(case))), None)
            if better is None:
                return case
            case = replace(better, origin=case.origin)

    def _recurs(self, case: Case) -> Case | None:
        text = sql(case.view)
        image = str(replace(case, wrong="", origin="").to_dict())
        if image in self.tried or len(self.tried) >= self.most or not self.resolves(text):
            return None
        self.tried.add(image)
        found = self.runs(case)
        return found if found.wrong and found.kind == case.kind else None


def _more_usual(case: Case) -> Iterator[Case]:
    """Take away what is not as usual; what is removed has names that another text does not: then all is."""
    if case.eager:
        yield replace(case, eager=False)
    if case.added:
        yield replace(case, added=0)
    for place, removal in case.removals.items():
        others = {other: one for other, one in case.removals.items() if other != place}
        yield replace(case, removals=others)
        if removal.chains:
            yield replace(case, removals={**others, place: replace(removal, chains=())})


def _less_sql(case: Case) -> Iterator[Case]:
    for view in smaller(case.view):
        yield replace(case, view=view)


def _fewer_batches(case: Case) -> Iterator[Case]:
    """Join the initial load with what follows, drop a source, and make updates plain."""
    batches = case.batches
    for place in range(len(batches) - 1):
        joined = [*batches[place], *batches[place + 1]]
        yield replace(
            case,
            batches=[*batches[:place], joined, *batches[place + 2 :]],
            added=case.added - (place < case.added),
            removals={n - (n > place): removal for n, removal in case.removals.items()},
        )
    if any(kind in PLAIN for batch in batches for _, changes in batch for kind, _ in changes):
        yield replace(case, batches=[_plain(batch) for batch in batches])
    for source in sorted({source for batch in batches for source, _ in batch}):
        kept = [[file for file in batch if file[0] != source] for batch in batches]
        yield replace(case, batches=kept)


def _plain(batch: Batch) -> Batch:
    return [
        (source, [(PLAIN.get(kind, kind), row) for kind, row in changes])
        for source, changes in batch
    ]


def _fewer_rows(case: Case) -> Iterator[Case]:
    """Leave rows out, with all that happens to them: half of them, a quarter, single ones."""
    case = replace(case, batches=[_plain(batch) for batch in case.batches])
    lives = list(
        dict.fromkeys(
            (source, canonical(row))
            for batch in case.batches
            for source, changes in batch
            for _, row in changes
        )
    )
    size = len(lives) // 2
    while size:
        for start in range(0, len(lives), size):
            gone = set(lives[start : start + size])
            yield replace(case, batches=[_without(batch, gone) for batch in case.batches])
        size //= 2


def _without(batch: Batch, gone: set[tuple[str, Any]]) -> Batch:
    kept = (
        (source, [change for change in changes if (source, canonical(change[1])) not in gone])
        for source, changes in batch
    )
    return [(source, changes) for source, changes in kept if changes]


def shrinker(spark: SparkSession, most: int = 150) -> Shrinker:
    """A shrinker whose runs are real."""
    numbers = count()

    def run(case: Case) -> Case:
        with tempfile.TemporaryDirectory(prefix=f"case-{next(numbers)}-") as folder:
            return replay(spark, Path(folder), case)

    return Shrinker(run, _Resolver(spark), most)


class _Resolver:
    """Whether texts resolve over the sources, without a row."""

    def __init__(self, spark: SparkSession) -> None:
        from tests.harness.random_sql.schema import TABLES

        self._session = spark.newSession()
        for table in TABLES.values():
            self._session.createDataFrame([], table.ddl).createOrReplaceTempView(table.name)

    def __call__(self, text: str) -> bool:
        from pyspark.errors import PySparkException

        try:
            self._session.sql(text)
        except PySparkException:
            return False
        return True
