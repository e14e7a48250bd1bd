"""Requirements: what must still hold for a commit to make sense, as one closed union.

A commit that lost its number checks them again in the newer world. There is none that an accepted
arrival could break for a refresh: arrivals only append.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Literal, assert_never

from slacktide.store.record import FunctionRecord, Source
from slacktide.store.world import World


@dataclass(frozen=True, slots=True)
class NameFree:
    """No object has this name; sources and views share one space of names."""

    kind: Literal["source", "view", "function"]
    name: str


@dataclass(frozen=True, slots=True)
class SourceIs:
    """The source is there and was not reset, or dropped and added again, since."""

    name: str
    epoch: int


@dataclass(frozen=True, slots=True)
class SourceArrivals:
    """The source has this many arrivals; what `AcceptArrivals` of a discovery needs."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ViewIs:
    """Definition and versions of the view did not change since; None: there is no such view."""

    name: str
    token: int | None


@dataclass(frozen=True, slots=True)
class DefinedBy:
    """The columns of a source, or the text of a view, are still those that an entry gave it."""

    kind: Literal["source", "view"]
    name: str
    entry: int


@dataclass(frozen=True, slots=True)
class NonePlaced:
    """Nothing to which we write, or nothing at all, was given a place after an entry: no sink, quarantine, or source.

    Attributes:
        read: whether sources without a quarantine count, too: those that share their files with nobody who
            writes may share them with each other.

    Which directories are whose was checked in the world of that entry, as links lead now; a fold sees no links, and
    checks of sinks only that they differ.
    """

    since: int
    read: bool = True


@dataclass(frozen=True, slots=True)
class ReadersAre:
    """No other views read a source or view, directly or through others; these are sorted."""

    name: str
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionIs:
    """The function is there and declared as it was."""

    function: FunctionRecord


@dataclass(frozen=True, slots=True)
class Uncalled:
    """The text of no view may call the function."""

    name: str


@dataclass(frozen=True, slots=True)
class ChainIs:
    """The chain did not change since; None: there is no such chain."""

    id: str
    token: int | None


@dataclass(frozen=True, slots=True)
class ForeignKeyIs:
    """What is known of a foreign key did not change since; None: nothing is known of it."""

    name: str
    token: int | None


@dataclass(frozen=True, slots=True)
class EngineIs:
    """No other Spark or Java has taken over since; an empty text: none was ever noted."""

    engine: str


@dataclass(frozen=True, slots=True)
class PlanOpen:
    """No run has committed this plan."""

    plan_id: str


@dataclass(frozen=True, slots=True)
class RunFree:
    """No run has this number."""

    run: int


@dataclass(frozen=True, slots=True)
class SkippedAre:
    """No version of the source was left out since; these were."""

    name: str
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotCollected:
    """The collection point has not passed the world that a run began in, of this entry.

    What the run has written, and no entry names yet, is garbage to a collection that has.
    """

    since: int


Requirement = (
    NameFree
    | SourceIs
    | SourceArrivals
    | SkippedAre
    | ViewIs
    | DefinedBy
    | NonePlaced
    | ReadersAre
    | ChainIs
    | ForeignKeyIs
    | EngineIs
    | PlanOpen
    | RunFree
    | NotCollected
    | FunctionIs
    | Uncalled
)


def obstacle(world: World, requirement: Requirement) -> str | None:
    """Say in words why a requirement does not hold, or None where it does."""
    match requirement:
        case NameFree(kind, name):
            taken = world.function(name) if kind == "function" else world.relation(name)
            reason = taken and f"the name {name} is taken by {taken}"
        case SourceIs() | SourceArrivals() | SkippedAre():
            reason = _of_source(world.sources.get(requirement.name), requirement)
        case ViewIs(name, token):
            view = world.views.get(name)
            reason = _changed("view", name, None if view is None else view.token, token)
        case DefinedBy(kind, name, entry):
            there = world.sources.get(name) if kind == "source" else world.views.get(name)
            reason = _changed(kind, name, None if there is None else there.defined, entry)
        case ReadersAre() | FunctionIs() | Uncalled():
            reason = _of_texts(world, requirement)
        case ChainIs() | ForeignKeyIs() | EngineIs():
            reason = _of_record(world, requirement)
        case PlanOpen(plan_id):
            by = world.plans.get(plan_id)
            reason = None if by is None else f"plan {plan_id} was committed as run {by}"
        case RunFree(run):
            reason = f"run {run} was committed by another writer" if run in world.runs else None
        case NotCollected() | NonePlaced():
            reason = _since(world, requirement)
        case _:
            assert_never(requirement)
    return reason


def _since(world: World, requirement: NotCollected | NonePlaced) -> str | None:
    match requirement:
        case NotCollected(since):
            reason = f"the run began at entry {since}, and a collection has passed that"
            return None if world.collected <= since else reason
        case NonePlaced(since, read):
            late = _placed(world, since, read=read)
            return late and f"{late} was defined"


def _placed(world: World, since: int, *, read: bool) -> str | None:
    """A source, one with a quarantine unless any counts, or a sink, that was defined after an entry."""
    sources = (
        f"source {one.name}"
        for one in world.sources.values()
        if one.defined > since and (read or "quarantine" in one.arguments)
    )
    sinks = (
        f"the sink of view {view.name}"
        for view in world.views.values()
        if view.settings.get("sink") is not None and view.defined > since
    )
    return next(chain(sources, sinks), None)


def _changed(kind: str, name: str, now: int | None, then: int | None) -> str | None:
    if now == then:
        return None
    if now is None:
        return f"{kind} {name} is gone"
    if then is None:
        return f"{kind} {name} was made by entry {now}"
    return f"{kind} {name} was changed by entry {now}"


def _of_texts(world: World, requirement: ReadersAre | FunctionIs | Uncalled) -> str | None:
    match requirement:
        case ReadersAre(name, readers):
            return _read(name, world.readers(name), tuple(readers))
        case FunctionIs(function):
            now = world.functions.get(function.name)
            changed = "is gone" if now is None else "was declared otherwise"
            return None if now == function else f"function {function.name} {changed}"
        case Uncalled(name):
            callers = world.callers(name)
            return f"function {name} is called by {', '.join(callers)}" if callers else None


def _of_record(world: World, requirement: ChainIs | ForeignKeyIs | EngineIs) -> str | None:
    match requirement:
        case EngineIs(engine):
            taken = f"{world.engine} has taken the place of {engine or 'what made no answer yet'}"
            return None if world.engine == engine else taken
        case ChainIs(id, token):
            chain = world.chains.get(id)
            return _changed("chain", id, None if chain is None else chain.token, token)
        case ForeignKeyIs(name, token):
            known = world.foreign_keys.get(name)
            return _changed("foreign key", name, None if known is None else known.token, token)


def _of_source(
    source: Source | None, requirement: SourceIs | SourceArrivals | SkippedAre
) -> str | None:
    match requirement:
        case SourceIs(name, epoch):
            return _changed("source", name, None if source is None else source.epoch, epoch)
        case SourceArrivals(name, count):
            return _counted(name, None if source is None else source.version, count)
        case SkippedAre(name, versions):
            return _left_out(name, source, tuple(versions))


def _read(name: str, now: tuple[str, ...], then: tuple[str, ...]) -> str | None:
    if now == then:
        return None
    return f"{name} is read by {', '.join(now) or 'no view'}"


def _left_out(name: str, source: Source | None, then: tuple[int, ...]) -> str | None:
    if source is None:
        return f"source {name} is gone"
    new = sorted(source.skipped - set(then))
    return f"versions {new} of source {name} were left out" if new else None


def _counted(name: str, now: int | None, then: int) -> str | None:
    if now == then:
        return None
    return f"source {name} is gone" if now is None else f"source {name} has {now} arrivals now"
