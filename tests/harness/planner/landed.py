"""Sources of which all arrivals are there, and programs of plans that run between any two versions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from slacktide.optimizer.mirror import mirror_program
from slacktide.program.operator import Program
from slacktide.spark.tasks.task import Outcome, Task
from slacktide.store import update as u
from slacktide.store.record import Chain, Segment
from slacktide.store.store import Store
from tests.harness.objects import TickingClock
from tests.harness.plans import SourceShape
from tests.harness.workspace_on_spark import Rows, accepted, add_source, rows_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Versions = Mapping[str, int]


class Landed:
    """A workspace of sources, in which programs of several views run; states of one meaning are shared.

    Args:
        spark: the session.
        root: of the workspace.
        shapes: of the sources.
    """

    def __init__(self, spark: SparkSession, root: Path, shapes: Iterable[SourceShape]) -> None:
        self._spark = spark
        self._runs = 0
        self.store = Store.create(str(root), settings={}, clock=TickingClock())
        self.store.commit([add_source(shape) for shape in shapes])

    def accept(self, source: str, path: Path) -> None:
        """Accept a file of changes."""
        self.store.commit([accepted(source, path)])

    def mirror(self, source: str) -> None:
        """Write the current rows of a source, as a refresh does that needs them."""
        record = self.store.world().sources[source]
        program = mirror_program(source, record.schema)
        task = Task(source, program, {}, {source: record.version}, scopes={}, kind="source")
        self._commit(self._executed(task).chains)

    def execute(self, view: str, program: Program, start: Versions, end: Versions) -> None:
        """Run a program, and commit its states and its answer."""
        outcome = self.attempt(view, program, start, end)
        assert outcome.answer is not None
        answer = {f"views/{view}": (outcome.answer, outcome.answer_is_base)}
        self._commit({**outcome.chains, **answer})

    def attempt(self, view: str, program: Program, start: Versions, end: Versions) -> Outcome:
        """Run a program and commit nothing, so that another finds all as it was."""
        return self._executed(Task(view, program, start, end, scopes={}, kind="view"))

    def rows(self, segment: Segment) -> Rows:
        """Read what a run wrote, committed or not."""
        return rows_in(self.store, segment)

    def _executed(self, task: Task) -> Outcome:
        from slacktide.spark.tasks.executor import Executor

        self._runs += 1
        attempt, world = f"run-{self._runs}", self.store.world()
        executor = Executor(self._spark, self.store, world, attempt=attempt, now=TickingClock()())
        return executor.run(task)

    def _commit(self, chains: Mapping[str, tuple[Segment, bool]]) -> None:
        assert all(is_base for _, is_base in chains.values())
        self.store.commit(
            [u.SetChain(Chain(chain, (), segment)) for chain, (segment, _) in chains.items()]
        )
