"""Folding: what each update does to the world.

``apply(world, number, update)`` is pure. ``fold`` does the same for many entries on one draft, so
that replaying a long log costs no copy per entry. An update that does not fit the world raises
`InvariantError`, on commit before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from slacktide.common.names import check_name
from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.record import Chain, FormerText, RunRecord, Source, ViewRecord
from slacktide.store.world import World, reads

KEPT_REPORTS: Final = 200
_T = TypeVar("_T")


class _Draft:
    """A world under change; its dictionaries are its own until it is finished."""

    def __init__(self, world: World) -> None:
        self.number = world.number
        self.settings = dict(world.settings)
        self.sources = dict(world.sources)
        self.views = dict(world.views)
        self.functions = dict(world.functions)
        self.chains = dict(world.chains)
        self.runs = dict(world.runs)
        self.plans = dict(world.plans)
        self.collected = world.collected
        self.foreign_keys = dict(world.foreign_keys)
        self.full_reports = [run for run, record in self.runs.items() if record.report]

    def finish(self) -> World:
        proxy = MappingProxyType
        return World(
            number=self.number,
            settings=proxy(self.settings),
            sources=proxy(self.sources),
            views=proxy(self.views),
            functions=proxy(self.functions),
            chains=proxy(self.chains),
            runs=proxy(self.runs),
            plans=proxy(self.plans),
            collected=self.collected,
            foreign_keys=proxy(self.foreign_keys),
        )

    def seen(self) -> World:
        """Look at the draft as a world; not to be kept."""
        return World(self.number, self.settings, self.sources, self.views, self.functions)


def apply(world: World, number: int, update: u.Update) -> World:
    """Give the world after one update of an entry.

    Raises:
        InvariantError: the update does not fit the world.
    """
    draft = _Draft(world)
    draft.number = number
    _apply(draft, number, update)
    return draft.finish()


def fold(world: World, entries: Iterable[tuple[int, Sequence[u.Update]]]) -> World:
    """Give the world after whole entries, in the order of their numbers.

    Raises:
        InvariantError: an update does not fit, or a number is not the next one.
    """
    draft = _Draft(world)
    for number, updates in entries:
        if number != draft.number + 1:
            raise InvariantError(f"entry {number} does not follow entry {draft.number}")
        draft.number = number
        for update in updates:
            _apply(draft, number, update)
    return draft.finish()


def _apply(draft: _Draft, number: int, update: u.Update) -> None:
    if (number == 0) != isinstance(update, u.CreateWorkspace):
        raise InvariantError(f"entry {number} may not hold {type(update).__name__}")
    STEPS[type(update)](draft, number, update)


def _known(mapping: Mapping[str, _T], kind: str, name: str) -> _T:
    try:
        return mapping[name]
    except KeyError:
        raise InvariantError(f"an update is about the {kind} {name}, which is not there") from None


def _free(kind: str, name: str, taken: str | None) -> None:
    check_name(kind, name)
    if taken is not None:
        raise InvariantError(f"an update adds the {kind} {name}, but there is {taken}")


def _create(draft: _Draft, _: int, update: u.CreateWorkspace) -> None:
    draft.settings = dict(update.settings)


def _add_source(draft: _Draft, number: int, update: u.AddSource) -> None:
    _free("source", update.name, draft.seen().relation(update.name))
    draft.sources[update.name] = Source(
        update.name,
        update.kind,
        update.arguments,
        update.schema,
        epoch=number,
        defined=number,
    )


def _drop_source(draft: _Draft, number: int, update: u.DropSource) -> None:
    _known(draft.sources, "source", update.name)
    _unread(draft, "source", update.name)
    _forget_history(draft, number, update.name)
    del draft.sources[update.name]


def _accept(draft: _Draft, _: int, update: u.AcceptArrivals) -> None:
    source = _known(draft.sources, "source", update.source)
    draft.sources[source.name] = replace(source, arrivals=source.arrivals.appended(update.arrivals))


def _note(draft: _Draft, _: int, update: u.NoteColumns) -> None:
    source = _known(draft.sources, "source", update.source)
    seen = {(column["name"], column["type"]) for column in source.extra}
    fresh = tuple(c for c in update.columns if (c["name"], c["type"]) not in seen)
    draft.sources[source.name] = replace(source, extra=source.extra + fresh)


def _alter_source(draft: _Draft, number: int, update: u.AlterSource) -> None:
    source = _known(draft.sources, "source", update.name)
    if list(update.schema[: len(source.schema)]) != list(source.schema):
        raise InvariantError(f"an update gives source {source.name} other columns than it has")
    names = {column["name"] for column in update.schema}
    draft.sources[source.name] = replace(
        source,
        arguments=update.arguments,
        schema=update.schema,
        extra=tuple(column for column in source.extra if column["name"] not in names),
        defined=number,
    )


def _skip(draft: _Draft, number: int, update: u.SkipArrival) -> None:
    source = _known(draft.sources, "source", update.source)
    if not 1 <= update.version <= source.version:
        raise InvariantError(
            f"an update skips version {update.version} of source {source.name}, "
            f"which has {source.version}"
        )
    draft.sources[source.name] = replace(source, skipped=source.skipped | {update.version})
    _forget_foreign_keys(draft, source.name, update.version)
    if _was_taken_in(draft, source.name, update.version):
        _forget(draft, number, source.name)


def _was_taken_in(draft: _Draft, source: str, version: int) -> bool:
    """Whether an answer, a state or the mirror was made from a version.

    What an answer was made of stands in its view: its chain may tell of a history that went away.
    """
    made = [c for c in draft.chains.values() if not c.id.startswith(("views/", "changes/"))]
    vectors = [*(c.versions for c in made), *(view.versions for view in draft.views.values())]
    return any((vector or {}).get(source, 0) >= version for vector in vectors)


def _examine(draft: _Draft, _: int, update: u.ExamineArrivals) -> None:
    source = _known(draft.sources, "source", update.source)
    if update.until > source.version:
        raise InvariantError(
            f"an update examines version {update.until} of source {source.name}, "
            f"which has {source.version}"
        )
    draft.sources[source.name] = replace(
        source,
        examined=max(source.examined, update.until),
        quarantined={**source.quarantined, **update.rows},
    )


def _hold(draft: _Draft, _: int, update: u.HoldSource) -> None:
    source = _known(draft.sources, "source", update.source)
    draft.sources[source.name] = replace(source, held=update.held)


def _complete(draft: _Draft, _: int, update: u.MarkComplete) -> None:
    source = _known(draft.sources, "source", update.source)
    if update.until not in source.complete:
        complete = (*source.complete, update.until)
        draft.sources[source.name] = replace(source, complete=complete)


def _reset(draft: _Draft, number: int, update: u.ResetSource) -> None:
    source = _known(draft.sources, "source", update.source)
    _forget_history(draft, number, source.name)
    draft.sources[source.name] = Source(
        source.name,
        source.kind,
        source.arguments,
        source.schema,
        held=source.held,
        epoch=number,
        defined=source.defined,
    )


def _forget_history(draft: _Draft, number: int, source: str) -> None:
    """Take away all that a history tells of: its versions begin anew, and compare with none before."""
    _forget(draft, number, source)
    _forget_foreign_keys(draft, source, 0)
    for view in list(draft.views.values()):
        if source in view.former_versions:
            former = {name: at for name, at in view.former_versions.items() if name != source}
            draft.views[view.name] = replace(view, former_versions=former)


def _forget_foreign_keys(draft: _Draft, source: str, since: int) -> None:
    """Take away what was found of foreign keys over a version of a source, or a later one."""
    for foreign_key in list(draft.foreign_keys.values()):
        if foreign_key.versions.get(source, -1) >= since:
            del draft.foreign_keys[foreign_key.name]


def _forget(draft: _Draft, number: int, source: str) -> None:
    """Take away what was made from a source, and is to be made anew.

    A chain that stayed would look as if it were up to date.
    """
    for chain in list(draft.chains.values()):
        mirror = chain.id == f"sources/{source}"
        state = chain.id.startswith("states/") and source in (chain.versions or ())
        if mirror or state:
            del draft.chains[chain.id]
    for view in list(draft.views.values()):
        if source in (view.versions or ()):
            draft.views[view.name] = replace(
                view, versions=None, former_versions=view.reached, token=number
            )


def _add_function(draft: _Draft, _: int, update: u.AddFunction) -> None:
    name = update.function.name
    _free("function", name, draft.seen().function(name))
    draft.functions[name] = update.function


def _drop_function(draft: _Draft, _: int, update: u.DropFunction) -> None:
    _known(draft.functions, "function", update.name)
    del draft.functions[update.name]


def _sink_free(draft: _Draft, view: _Stated) -> None:
    """Two views never publish to one place, whoever adds the other one meanwhile."""
    sink = view.settings.get("sink")
    for other in draft.views.values():
        if sink is not None and other.name != view.name and other.settings.get("sink") == sink:
            raise InvariantError(f"an update gives view {view.name} the sink of view {other.name}")


def _add_view(draft: _Draft, number: int, update: u.AddView) -> None:
    _free("view", update.name, draft.seen().relation(update.name))
    _sink_free(draft, update)
    _readable(draft, update)
    draft.views[update.name] = _view(number, update)


def _replace_view(draft: _Draft, number: int, update: u.ReplaceView) -> None:
    old = _known(draft.views, "view", update.name)
    _readable(draft, update)
    _sink_free(draft, update)
    draft.views[old.name] = replace(
        _view(number, update),
        paused=bool(update.settings.get("paused", old.paused)),
        former=_retired(draft, old),
        former_versions=old.reached,
        forgotten_run=old.forgotten_run,
    )


def _restate_view(draft: _Draft, number: int, update: u.RestateView) -> None:
    old = _known(draft.views, "view", update.name)
    _readable(draft, update)
    _sink_free(draft, update)
    draft.views[old.name] = replace(
        _view(number, update),
        paused=bool(update.settings.get("paused", old.paused)),
        versions=old.versions,
        run=old.run,
        since=old.since,
        former=old.former,
        former_versions=old.former_versions,
        forgotten_run=old.forgotten_run,
        doubted=old.doubted,
    )


def _retired(draft: _Draft, view: ViewRecord) -> tuple[FormerText, ...]:
    """Put the answers of a text aside under the last run that made them."""
    answer = draft.chains.pop(f"views/{view.name}", None)
    changes = draft.chains.pop(f"changes/{view.name}", None)
    if answer is None or view.run is None:
        return view.former
    former = FormerText(view.since or 0, view.run, view.definition)
    aside = former.chain("views", view.name)
    draft.chains[aside] = replace(answer, id=aside)
    if changes is not None:
        aside = former.chain("changes", view.name)
        draft.chains[aside] = replace(changes, id=aside)
    return (*view.former, former)


def _forget_former(draft: _Draft, _: int, update: u.ForgetFormer) -> None:
    view = _known(draft.views, "view", update.view)
    for former in view.former:
        if former.run == update.run:
            _drop_answers(draft, view.name, former)
    kept = tuple(former for former in view.former if former.run != update.run)
    forgotten = max(update.run, view.forgotten_run or 0)
    draft.views[view.name] = replace(view, former=kept, forgotten_run=forgotten)


def _drop_answers(draft: _Draft, view: str, former: FormerText) -> None:
    draft.chains.pop(former.chain("views", view), None)
    draft.chains.pop(former.chain("changes", view), None)


_Stated = u.AddView | u.ReplaceView | u.RestateView


def _readable(draft: _Draft, view: _Stated) -> None:
    """A view comes only while all that it reads is there, whoever drops it meanwhile."""
    for source in view.definition.get("sources", ()):
        _known(draft.sources, "source", source)
    for other in view.settings.get("reads", ()):
        _known(draft.views, "view", other)


def _unread(draft: _Draft, kind: str, name: str) -> None:
    """What a view reads stays, whoever adds that view meanwhile."""
    for view in draft.views.values():
        if name in reads(view):
            raise InvariantError(f"an update drops {kind} {name}, which view {view.name} reads")


def _view(number: int, update: _Stated) -> ViewRecord:
    return ViewRecord(
        paused=bool(update.settings.get("paused", False)),
        name=update.name,
        sql=update.sql,
        settings=update.settings,
        conf=update.conf,
        definition=update.definition,
        reasons=update.reasons,
        token=number,
        states=update.states,
        defined=number,
    )


def _drop_view(draft: _Draft, _: int, update: u.DropView) -> None:
    view = _known(draft.views, "view", update.name)
    _unread(draft, "view", update.name)
    draft.chains.pop(f"views/{update.name}", None)
    for former in view.former:
        _drop_answers(draft, view.name, former)
    del draft.views[update.name]


def _pause(draft: _Draft, _: int, update: u.PauseView) -> None:
    view = _known(draft.views, "view", update.name)
    draft.views[view.name] = replace(view, paused=update.paused)


def _note_foreign_keys(draft: _Draft, number: int, update: u.NoteForeignKeys) -> None:
    for foreign_key in update.foreign_keys:
        for source in (foreign_key.source, foreign_key.target):
            _known(draft.sources, "source", source)
        draft.foreign_keys[foreign_key.name] = replace(foreign_key, token=number)


def _doubt(draft: _Draft, number: int, update: u.DoubtAnswer) -> None:
    view = _known(draft.views, "view", update.view)
    draft.views[view.name] = replace(
        view,
        versions=None,
        former_versions=view.reached,
        doubted=update.foreign_key,
        token=number,
    )


def _set_chain(draft: _Draft, number: int, update: u.SetChain) -> None:
    draft.chains[update.chain.id] = replace(update.chain, token=number)


def _extend_chain(draft: _Draft, number: int, update: u.ExtendChain) -> None:
    chain: Chain = _known(draft.chains, "chain", update.id)
    segments = (*chain.segments, update.segment)
    draft.chains[chain.id] = replace(chain, segments=segments, token=number)


def _drop_chain(draft: _Draft, _: int, update: u.DropChain) -> None:
    _known(draft.chains, "chain", update.id)
    del draft.chains[update.id]


def _advance(draft: _Draft, number: int, update: u.AdvanceView) -> None:
    view = _known(draft.views, "view", update.view)
    draft.views[view.name] = replace(
        view,
        versions=update.versions,
        former_versions={},
        run=update.run,
        since=update.run if view.since is None and view.run is None else view.since,
        token=number,
        doubted="",
    )


def _record_run(draft: _Draft, number: int, update: u.RecordRun) -> None:
    if update.run in draft.runs or update.plan_id in draft.plans:
        raise InvariantError(f"run {update.run} or plan {update.plan_id} is recorded already")
    draft.runs[update.run] = RunRecord(update.run, update.plan_id, update.report, number)
    draft.plans[update.plan_id] = update.run
    if update.report:
        draft.full_reports.append(update.run)
    if len(draft.full_reports) > KEPT_REPORTS:
        oldest = draft.full_reports.pop(0)
        draft.runs[oldest] = replace(draft.runs[oldest], report={})


def _collect(draft: _Draft, number: int, update: u.Collect) -> None:
    if update.point >= number:
        raise InvariantError(f"entry {number} moves the collection point to {update.point}")
    draft.collected = max(draft.collected, update.point)


STEPS: Final[Mapping[type, Callable[[_Draft, int, Any], None]]] = MappingProxyType(
    {
        u.CreateWorkspace: _create,
        u.AddSource: _add_source,
        u.DropSource: _drop_source,
        u.AcceptArrivals: _accept,
        u.NoteColumns: _note,
        u.AlterSource: _alter_source,
        u.SkipArrival: _skip,
        u.ExamineArrivals: _examine,
        u.HoldSource: _hold,
        u.MarkComplete: _complete,
        u.ResetSource: _reset,
        u.AddFunction: _add_function,
        u.DropFunction: _drop_function,
        u.AddView: _add_view,
        u.ReplaceView: _replace_view,
        u.RestateView: _restate_view,
        u.ForgetFormer: _forget_former,
        u.DropView: _drop_view,
        u.PauseView: _pause,
        u.NoteForeignKeys: _note_foreign_keys,
        u.DoubtAnswer: _doubt,
        u.SetChain: _set_chain,
        u.ExtendChain: _extend_chain,
        u.DropChain: _drop_chain,
        u.AdvanceView: _advance,
        u.RecordRun: _record_run,
        u.Collect: _collect,
    }
)
