"""Declared foreign keys: which are declared, and which that held still do, checked in every run.

A run that takes more of a source in checks the foreign keys that its views go by over what came, and
says in its own entry that they hold as of its versions. One that does not is withdrawn before
anything is computed, and the run is planned without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.engine.intake.pinning import Window, check_windows, snapshot_windows
from slacktide.engine.plan import Plan
from slacktide.engine.planning.foreign_key_check import Check
from slacktide.engine.planning.knowledge import current_joins
from slacktide.errors import DataError, SourceError
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.join_bags import is_ahead
from slacktide.optimizer.programs.upkeep import Upkeep, upkeep_of
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.operator import Operator, Program
from slacktide.spark.tasks.task import Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import ForeignKeyRecord, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.tasks.executor import Executor
    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Loss:
    """A foreign key that held, and of which that is not said any more.

    Attributes:
        name: of the foreign key.
        why: what breaks it, or why it cannot be known, in words.
    """

    name: str
    why: str

    @property
    def notice(self) -> str:
        """What the report of the run says."""
        return f"{self.name} {self.why}; not used until verified"


class LostForeignKeysError(Exception):
    """Foreign keys that a run was to check do not hold any more, or cannot be checked.

    Attributes:
        losses: all of them.
    """

    def __init__(self, losses: tuple[Loss, ...]) -> None:
        super().__init__(*losses)
        self.losses = losses


@dataclass(frozen=True, slots=True)
class Declared:
    """A foreign key as declared.

    Attributes:
        foreign_key: it.
        obstacle: why it says nothing, in words; empty where it can be checked.
    """

    foreign_key: ForeignKey
    obstacle: str


def foreign_key_of(record: ForeignKeyRecord) -> ForeignKey:
    """A foreign key of the log, as the planner knows it."""
    return ForeignKey(record.source, tuple(record.columns), record.target, tuple(record.key))


def declared(world: World) -> list[Declared]:
    """The foreign keys that sources declare; columns that make up a key together are one."""
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
    key = () if there is None else there.key
    if len(key) > 1 and set(columns) == set(key) and all(len(c) == 1 for c in columns.values()):
        whole = ForeignKey(source, tuple(columns[name][0] for name in key), target, key)
        return [Declared(whole, _obstacle(world, whole))]
    found = [
        ForeignKey(source, (column,), target, (name,))
        for name, several in columns.items()
        for column in several
    ]
    return [Declared(one, _obstacle(world, one)) for one in found]


def _obstacle(world: World, foreign_key: ForeignKey) -> str:
    there = world.sources.get(foreign_key.target)
    if there is None:
        return f"there is no source {foreign_key.target}"
    if there.key != foreign_key.key:
        return f"{', '.join(foreign_key.key)} is not the declared key of {foreign_key.target}"
    own, other = _types(world, foreign_key.source), _types(world, foreign_key.target)
    for column, key in zip(foreign_key.columns, foreign_key.key, strict=True):
        if own.get(column) != other.get(key):
            return f"{column} has the type {own.get(column)} and {key} the type {other.get(key)}"
    return ""


def _types(world: World, source: str) -> dict[str, Any]:
    return {column["name"]: column["type"] for column in world.sources[source].schema}


def foreign_keys_at(
    world: World, start: Mapping[str, int], end: Mapping[str, int]
) -> frozenset[ForeignKey]:
    """The foreign keys that hold at the start of a run, and that it checks as of its end."""
    return frozenset(
        foreign_key_of(record)
        for record in world.held_keys.values()
        if all(start.get(name) == version for name, version in record.versions.items())
        and all(end.get(name, -1) >= version for name, version in record.versions.items())
    )


def due(
    world: World,
    plans: Iterable[ViewPlan],
    upkeep: Iterable[Upkeep],
    ends: Mapping[str, int],
) -> tuple[str, ...]:
    """The foreign keys that a run has to check: those of its views, where it takes in more of a source.

    Args:
        world: the log as it is.
        plans: of the views.
        upkeep: of those that are computed. What a view would go by in another run is checked, too, as it is
            lost where no run goes on.
        ends: the versions that the run takes in.
    """
    moved = {
        foreign_key_of(record): name
        for name, record in world.held_keys.items()
        if all(ends.get(source, -1) >= at for source, at in record.versions.items())
        and any(ends[source] > at for source, at in record.versions.items())
    }
    used = frozenset[ForeignKey]().union(*(one.foreign_keys for one in upkeep))
    names = {name for plan in plans for name in plan.foreign_keys}
    return tuple(sorted(name for one, name in moved.items() if one in used or name in names))


def upkeep_in(world: World, view: ViewRecord, known: frozenset[ForeignKey]) -> Upkeep:
    """What any run of a view goes by, where some foreign keys hold.

    Its answer may go by a key of a join that has been left behind since, or was brought on without it.
    """
    read = ReadView.from_dict(view.definition)
    there = current_joins(world, view)
    now = upkeep_of(read, view.policy, known, there)
    named = now if there == view.remembers else upkeep_of(read, view.policy, known, view.remembers)
    return replace(now, foreign_keys=now.foreign_keys | named.foreign_keys)


def _used(world: World, view: ViewRecord, known: frozenset[ForeignKey]) -> frozenset[ForeignKey]:
    return upkeep_in(world, view, known).foreign_keys


def lost(world: World, plan: Plan) -> str:
    """Name a foreign key that a plan goes by and that is not known to hold any more, or give no text.

    One that another run has checked further since would be set back to where nobody has.
    """
    held = world.held_keys
    for name in plan.foreign_keys:
        if name not in held or is_ahead(held[name].versions, plan.versions):
            return name
    for view in plan.views:
        for name in view.foreign_keys:
            record = held.get(name)
            if record is None or any(view.start.get(s) != v for s, v in record.versions.items()):
                return name
    return ""


def checked(
    executor: Executor, store: Store, world: World, plan: Plan
) -> tuple[ForeignKeyRecord, ...]:
    """Check the foreign keys of a plan over what it takes in; give them as of its end.

    What no view of the plan goes by may lag behind all of them, by changes whose files are gone:
    then it is not known any more, which is no reason for the run to fail.

    Raises:
        LostForeignKeysError: some do not hold, or are not known any more.
        SlacktideError: the sources cannot be read.
    """
    used = {name for view in plan.views for name in view.foreign_keys}
    found: list[ForeignKeyRecord] = []
    losses: list[Loss] = []
    for record in map(world.foreign_keys.__getitem__, plan.foreign_keys):
        end = {name: plan.versions[name] for name in record.versions}
        try:
            if record.name not in used:
                check_windows(store, world, _windows(world, record, end))
            broken = _broken(executor, world, record, end)
        except SourceError as error:
            if record.name in used:
                raise
            broken = f"is not known to hold any more: {error.message}"
        if broken:
            losses.append(Loss(record.name, broken))
        found.append(replace(record, versions=end))
    if losses:
        raise LostForeignKeysError(tuple(losses))
    return tuple(found)


def windows_of(world: World, plan: Plan) -> list[Window]:
    """What the checks of the foreign keys that views of a plan go by read of landed files."""
    used = {name for view in plan.views for name in view.foreign_keys}
    found: list[Window] = []
    for name in filter(used.__contains__, plan.foreign_keys):
        record = world.foreign_keys[name]
        found += _windows(world, record, {one: plan.versions[one] for one in record.versions})
    return found


def _windows(world: World, record: ForeignKeyRecord, end: Mapping[str, int]) -> list[Window]:
    """What the check of a foreign key up to some versions reads of landed files.

    The changes of both sources, whether keys that came are in the target, and which rows still refer to
    keys that went.
    """
    changes = [Window(name, start, end[name]) for name, start in record.versions.items()]
    looked_up = [record.target]
    if record.versions[record.target] != end[record.target]:
        looked_up.append(record.source)
    return [*changes, *snapshot_windows(world, {name: end[name] for name in looked_up})]


def _broken(
    executor: Executor, world: World, record: ForeignKeyRecord, end: Mapping[str, int]
) -> str:
    """Say in words what of the changes up to some versions breaks a foreign key; no text for nothing."""
    start = dict(record.versions)
    task = Task(record.name, Program(()), start, end, scopes={}, kind="foreign key")
    check = Check(foreign_key_of(record), {name: world.sources[name].schema for name in start})
    try:
        for operator, what in _ways(executor, task, record, check):
            found = executor.rows(task, operator(), most=1)
            if found:
                return f"does not hold: {example(found[0])} {what}"
    except DataError as error:
        return f"does not hold: {error.message}"
    return ""


def _ways(
    executor: Executor, task: Task, record: ForeignKeyRecord, check: Check
) -> list[tuple[Callable[[], Operator], str]]:
    """In which ways the changes of a task may break a foreign key, and in words what did then."""
    ways: list[tuple[Callable[[], Operator], str]] = []
    if task.start[record.source] != task.end[record.source]:
        ways.append((check.came_unmet, "without its row"))
    if task.start[record.target] != task.end[record.target]:
        moves = executor.balances(task, record.target, tuple(record.key))
        ways += [(check.left_behind, "left without its row")] if "gone" in moves else []
        if "came" in moves:
            ways += [(check.came_null, "came as a key"), (check.came_again, "on several rows")]
    return ways


def example(row: Sequence[Any]) -> str:
    """A key in words; the multiplicity, which comes last, is not part of it."""
    return ", ".join("NULL" if value is None else str(value) for value in row[:-1])


def withdrawal(world: World, losses: Iterable[Loss]) -> tuple[list[u.Update], list[q.Requirement]]:
    """The updates that withdraw foreign keys, and what must still hold for them."""
    known = {one.name: one.why for one in losses}
    records = [world.foreign_keys[name] for name in known]
    noted = u.NoteForeignKeys(tuple(replace(one, broken=known[one.name]) for one in records))
    return [noted], [q.ForeignKeyIs(one.name, one.token) for one in records]


def doubts(world: World, broken: frozenset[ForeignKey]) -> list[u.Update]:
    """Have the answers that went by broken foreign keys made anew, and the states under them.

    A join may go by several at once, as one with a union does, and by another one where that is broken;
    those that were withdrawn meanwhile held once.
    """
    updates: list[u.Update] = []
    states: dict[str, None] = {}
    once = broken.union(map(foreign_key_of, world.foreign_keys.values()))
    now = broken.union(map(foreign_key_of, world.held_keys.values()))
    for view in world.views.values() if broken else ():
        used = broken & frozenset[ForeignKey]().union(
            *(_used(world, view, keys) for keys in (once, now, broken))
        )
        if used:
            states.update(dict.fromkeys(view.kept))
        if used and view.versions is not None:
            updates.append(u.DoubtAnswer(view.name, str(min(used))))
    return [*updates, *(u.DropChain(chain) for chain in states if chain in world.chains)]
