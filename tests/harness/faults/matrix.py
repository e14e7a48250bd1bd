"""One kind of view on the bench: its run ends at a point, a reader looks, and the plan is retried."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from slacktide.engine.reports import Report
from slacktide.engine.workspace import Workspace
from slacktide.errors import SlacktideError, UnknownObjectError
from slacktide.store.entry import decode_entry
from slacktide.store.garbage import GRACE
from slacktide.store.record import Chain, Period
from slacktide.store.update import NoteStatistics
from tests.harness.faults.kind import Kind
from tests.harness.faults.outside import Outside
from tests.harness.faults.points import Point, Points, counted, points
from tests.harness.lab import Lab, bag, canonical
from tests.harness.shop import Shop, segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answers = dict[str, Counter[Any]]
Periods = Mapping[str, Period | None]


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one point; `wrong` is empty where all is as it should be."""

    point: Point
    step: str
    wrong: str = ""

    def to_dict(self) -> dict[str, str]:
        """The form in which a campaign keeps it."""
        told = {"when": self.point.when, "step": self.step}
        return told | ({"wrong": self.wrong} if self.wrong else {})


@dataclass(frozen=True, slots=True)
class _End:
    """How an undisturbed run ends."""

    report: Report
    answers: Answers
    stored: Mapping[str, Counter[Any]]
    periods: Periods
    misfits: Mapping[str, bytes]


class Bench:
    """A kind in a folder of its own; every point begins with the same workspace at the same place."""

    def __init__(self, spark: SparkSession, folder: Path, kind: Kind) -> None:
        self._spark = spark
        self._kind = kind
        lab = Lab(spark, folder)
        self._shop = Shop(folder, lab.ws, kind.prepare(lab))
        self._kept = folder / "kept"
        self._shop.root.rename(self._kept)
        self._outside = Outside(folder)
        self._restore()
        self._old = self._answers()
        self._begun = self._periods()
        self._run = max(self._shop.world().runs, default=0)
        self.steps = self._count()
        self._end = self._ended()

    def points(self) -> list[Point]:
        """Where the run may end."""
        return points(self.steps)

    def end_at(self, point: Point) -> Found:
        """Let the run end at a point; look, retry, and look again."""
        step = self.steps[point.step] if point.step < len(self.steps) else "end"
        self._restore()
        disturbed = Points(point)
        workspace = self._shop.another(counted)
        plan = self._shop.plan_id
        with disturbed.stopped(lambda: workspace.refresh(self._spark, plan)) as given:
            try:
                if step == "end":
                    assert isinstance(given[0], Report), given
                else:
                    assert given == []
                reached = disturbed.steps[: point.step]
                assert reached == self.steps[: point.step], "the run took other steps"
                is_committed = plan in self._shop.world().plans
                self._look(is_committed=is_committed)
                self._retry()
            except (AssertionError, SlacktideError) as wrong:
                return Found(point, step, " ".join(f"{type(wrong).__name__}: {wrong}".split()))
        return Found(point, step)

    # ------------------------------------------------------------- one by one

    def _restore(self) -> None:
        shutil.rmtree(self._shop.root, ignore_errors=True)
        shutil.copytree(self._kept, self._shop.root)
        self._outside.restore()

    def _count(self) -> list[str]:
        """The steps of an undisturbed run."""
        from slacktide.spark.measures.metrics import Meter

        counting, meter = Points(), Meter(self._spark)
        workspace, since = self._shop.another(counted), meter.mark()
        with counting.stopped(lambda: workspace.refresh(self._spark, self._shop.plan_id)) as given:
            assert isinstance(given[0], Report), given
        actions = sum(step.startswith("spark ") for step in counting.steps)
        worked = self._executions(since, meter.mark())
        assert worked <= actions, f"of {worked} executions only {actions} are counted as steps"
        return counting.steps

    def _executions(self, since: int, until: int) -> int:
        """How many executions between two marks had Spark work."""
        store = self._spark._jsparkSession.sharedState().statusStore()
        found = [store.execution(number) for number in range(since + 1, until + 1)]
        return sum(1 for one in found if one.isDefined() and one.get().jobs().size())

    def _ended(self) -> _End:
        report = self._shop.another().report(self._shop.plan_id)
        assert report is not None
        methods = {name: view.method for name, view in report.views.items()}
        assert methods == self._kind.methods, methods
        commits = sum(step.startswith("put_if_absent log/") for step in self.steps)
        assert commits - self._noted() == self._kind.commits, self.steps
        assert self._kind.shown(report, self.steps), report.to_dict()
        assert self._shop.another().verify(self._spark).equal
        return _End(
            report, self._answers(), self._stored(), self._periods(), self._outside.misfits()
        )

    def _noted(self) -> int:
        """How many entries of an undisturbed run note what is known of columns, which is told by files alone."""
        before = {path.name for path in (self._kept / "log").glob("*.json")}
        written = (self._shop.root / "log").glob("*.json")
        entries = [
            decode_entry(path.read_bytes(), str(path))
            for path in written
            if path.name not in before
        ]
        return sum(
            all(isinstance(one, NoteStatistics) for one in entry.updates) for entry in entries
        )

    def _look(self, *, is_committed: bool) -> None:
        """A reader sees the last answer or the next one, and nothing of what is under way."""
        found = self._answers()
        self._look_outside(is_committed=is_committed)
        if is_committed:
            assert self._same(found), "a reader sees neither answer after the commit"
            return
        is_dropped = {name for name in self._old if name not in found}
        assert not is_dropped or not self._kind.keeps_history, f"{is_dropped} lost the answer"
        seen = {name: rows for name, rows in self._old.items() if name not in is_dropped}
        assert found == seen, "a reader sees what is not committed"
        assert self._periods() == self._begun, "a refresh counts that is not committed"
        assert max(self._shop.world().runs, default=0) == self._run
        assert self._shop.another().status().runs == self._run

    def _look_outside(self, *, is_committed: bool) -> None:
        """Who reads what is published sees one answer or the other, whole."""
        for name, rows in self._outside.published().items():
            is_next = is_committed and rows == self._end.answers[name]
            assert is_next or rows == self._old[name], f"{name} is published as it never was"

    def _retry(self) -> None:
        """A process that knows nothing of the first attempt ends where an undisturbed run does."""
        workspace, end = self._shop.another(), self._end
        report = workspace.refresh(self._spark, self._shop.plan_id)
        assert report.run == end.report.run
        assert report.versions == end.report.versions
        assert {n: v.method for n, v in report.views.items()} == self._kind.methods
        assert self._kind.shown(report, self.steps), "the retry goes another way"
        assert self._periods() == end.periods, "a period stands elsewhere"
        answers = self._answers()
        assert self._same(answers), "the answers are others"
        if self._kind.is_repeatable:
            assert self._stored() == end.stored, "states or mirrors are others"
        assert workspace.verify(self._spark).equal, "verify finds a difference"
        self._lead_on(workspace, answers)
        again = workspace.refresh(self._spark, self._shop.plan_id)
        assert again == replace(report, sinks={})
        self._shop.check()
        self._retried_outside(answers)
        self._collect()

    def _retried_outside(self, answers: Answers) -> None:
        """What lies beside the workspace is what an undisturbed run leaves there."""
        published = self._outside.published()
        assert [*published] == [*self._shop.another().sinks()], "a sink is empty"
        assert published == {name: answers[name] for name in published}, (
            "an old answer is published"
        )
        assert self._outside.misfits() == self._end.misfits, "other rows are kept apart"

    def _lead_on(self, workspace: Workspace, answers: Answers) -> None:
        """The changes since the run before lead from its answer to the new one."""
        if not self._kind.keeps_history:
            return
        for name, rows in answers.items():
            led = Counter(self._old.get(name, Counter()))
            for row, count in self._changes(workspace, name).items():
                led[row] += count
            assert {row: n for row, n in led.items() if n} == rows, f"changes of {name}"

    def _collect(self) -> None:
        """What the first attempt left is garbage, and nothing else is."""
        now = datetime.now(UTC)  # noqa: TID251 - files carry real times
        self._shop.another(clock=lambda: now + GRACE + timedelta(minutes=1)).gc()
        left = self._shop.files() - self._shop.named()
        assert not left, f"{sorted(left)} is left"
        assert set(self._outside.editions()) <= {1}, "an edition is left"
        self._shop.check()

    # ---------------------------------------------------------------- looking

    def _same(self, answers: Answers) -> bool:
        if self._kind.is_repeatable:
            return answers == self._end.answers
        return {n: rows.total() for n, rows in answers.items()} == {
            n: rows.total() for n, rows in self._end.answers.items()
        }

    def _answers(self) -> Answers:
        """What a reader sees of each view that has an answer."""
        workspace, found = self._shop.another(), {}
        for name in self._shop.world().views:
            try:
                rows = workspace.read(self._spark, name).collect()
            except UnknownObjectError:
                continue
            found[name] = bag(tuple(row) for row in rows)
        return found

    def _changes(self, workspace: Workspace, name: str) -> Counter[Any]:
        signed: Counter[Any] = Counter()
        for *row, kind, _ in workspace.changes(self._spark, name, since=self._run).collect():
            signed[tuple(map(canonical, row))] += 1 if kind == "insert" else -1
        return Counter({row: count for row, count in signed.items() if count})

    def _stored(self) -> dict[str, Counter[Any]]:
        """The rows of every state and mirror, whatever pieces they lie in."""
        return {
            chain.id: self._sum(chain)
            for chain in self._shop.world().chains.values()
            if chain.id.startswith(("states/", "sources/"))
        }

    def _periods(self) -> Periods:
        """Where each view stands between two answers."""
        return {name: view.period for name, view in self._shop.world().views.items()}

    def _sum(self, chain: Chain) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for segment in segments(chain):
            for file in segment.files:
                columns = pq.read_table(self._shop.root / file.path, partitioning=None).to_pydict()
                counts = columns.pop("__m", None)
                rows = [*zip(*columns.values(), strict=True)]
                for row, count in zip(rows, counts or [1] * len(rows), strict=True):
                    found[tuple(map(canonical, row))] += count
        return Counter({row: count for row, count in found.items() if count})
