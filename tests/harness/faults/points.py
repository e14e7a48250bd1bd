"""The steps of a refresh that leave something behind, or may: counted, and stopped at.

A refresh writes through the object store and through Spark, and asks Spark for rows. `Points` counts
all of these in one thread and stops that thread before one of them, or in the middle of a write of
Spark. A thread that was stopped stays where it is, as a process that was killed runs none of its
``finally`` clauses, until the test is over with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from slacktide import store as s
from slacktide.engine.intake import quarantine
from slacktide.store import pointers
from slacktide.store.objects import ObjectStore, connect
from slacktide.store.pointers import PointerLink
from tests.harness.objects import FaultyObjects, Killed

PATIENCE = 300.0
WRITES = ("put", "put_if_absent", "delete")
_TOKENS = re.compile(
    r"/[0-9a-f]{32}(?=/|$)"  # of attempts
    r"|[^/ ]+/(?=outside/)|\d{12,20}-[0-9a-f]{16}(-[0-9a-f]+)?"  # of editions, and of what misfits
    r"|(?<=states/)[0-9a-f]+|(?<=log/)\d+|(?<=plans/)[0-9a-f]+"
    r"|/\.?part-.*"  # names that Spark gives, and what else one call deletes
)
_ACTIONS = ("collect", "count", "localCheckpoint", "toArrow", "toLocalIterator")


@dataclass(frozen=True, slots=True)
class Point:
    """Where a process ends: before a step, or with half of what it writes."""

    step: int
    when: str = "before"


@dataclass
class Points:
    """Counts the steps of one process.

    Attributes:
        stop_at: where it ends; None for nowhere.
        steps: what was reached, without names that differ from attempt to attempt.
    """

    stop_at: Point | None = None
    steps: list[str] = field(default_factory=list)
    _stopped: Event = field(default_factory=Event)
    _released: Event = field(default_factory=Event)

    def reach(self, step: str) -> bool:
        """Stop before a step; tell whether it is one to stop in the middle of."""
        now = self.stop_at is not None and len(self.steps) == self.stop_at.step
        self.steps.append(_TOKENS.sub(_anonymous, step))
        if now and self.stop_at is not None and self.stop_at.when == "before":
            self.stop()
        return now

    def stop(self) -> None:
        """Stay here; nothing of ours is unwound before the end of the test."""
        self._stopped.set()
        self._released.wait(PATIENCE)
        raise Killed

    @contextmanager
    def stopped(self, act: Callable[[], Any]) -> Iterator[list[Any]]:
        """Let a process act until it stops or is done; give what it gave, if it is done."""
        given: list[Any] = []

        def process() -> None:
            _PROCESS.set(self)
            try:
                given.append(act())
            except BaseException as error:  # noqa: BLE001 - told to the test
                given.append(error)
            finally:
                self._stopped.set()

        thread = Thread(target=process, daemon=True)
        thread.start()
        assert self._stopped.wait(PATIENCE)
        try:
            yield given
        finally:
            self._released.set()
            thread.join(PATIENCE)


def _anonymous(token: re.Match[str]) -> str:
    return "/…" if token[0].startswith("/") else "…"


_PROCESS: ContextVar[Points | None] = ContextVar("process", default=None)


def counted(objects: s.Objects) -> FaultyObjects:
    """Objects whose writes are steps of the process that writes."""

    def hook(name: str, key: str) -> None:
        process = _PROCESS.get()
        if process is not None and name in WRITES:
            process.reach(f"{name} {key}")

    return FaultyObjects(objects, hook=hook)


@contextmanager
def counting_spark() -> Iterator[None]:
    """Let what processes ask of Spark, and what they write beside the workspace, be steps, too."""
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

    with pytest.MonkeyPatch.context() as patch:
        for name in _ACTIONS:
            patch.setattr(DataFrame, name, _action(getattr(DataFrame, name)))
        patch.setattr(DataFrameWriter, "parquet", _write(DataFrameWriter.parquet))
        patch.setattr(PointerLink, "switch", _switch(PointerLink.switch))
        for module in (pointers, quarantine):
            patch.setattr(module, "connect", _connect(connect))
        yield


def _connect(call: Callable[..., ObjectStore]) -> Callable[..., s.Objects]:
    @wraps(call)
    def connected(*arguments: Any, **named: Any) -> s.Objects:
        found = call(*arguments, **named)
        return found if _PROCESS.get() is None else counted(found)

    return connected


def _switch(call: Callable[..., bool]) -> Callable[..., bool]:
    @wraps(call)
    def switched(*arguments: Any) -> bool:
        process = _PROCESS.get()
        if process is not None:
            process.reach("switch")
        return call(*arguments)

    return switched


def _action(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def acted(*arguments: Any, **named: Any) -> Any:
        process = _PROCESS.get()
        if process is not None:
            process.reach(f"spark {call.__name__}")
        return call(*arguments, **named)

    return acted


def _write(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def written(writer: Any, path: str, *arguments: Any, **named: Any) -> Any:
        process = _PROCESS.get()
        if process is None:
            return call(writer, path, *arguments, **named)
        target = Path(path.removeprefix("file:"))
        is_torn = process.reach(f"spark write {'/'.join(target.parts[-4:])}")
        try:
            return call(writer, path, *arguments, **named)
        finally:  # of a write that fails by itself, too
            if is_torn:
                _tear(target)
                process.stop()

    return written


def _tear(target: Path) -> None:
    """Leave what a write leaves that is killed in the middle: half of a file, and its folders."""
    for path in sorted(target.glob("*.parquet")):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (target / "_temporary" / "0").mkdir(parents=True, exist_ok=True)
    (target / "_temporary" / "0" / "part.zstd.parquet").write_bytes(b"PAR1")


def points(steps: Sequence[str]) -> list[Point]:
    """All the points of a process with these steps; the last one is its end."""
    before = [Point(place) for place in range(len(steps) + 1)]
    within = [Point(n, "half") for n, step in enumerate(steps) if step.startswith("spark write")]
    return [*before, *within]
