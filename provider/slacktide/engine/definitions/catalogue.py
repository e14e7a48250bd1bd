"""Writing definitions to the log, each as one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import changes_id, mirror_id
from slacktide.common.clock import is_point, isoformat
from slacktide.common.names import check_name
from slacktide.engine.definitions.drafts import (
    ViewDraft,
    check_free,
    check_function,
    check_known,
    draft_view,
    refuse_if_called,
    refuse_if_read,
)
from slacktide.engine.definitions.forgetting import forget_states, unmoved
from slacktide.engine.definitions.places import check_sink_place, check_source_places
from slacktide.engine.definitions.redefining import (
    Redefinition,
    altered_source,
    replaced_view,
)
from slacktide.engine.definitions.sink_setting import check_sink_of
from slacktide.engine.sources import (
    check_arguments,
    check_pins,
    check_source,
    naming,
    seen_before,
    widened,
)
from slacktide.errors import (
    CommitConflictError,
    FunctionError,
    InvalidNameError,
    InvalidSettingError,
    ObjectExistsError,
)
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import FunctionRecord, Source, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store

_COMMITS = 50
"""Writers that may be faster, one after another."""


class Catalogue:
    """The definitions of one workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def world(self) -> World:
        """The workspace as it is."""
        return self._store.world()

    def add_source(self, name: str, kind: str, arguments: Mapping[str, Any]) -> Source:
        """Add a source."""
        check_name("source", name)

        def define(world: World) -> Redefinition:
            check_free(world, name)
            with naming(name):
                checked = check_arguments(kind, arguments)
            check_source_places(name, checked, self._store.root, world)
            with naming(name):
                found = check_source(name, kind, checked, storage_options=self._store.options)
            update = u.AddSource(name, kind, found.arguments, found.schema)
            # What is only read may lie anywhere but where we write; a quarantine meets nothing.
            apart = q.NonePlaced(world.number, read="quarantine" in found.arguments)
            return Redefinition([update], [q.NameFree("source", name), apart])

        self._redefine(define)
        return self._store.world().sources[name]

    def draft_view(
        self, spark: SparkSession, name: str, sql: str, settings: Mapping[str, Any]
    ) -> ViewDraft:
        """Read and check a view."""
        world = self._store.world()
        draft = draft_view(spark, world, name, sql, settings)
        check_sink_of(name, draft.settings, draft.view.outputs, self._store, world)
        return draft

    def add_view(self, draft: ViewDraft) -> ViewRecord:
        """Add a view that was read."""

        def define(world: World) -> Redefinition:
            check_free(world, draft.name)
            check_sink_place(draft.name, draft.settings, self._store.root, world)
            update, free = draft.update(), q.NameFree("view", draft.name)
            return Redefinition([update], [free, *draft.ground, *_apart([update], world)])

        self._redefine(define)
        return self._store.world().views[draft.name]

    def replace_view(
        self,
        spark: SparkSession,
        name: str,
        sql: str,
        settings: Mapping[str, Any],
        *,
        resumes: bool = False,
    ) -> ViewRecord:
        """Put another text in the place of a view's, and read again what reads it.

        Args:
            spark: by which texts are read.
            name: of the view.
            sql: its text.
            settings: of it.
            resumes: whether a view that is paused, and of which the settings say nothing of that, is so no longer.
        """

        def redefine(world: World) -> Redefinition:
            check_known("view", name, world.views)
            found = replaced_view(spark, world, name, sql, settings)
            self._check_sinks(found.updates, world)
            apart = _apart(found.updates, world)
            updates = [*found.updates, *([u.PauseView(name, paused=False)] if resumes else [])]
            return replace(found, updates=updates, requirements=[*found.requirements, *apart])

        self._redefine(redefine)
        return self._store.world().views[name]

    def _check_sinks(self, updates: Iterable[u.Update], world: World) -> None:
        for update in updates:
            if isinstance(update, u.ReplaceView | u.RestateView):
                outputs = ReadView.from_dict(update.definition).outputs
                check_sink_of(update.name, update.settings, outputs, self._store, world)

    def alter_source(self, spark: SparkSession | None, name: str, schema: str) -> tuple[str, ...]:
        """Give a source more columns; give the names of the views that mean something else now."""

        def redefine(world: World) -> Redefinition:
            check_known("source", name, world.sources)
            source = world.sources[name]
            wide = widened(source, schema)
            altered = replace(source, arguments=wide.arguments, schema=wide.schema)
            updates: list[u.Update] = [u.AlterSource(name, wide.arguments, wide.schema)]
            updates += self._mirror_without(world, source, wide.schema)
            found = altered_source(spark, world, altered, updates)
            mirror = world.chains.get(mirror_id(name))
            ground: list[q.Requirement] = [
                q.ChainIs(mirror_id(name), None if mirror is None else mirror.token),
                q.DefinedBy("source", name, source.defined),
                q.SourceIs(name, source.epoch),
                q.SourceArrivals(name, source.version),
            ]
            return replace(found, requirements=[*found.requirements, *ground])

        return self._redefine(redefine).replaced

    def _mirror_without(
        self, world: World, source: Source, schema: tuple[Mapping[str, Any], ...]
    ) -> list[u.Update]:
        """Drop a mirror that lacks values of a new column; the files that it stands for have them."""
        chain = world.chains.get(mirror_id(source.name))
        first = seen_before(source, schema)
        if chain is None or chain.versions is None or first is None:
            return []
        mirrored = chain.versions[source.name]
        if first > mirrored:
            return []
        check_pins(
            (file for version, file in source.arrivals.pins() if version not in source.skipped),
            storage_options=self._store.options,
            source=source.name,
        )
        return [u.DropChain(chain.id)]

    def _redefine(self, make: Callable[[World], Redefinition]) -> Redefinition:
        """Commit what a definition does; made again where another writer moved what it goes by."""
        for _ in range(_COMMITS - 1):
            with suppress(CommitConflictError):
                return self._committed(make)
        return self._committed(make)

    def _committed(self, make: Callable[[World], Redefinition]) -> Redefinition:
        made = make(self._store.world())
        self._store.commit(made.updates, made.requirements)
        return made

    def drop_view(self, name: str) -> None:
        """Remove a view, its answer, and the states that no other view keeps."""
        world = self._store.world()
        check_known("view", name, world.views)
        refuse_if_read(world, "view", name)
        states = forget_states(world, {name: ()})
        updates: list[u.Update] = [u.DropView(name), *_forget_changes(world, name), *states]
        ground: list[q.Requirement] = [
            q.ViewIs(name, world.views[name].token),
            *unmoved(world, states),
        ]
        self._store.commit(updates, ground)

    def drop_source(self, name: str) -> None:
        """Remove a source that no view reads."""
        world = self._store.world()
        check_known("source", name, world.sources)
        refuse_if_read(world, "source", name)
        self._store.commit([u.DropSource(name)], [q.SourceIs(name, world.sources[name].epoch)])

    def reset_source(self, name: str) -> None:
        """Forget the history of a source."""
        world = self._store.world()
        check_known("source", name, world.sources)
        self._store.commit([u.ResetSource(name)], [q.SourceIs(name, world.sources[name].epoch)])

    def hold_source(self, name: str, *, held: bool) -> None:
        """Hold or release a source."""
        check_known("source", name, self._store.world().sources)
        self._store.commit([u.HoldSource(name, held)])

    def mark_complete(self, name: str, until: datetime | str) -> None:
        """Mark a source as complete up to a point."""
        check_known("source", name, self._store.world().sources)
        text = until if isinstance(until, str) else isoformat(until)
        if not is_point(text):
            raise InvalidSettingError(
                f"source {name} cannot be complete up to {text!r}, which is no point in time",
                hint="give an instant, a day, a month or a year: 2026-01-31T12:00:00Z, 2026-01-31, 2026-01, 2026",
            )
        self._store.commit([u.MarkComplete(name, text)])

    def pause_view(self, name: str, *, paused: bool) -> None:
        """Pause a view, or go on."""
        check_known("view", name, self._store.world().views)
        self._store.commit([u.PauseView(name, paused)])

    def add_function(
        self, name: str, target: str, returns: str, declaration: Mapping[str, Any]
    ) -> FunctionRecord:
        """Declare a function."""
        from slacktide.spark.functions import is_builtin

        check_name("function", name)
        check_function(name, returns, declaration)
        if is_builtin(name):
            raise InvalidNameError(
                f"function name {name!r} is that of a function of Spark",
                hint="choose another name, as texts of views would mean yours and others Spark's",
            )
        module, colon, attribute = target.partition(":")
        if not (module and colon and attribute):
            raise FunctionError(
                f"function {name} has the target {target!r}",
                hint="a target is written as module:function",
            )
        taken = self._store.world().function(name)
        if taken:
            raise ObjectExistsError(
                f"there is a {taken} already", hint="drop it first, or choose another name"
            )
        record = FunctionRecord(name, target, returns, dict(declaration))
        self._store.commit([u.AddFunction(record)], [q.NameFree("function", name)])
        return record

    def drop_function(self, name: str) -> None:
        """Remove a function that no view calls."""
        world = self._store.world()
        check_known("function", name, world.functions)
        refuse_if_called(world, name)
        unused: list[q.Requirement] = [q.FunctionIs(world.functions[name]), q.Uncalled(name)]
        self._store.commit([u.DropFunction(name)], unused)


def _apart(updates: Iterable[u.Update], world: World) -> list[q.Requirement]:
    """What keeps sinks apart from what another writer places meanwhile."""
    views = (one for one in updates if isinstance(one, u.AddView | u.ReplaceView | u.RestateView))
    has_sink = any(view.settings.get("sink") is not None for view in views)
    return [q.NonePlaced(world.number)] if has_sink else []


def _forget_changes(world: World, name: str) -> list[u.Update]:
    chain = changes_id(name)
    return [u.DropChain(chain)] if chain in world.chains else []
