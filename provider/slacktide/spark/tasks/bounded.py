"""Giving up what Spark is at work on, once its tasks have taken more CPU than they may.

A thread besides looks at Spark's own status store. That tells the CPU of tasks that have ended; those at work still
count by their time, at the share of CPU that ended ones had, so that of a first stage nothing is seen before one of
its tasks has ended. What ends before the first look is let be.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from slacktide.spark.measures.metrics import GONE, NANOSECONDS, told_of_stage
from slacktide.spark.sessions.classes import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PERIOD: Final = 0.1
"""Seconds from one look to the next; a look takes some milliseconds."""
LEAST: Final = 0.25
"""Seconds of CPU that any write may take: what is left to do is soon done."""
_PATIENCE: Final = 10.0
"""Seconds to wait for a look that Spark does not answer."""
_MILLISECONDS: Final = 1e3
_NUMBERS = count()


@dataclass(slots=True)
class Bound:
    """What a look has found to be too much.

    Attributes:
        seconds: CPU that tasks had taken when jobs were cancelled last; None where none were.
    """

    seconds: float | None = None


@dataclass(slots=True)
class _Stage:
    """CPU time and time of a stage's tasks that have ended, and time of all of them, in seconds."""

    cpu: float = 0.0
    ended: float = 0.0
    begun: float = 0.0

    @property
    def running(self) -> float:
        """Time of the tasks that are at work."""
        return max(self.begun - self.ended, 0.0)


@contextmanager
def bounded(session: SparkSession, most: float | None) -> Iterator[Bound]:
    """Cancel the jobs of this thread once their tasks have taken more CPU than they may.

    What is cancelled fails, unless it has ended by then.

    Args:
        session: any session of the application.
        most: seconds of CPU of tasks, at least `LEAST`; None for no end.
    """
    bound = Bound()
    if most is None:
        yield bound
        return
    context, ended = session.sparkContext, threading.Event()
    tag = f"slacktide-bounded-{next(_NUMBERS)}"
    spent = Spent(session, tag)

    def watch(most: float) -> None:
        while not ended.wait(PERIOD):
            try:
                seconds = spent.seconds()
                if seconds > most:
                    # Between two jobs there is none to cancel: the next one is met by the next look.
                    bound.seconds = seconds
                    context.cancelJobsWithTag(tag)
            except GONE:  # so has what is at work
                return

    watcher = threading.Thread(target=watch, args=(max(most, LEAST),), name=tag, daemon=True)
    try:
        context.addJobTag(tag)
        watcher.start()
        yield bound
    finally:
        ended.set()
        with suppress(*GONE):
            context.removeJobTag(tag)
        if watcher.is_alive():
            watcher.join(_PATIENCE)


class Spent:
    """The CPU that tasks have taken, of all jobs that carry a tag.

    Args:
        session: any session of the application.
        tag: of the jobs.
    """

    def __init__(self, session: SparkSession, tag: str) -> None:
        context = session.sparkContext._jsc.sc()
        self._tracker, self._store = context.statusTracker(), context.statusStore()
        self._system = java_class(session, "java.lang.System")
        self._tag = tag
        self._stages: dict[int, _Stage] = {}
        self._ended: set[int] = set()
        self._looked = 0.0

    def seconds(self) -> float:
        """Look, and give the seconds of CPU by now; the more looks there are, the nearer to what it is."""
        now = self._system.currentTimeMillis() / _MILLISECONDS
        for number in self._numbers() - self._ended:
            told = told_of_stage(self._store, number)
            if told is not None:
                stage = self._stages.setdefault(number, _Stage())
                self._take(stage, told, now)
                if not told.completionTime().isEmpty():
                    # A look asks Spark several times for each stage, and what has ended tells no more.
                    stage.begun = stage.ended
                    self._ended.add(number)
        self._looked = now
        stages = self._stages.values()
        cpu, ended = sum(one.cpu for one in stages), sum(one.ended for one in stages)
        usual = cpu / ended if ended else 0.0
        return cpu + sum(
            one.running * (one.cpu / one.ended if one.ended else usual) for one in stages
        )

    def _numbers(self) -> set[int]:
        jobs = [self._tracker.getJobInfo(job) for job in self._tracker.getJobIdsForTag(self._tag)]
        return {int(one) for job in jobs if not job.isEmpty() for one in job.get().stageIds()}

    def _take(self, stage: _Stage, told: Any, now: float) -> None:
        stage.cpu = told.executorCpuTime() / NANOSECONDS
        stage.ended = told.executorRunTime() / _MILLISECONDS
        began = told.firstTaskLaunchedTime()
        if not began.isEmpty():
            since = max(self._looked, began.get().getTime() / _MILLISECONDS)
            stage.begun = max(stage.begun, stage.ended) + int(told.numActiveTasks()) * (now - since)
