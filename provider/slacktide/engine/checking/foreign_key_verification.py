"""Checking declared keys and foreign keys over whole sources, and what the log says of them then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from slacktide.common.clock import Clock
from slacktide.engine.intake.pinning import check_windows, snapshot_windows
from slacktide.engine.planning.foreign_key_check import Check, columns_of, null_keys, repeated_keys
from slacktide.engine.planning.foreign_keys import (
    Declared,
    declared,
    doubts,
    example,
    foreign_key_of,
)
from slacktide.engine.planning.how_far import taken_in
from slacktide.engine.sources.pins import check_unmoved
from slacktide.program.operator import Operator, Program
from slacktide.spark.tasks.task import Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import ForeignKeyRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.spark.tasks.executor import Executor
    from slacktide.store.store import Store

_EXAMPLES = 3
_UNDECLARED = "is not declared any more"
Kind = Literal["key", "foreign key"]


@dataclass(frozen=True, slots=True)
class KeyCheck:
    """What was found of one declared key or foreign key.

    Attributes:
        name: the key or the foreign key as text.
        violations: keys that are NULL or on several rows; or to which rows refer and that are not there.
        examples: some of these keys.
        obstacle: why nothing was checked; empty where it was.
    """

    kind: Kind
    name: str
    violations: int
    examples: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def holds(self) -> bool:
        """Whether it was checked and holds."""
        return not self.violations and not self.obstacle

    @property
    def line(self) -> str:
        """What was found, in words."""
        return f"{self.kind} {self.name}: {self.finding}"

    @property
    def finding(self) -> str:
        """The same without the name."""
        if self.obstacle:
            return f"not checked, as {self.obstacle}"
        if not self.violations:
            return "ok"
        shown = "; ".join(self.examples)
        more = "; …" if self.violations > len(self.examples) else ""
        violate = "key violates" if self.violations == 1 else "keys violate"
        return f"{self.violations} {violate} it: {shown}{more}"


@dataclass(frozen=True, slots=True)
class ForeignKeyVerification:
    """What was found of all that sources declare.

    Attributes:
        versions: of the sources, as of which all was checked.
        doubted: views whose answers went by a foreign key that does not hold.
    """

    checks: tuple[KeyCheck, ...]
    versions: Mapping[str, int]
    doubted: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all holds."""
        return all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "holds": self.holds,
            "checks": [{**asdict(check), "holds": check.holds} for check in self.checks],
            "versions": dict(self.versions),
            "doubted": list(self.doubted),
        }


class ForeignKeyVerifier:
    """Checks what the sources of a workspace declare."""

    def __init__(self, store: Store, spark: SparkSession, clock: Clock, attempt: str) -> None:
        self._store = store
        self._spark = spark
        self._clock = clock
        self._attempt = attempt

    def verify(self) -> ForeignKeyVerification:
        """Check all of it and say in the log which foreign keys hold."""
        from slacktide.spark.tasks.executor import Executor

        world = self._store.world()
        taken = taken_in(world)
        versions = {name: taken.get(name, s.version) for name, s in world.sources.items()}
        executor = Executor(
            self._spark, self._store, world, attempt=self._attempt, now=self._clock()
        )
        keyed = [name for name, source in world.sources.items() if source.key]
        references = [*declared(world)]
        read = {*keyed}.union(*(one.foreign_key.sources for one in references if not one.obstacle))
        windows = snapshot_windows(world, {name: versions[name] for name in read})
        seen = check_windows(self._store, world, windows)
        checker = _Checker(executor, world, versions)
        keys = {name: checker.key(name) for name in keyed}
        found = [(one, checker.foreign_key(one)) for one in references]
        there = [(o, c) for o, c in found if world.sources.keys() >= set(o.foreign_key.sources)]
        records = [_record(one, check, keys, versions) for one, check in there]
        check_unmoved(seen, storage_options=self._store.options)
        doubted = self._say(world, records)
        checks = (*keys.values(), *(check for _, check in found))
        return ForeignKeyVerification(checks, versions, doubted)

    def _say(self, world: World, found: Sequence[ForeignKeyRecord]) -> tuple[str, ...]:
        """Note what was found of foreign keys; give the views of which that makes doubtful."""
        names = {record.name for record in found}
        undeclared = (one for name, one in world.held_keys.items() if name not in names)
        told = [*found, *(replace(one, broken=_UNDECLARED, token=0) for one in undeclared)]
        known = {name: replace(one, token=0) for name, one in world.foreign_keys.items()}
        fresh = [record for record in told if known.get(record.name) != record]
        lost = [record for record in fresh if record.broken and record.name in world.held_keys]
        doubted = doubts(world, frozenset(map(foreign_key_of, lost)))
        views = tuple(one.view for one in doubted if isinstance(one, u.DoubtAnswer))
        if fresh:
            tokens = {name: one.token for name, one in world.foreign_keys.items()}
            needed = [q.ForeignKeyIs(one.name, tokens.get(one.name)) for one in fresh]
            updates = [u.NoteForeignKeys(tuple(fresh)), *doubted]
            self._store.commit(updates, [*needed, *self._ground(world, views)])
        return views

    def _ground(self, world: World, views: Sequence[str]) -> list[q.Requirement]:
        sources = [q.SourceIs(name, source.epoch) for name, source in world.sources.items()]
        skipped = [q.SkippedAre(n, tuple(sorted(s.skipped))) for n, s in world.sources.items()]
        return [*sources, *skipped, *(q.ViewIs(name, world.views[name].token) for name in views)]


def _record(
    one: Declared, check: KeyCheck, keys: Mapping[str, KeyCheck], versions: Mapping[str, int]
) -> ForeignKeyRecord:
    """What the log keeps of a check: a foreign key holds where the key that it refers to does."""
    key = one.foreign_key
    at = {name: versions[name] for name in key.sources}
    wrong = [] if check.holds else [check.finding]
    wrong += [found.line] if (found := keys.get(key.target)) and not found.holds else []
    broken = f"does not hold: {'; '.join(wrong)}" if wrong else ""
    return ForeignKeyRecord(
        str(key), key.source, key.columns, key.target, key.key, at, broken=broken
    )


class _Checker:
    def __init__(self, executor: Executor, world: World, versions: Mapping[str, int]) -> None:
        self._executor = executor
        self._world = world
        self._versions = versions

    def key(self, source: str) -> KeyCheck:
        names = self._world.sources[source].key
        key = columns_of(self._world.sources[source].schema, names)
        title = f"{source}({', '.join(names)})"
        nulls = self._found("key", title, null_keys(source, key))
        repeated = self._found("key", title, repeated_keys(source, key))
        examples = (*nulls.examples, *repeated.examples)[:_EXAMPLES]
        return replace(
            repeated, violations=nulls.violations + repeated.violations, examples=examples
        )

    def foreign_key(self, one: Declared) -> KeyCheck:
        if one.obstacle:
            return KeyCheck("foreign key", str(one.foreign_key), 0, obstacle=one.obstacle)
        schemas = {name: self._world.sources[name].schema for name in one.foreign_key.sources}
        return self._found(
            "foreign key", str(one.foreign_key), Check(one.foreign_key, schemas).unmet()
        )

    def _found(self, kind: Kind, name: str, operator: Operator) -> KeyCheck:
        task = Task(name, Program(()), self._versions, self._versions, scopes={}, kind=kind)
        rows = self._executor.rows(task, operator, most=_EXAMPLES)
        count = self._executor.count(task, operator) if rows else 0
        return KeyCheck(kind, name, count, tuple(example(row) for row in rows))
