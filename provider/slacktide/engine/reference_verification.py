"""Checking declared keys and references over whole sources, and what the log says of them then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from slacktide.common.clock import Clock
from slacktide.engine.planning import taken_in
from slacktide.engine.references import (
    Declared,
    declared,
    doubts,
    example,
    fact_of,
    withdrawal,
)
from slacktide.optimizer.checks import Check, columns_of, null_keys, repeated_keys
from slacktide.optimizer.facts import ForeignKey
from slacktide.program.operator import Operator, Program
from slacktide.spark.task import Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import ReferenceRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.executor import Executor
    from slacktide.spark.handles import SparkSession
    from slacktide.store.store import Store

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class FactCheck:
    """What was found of one declared key or reference.

    Attributes:
        name: the key or the reference as text.
        violations: keys that are NULL or on several rows; or to which rows refer and that are not there.
        examples: some of these keys.
        obstacle: why nothing was checked; empty where it was.
    """

    kind: Literal["key", "reference"]
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
        head = f"{self.kind} {self.name}: "
        if self.obstacle:
            return f"{head}not checked, as {self.obstacle}"
        if not self.violations:
            return f"{head}ok"
        shown = "; ".join(self.examples)
        more = "; …" if self.violations > len(self.examples) else ""
        violate = "key violates" if self.violations == 1 else "keys violate"
        return f"{head}{self.violations} {violate} it: {shown}{more}"


@dataclass(frozen=True, slots=True)
class ReferenceVerification:
    """What was found of all that sources declare.

    Attributes:
        versions: of the sources, as of which all was checked.
        doubted: views whose answers went by a reference that does not hold.
    """

    checks: tuple[FactCheck, ...]
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


class ReferenceVerifier:
    """Checks what the sources of a workspace declare."""

    def __init__(self, store: Store, spark: SparkSession, clock: Clock, attempt: str) -> None:
        self._store = store
        self._spark = spark
        self._clock = clock
        self._attempt = attempt

    def verify(self) -> ReferenceVerification:
        """Check all of it and say in the log which references hold."""
        from slacktide.spark.executor import Executor

        world = self._store.world()
        taken = taken_in(world)
        versions = {name: taken.get(name, s.version) for name, s in world.sources.items()}
        executor = Executor(
            self._spark, self._store, world, attempt=self._attempt, now=self._clock()
        )
        checker = _Checker(executor, world, versions)
        keys = {name: checker.key(name) for name in world.sources if _key(world, name)}
        found = [(one, checker.reference(one)) for one in declared(world)]
        holding = [one.fact for one, check in found if check.holds and keys[one.fact.target].holds]
        doubted = self._say(world, versions, holding)
        checks = (*keys.values(), *(check for _, check in found))
        return ReferenceVerification(checks, versions, doubted)

    def _say(
        self, world: World, versions: Mapping[str, int], holding: Sequence[ForeignKey]
    ) -> tuple[str, ...]:
        """Confirm what holds, withdraw what does not; give the views of which that makes doubtful."""
        updates: list[u.Update] = []
        needed: list[q.Requirement] = []
        confirmed = {str(fact): _record(fact, versions) for fact in holding}
        fresh = {
            name: record
            for name, record in confirmed.items()
            if name not in world.references
            or dict(world.references[name].versions) != dict(record.versions)
        }
        if fresh:
            updates.append(u.ConfirmReferences(tuple(fresh.values())))
            tokens = {name: record.token for name, record in world.references.items()}
            needed += [q.ReferenceIs(name, tokens.get(name)) for name in fresh]
        gone = sorted(world.references.keys() - confirmed.keys())
        withdrawn, unchanged = withdrawal(world, gone)
        broken = frozenset(fact_of(world.references[name]) for name in gone)
        doubted = doubts(world, broken)
        views = tuple(one.view for one in doubted if isinstance(one, u.DoubtAnswer))
        updates += [*withdrawn, *doubted]
        if updates:
            needed += [*unchanged, *self._ground(world, views)]
            self._store.commit(updates, needed)
        return views

    def _ground(self, world: World, views: Sequence[str]) -> list[q.Requirement]:
        sources = [q.SourceIs(name, source.epoch) for name, source in world.sources.items()]
        skipped = [q.SkippedAre(n, tuple(sorted(s.skipped))) for n, s in world.sources.items()]
        return [*sources, *skipped, *(q.ViewIs(name, world.views[name].token) for name in views)]


def _record(fact: ForeignKey, versions: Mapping[str, int]) -> ReferenceRecord:
    held = {name: versions[name] for name in fact.sources}
    return ReferenceRecord(str(fact), fact.source, fact.columns, fact.target, fact.key, held)


def _key(world: World, source: str) -> tuple[str, ...]:
    return tuple(world.sources[source].arguments.get("key", ()))


class _Checker:
    def __init__(self, executor: Executor, world: World, versions: Mapping[str, int]) -> None:
        self._executor = executor
        self._world = world
        self._versions = versions

    def key(self, source: str) -> FactCheck:
        names = _key(self._world, source)
        key = columns_of(self._world.sources[source].schema, names)
        title = f"{source}({', '.join(names)})"
        nulls = self._found("key", title, null_keys(source, key))
        repeated = self._found("key", title, repeated_keys(source, key))
        examples = (*nulls.examples, *repeated.examples)[:_EXAMPLES]
        return replace(
            repeated, violations=nulls.violations + repeated.violations, examples=examples
        )

    def reference(self, one: Declared) -> FactCheck:
        if one.obstacle:
            return FactCheck("reference", str(one.fact), 0, obstacle=one.obstacle)
        schemas = {name: self._world.sources[name].schema for name in one.fact.sources}
        return self._found("reference", str(one.fact), Check(one.fact, schemas).unmet())

    def _found(self, kind: Literal["key", "reference"], name: str, operator: Operator) -> FactCheck:
        task = Task(name, Program(()), self._versions, self._versions, scopes={})
        rows = self._executor.rows(task, operator, most=_EXAMPLES)
        count = self._executor.count(task, operator) if rows else 0
        return FactCheck(kind, name, count, tuple(example(row) for row in rows))
