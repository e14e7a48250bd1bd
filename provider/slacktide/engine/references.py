"""Declared references: which hold, checked from nothing; and which still do, checked in every run.

A run that takes more of a source in checks the references that its views go by over what came, and
says in its own entry that they hold as of its versions. One that does not is withdrawn before
anything is computed, and the run is planned without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.engine.plan import Plan
from slacktide.errors import DataError
from slacktide.optimizer.api import facts_used
from slacktide.optimizer.checks import Check
from slacktide.optimizer.facts import ForeignKey
from slacktide.optimizer.plan import ViewPlan
from slacktide.program.operator import Operator, Program
from slacktide.spark.task import Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import ReferenceRecord, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.executor import Executor


class BrokenReferenceError(Exception):
    """A reference that a plan goes by does not hold any more.

    Attributes:
        name: the reference.
        detail: what breaks it, in words.
    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(name, detail)
        self.name = name
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Declared:
    """A reference as declared.

    Attributes:
        fact: the reference.
        obstacle: why it says nothing, in words; empty where it can be checked.
    """

    fact: ForeignKey
    obstacle: str


def fact_of(record: ReferenceRecord) -> ForeignKey:
    """A reference of the log, as the planner knows it."""
    return ForeignKey(record.source, tuple(record.columns), record.target, tuple(record.key))


def declared(world: World) -> list[Declared]:
    """The references that sources declare; columns that make up a key together are one."""
    found: list[Declared] = []
    for source in world.sources.values():
        targets: dict[str, dict[str, list[str]]] = {}
        for column, target in source.arguments.get("references", {}).items():
            name, _, key = target.partition(".")
            targets.setdefault(name, {}).setdefault(key, []).append(column)
        for name, columns in targets.items():
            found += _of_target(world, source.name, name, columns)
    return found


def _of_target(
    world: World, source: str, target: str, columns: Mapping[str, Sequence[str]]
) -> list[Declared]:
    there = world.sources.get(target)
    key = tuple(() if there is None else there.arguments.get("key", ()))
    if len(key) > 1 and set(columns) == set(key) and all(len(c) == 1 for c in columns.values()):
        fact = ForeignKey(source, tuple(columns[name][0] for name in key), target, key)
        return [Declared(fact, _obstacle(world, fact))]
    facts = [
        ForeignKey(source, (column,), target, (name,))
        for name, several in columns.items()
        for column in several
    ]
    return [Declared(fact, _obstacle(world, fact)) for fact in facts]


def _obstacle(world: World, fact: ForeignKey) -> str:
    there = world.sources.get(fact.target)
    if there is None:
        return f"there is no source {fact.target}"
    if tuple(there.arguments.get("key", ())) != fact.key:
        return f"{', '.join(fact.key)} is not the declared key of {fact.target}"
    own, other = _types(world, fact.source), _types(world, fact.target)
    for column, key in zip(fact.columns, fact.key, strict=True):
        if own.get(column) != other.get(key):
            return f"{column} has the type {own.get(column)} and {key} the type {other.get(key)}"
    return ""


def _types(world: World, source: str) -> dict[str, Any]:
    return {column["name"]: column["type"] for column in world.sources[source].schema}


def facts_at(
    world: World, start: Mapping[str, int], end: Mapping[str, int]
) -> frozenset[ForeignKey]:
    """The references that hold at the start of a run, and that it checks as of its end."""
    return frozenset(
        fact_of(record)
        for record in world.references.values()
        if all(start.get(name) == version for name, version in record.versions.items())
        and all(end.get(name, -1) >= version for name, version in record.versions.items())
    )


def due(world: World, plans: Iterable[ViewPlan], ends: Mapping[str, int]) -> tuple[str, ...]:
    """The references that a run has to check: those of its views, where it takes in more of a source.

    Those that a view would go by in another run are among them, as they are lost where no run goes on.
    """
    moved = {
        fact_of(record): name
        for name, record in world.references.items()
        if all(ends.get(source, -1) >= at for source, at in record.versions.items())
        and any(ends[source] > at for source, at in record.versions.items())
    }
    used: set[ForeignKey] = set()
    names: set[str] = set()
    for plan in plans if moved else ():
        if plan.program is None:
            continue
        record = world.views[plan.view]
        names.update(plan.facts)
        used |= _used(record, frozenset(map(fact_of, world.references.values())))
    return tuple(sorted(name for fact, name in moved.items() if fact in used or name in names))


def _used(view: ViewRecord, facts: frozenset[ForeignKey]) -> frozenset[ForeignKey]:
    policy = view.settings.get("policy", "auto")
    return facts_used(ReadView.from_dict(view.definition), policy, facts)


def lost(world: World, plan: Plan) -> str:
    """Name a reference that a plan goes by and that is not known to hold any more, or give no text."""
    for name in plan.references:
        if name not in world.references:
            return name
    for view in plan.views:
        for name in view.facts:
            record = world.references.get(name)
            if record is None or any(view.start.get(s) != v for s, v in record.versions.items()):
                return name
    return ""


def checked(executor: Executor, world: World, plan: Plan) -> list[ReferenceRecord]:
    """Check the references of a plan over what it takes in; give them as of its end.

    Raises:
        BrokenReferenceError: one does not hold.
        SlacktideError: the sources cannot be read.
    """
    return [_checked(executor, world, plan, world.references[name]) for name in plan.references]


def _checked(
    executor: Executor, world: World, plan: Plan, record: ReferenceRecord
) -> ReferenceRecord:
    start = dict(record.versions)
    end = {name: plan.versions[name] for name in start}
    task = Task(record.name, Program(()), start, end, scopes={})
    check = Check(fact_of(record), {name: world.sources[name].schema for name in start})
    ways: list[tuple[Callable[[], Operator], str]] = []
    if start[record.source] != end[record.source]:
        ways.append((check.came_unmet, "without its row"))
    if start[record.target] != end[record.target]:
        moves = executor.balances(task, record.target, tuple(record.key))
        ways += [(check.left_behind, "left without its row")] if "gone" in moves else []
        if "came" in moves:
            ways += [(check.came_null, "came as a key"), (check.came_again, "on several rows")]
    try:
        for operator, what in ways:
            found = executor.rows(task, operator(), most=1)
            if found:
                raise BrokenReferenceError(record.name, f"{example(found[0])} {what}")
    except DataError as error:
        raise BrokenReferenceError(record.name, error.message) from error
    return replace(record, versions=end)


def example(row: Sequence[Any]) -> str:
    """A key in words; the multiplicity, which comes last, is not part of it."""
    return ", ".join("NULL" if value is None else str(value) for value in row[:-1])


def withdrawal(world: World, names: Iterable[str]) -> tuple[list[u.Update], list[q.Requirement]]:
    """The updates that withdraw references, and what must still hold for them."""
    known = [world.references[name] for name in names if name in world.references]
    needed: list[q.Requirement] = [q.ReferenceIs(one.name, one.token) for one in known]
    if not known:
        return [], []
    return [u.WithdrawReferences(tuple(one.name for one in known))], needed


def doubts(world: World, broken: frozenset[ForeignKey]) -> list[u.Update]:
    """Have the answers that went by broken references made anew, and the states under them."""
    updates: list[u.Update] = []
    states: dict[str, None] = {}
    for view in world.views.values():
        used = _used(view, broken)
        if used:
            updates.append(u.DoubtAnswer(view.name, str(min(used))))
            states.update(dict.fromkeys(view.states))
    return [*updates, *(u.DropChain(chain) for chain in states if chain in world.chains)]
