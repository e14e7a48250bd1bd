"""Writing definitions to the log, each as one commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slacktide.common.names import check_name
from slacktide.engine.definitions import (
    ViewDraft,
    draft_view,
    known,
    refuse_if_called,
    refuse_if_read,
)
from slacktide.engine.sources import check_source
from slacktide.errors import FunctionError, InvalidNameError, ObjectExistsError
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import FunctionRecord, Source, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.handles import SparkSession
    from slacktide.store.store import Store


class Catalogue:
    """The definitions of one workspace."""

    def __init__(self, store: Store, storage_options: Mapping[str, Any] | None) -> None:
        self._store = store
        self._options = storage_options

    def add_source(self, name: str, kind: str, arguments: Mapping[str, Any]) -> Source:
        """Add a source."""
        world = self._store.world()
        check_name("source", name)
        _free(world, name)
        found = check_source(name, kind, arguments, storage_options=self._options)
        update = u.AddSource(name, kind, found.arguments, found.schema)
        self._store.commit([update], [q.NameFree("source", name)])
        return self._store.world().sources[name]

    def draft_view(
        self, spark: SparkSession, name: str, sql: str, settings: Mapping[str, Any]
    ) -> ViewDraft:
        """Read and check a view."""
        return draft_view(spark, self._store.world(), name, sql, settings)

    def add_view(self, draft: ViewDraft) -> ViewRecord:
        """Add a view that was read."""
        _free(self._store.world(), draft.name)
        self._store.commit([draft.update()], [q.NameFree("view", draft.name)])
        return self._store.world().views[draft.name]

    def replace_view(
        self, spark: SparkSession, name: str, sql: str, settings: Mapping[str, Any]
    ) -> ViewRecord:
        """Put another text in the place of a view's."""
        world = self._store.world()
        known("view", name, world.views)
        refuse_if_read(world, "view", name)
        draft = self.draft_view(spark, name, sql, settings)
        kept = draft.replacement()
        updates: list[u.Update] = [kept, *_forget_changes(world, name)]
        updates += _forget_states(world, name, kept.states)
        self._store.commit(updates, [q.ViewIs(name, world.views[name].token)])
        return self._store.world().views[name]

    def drop_view(self, name: str) -> None:
        """Remove a view, its answer, and the states that no other view keeps."""
        world = self._store.world()
        known("view", name, world.views)
        refuse_if_read(world, "view", name)
        updates: list[u.Update] = [u.DropView(name), *_forget_changes(world, name)]
        updates += _forget_states(world, name)
        self._store.commit(updates, [q.ViewIs(name, world.views[name].token)])

    def drop_source(self, name: str) -> None:
        """Remove a source that no view reads."""
        world = self._store.world()
        known("source", name, world.sources)
        refuse_if_read(world, "source", name)
        self._store.commit([u.DropSource(name)], [q.SourceIs(name, world.sources[name].epoch)])

    def reset_source(self, name: str) -> None:
        """Forget the history of a source."""
        world = self._store.world()
        known("source", name, world.sources)
        self._store.commit([u.ResetSource(name)], [q.SourceIs(name, world.sources[name].epoch)])

    def hold_source(self, name: str, *, held: bool) -> None:
        """Hold or release a source."""
        known("source", name, self._store.world().sources)
        self._store.commit([u.HoldSource(name, held)])

    def mark_complete(self, name: str, until: str) -> None:
        """Mark a source as complete up to a point."""
        known("source", name, self._store.world().sources)
        self._store.commit([u.MarkComplete(name, until)])

    def pause_view(self, name: str, *, paused: bool) -> None:
        """Pause a view, or go on."""
        known("view", name, self._store.world().views)
        self._store.commit([u.PauseView(name, paused)])

    def add_function(
        self, name: str, target: str, returns: str, declaration: Mapping[str, Any]
    ) -> FunctionRecord:
        """Declare a function."""
        from slacktide.spark.functions import is_builtin

        check_name("function", name)
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
        if self._store.world().function(name):
            raise ObjectExistsError(
                f"there is a function {name} already", hint="drop it first, or choose another name"
            )
        record = FunctionRecord(name, target, returns, dict(declaration))
        self._store.commit([u.AddFunction(record)], [q.NameFree("function", name)])
        return record

    def drop_function(self, name: str) -> None:
        """Remove a function that no view calls."""
        world = self._store.world()
        known("function", name, world.functions)
        refuse_if_called(world, name)
        self._store.commit([u.DropFunction(name)])


def _forget_changes(world: World, name: str) -> list[u.Update]:
    chain = f"changes/{name}"
    return [u.DropChain(chain)] if chain in world.chains else []


def _forget_states(world: World, name: str, still: Sequence[str] = ()) -> list[u.Update]:
    """Drop the states of a view that no other view keeps, nor it itself from now on."""
    kept = {s for v in world.views.values() if v.name != name for s in v.states} | set(still)
    states = world.views[name].states
    return [u.DropChain(state) for state in states if state in world.chains and state not in kept]


def _free(world: World, name: str) -> None:
    taken = world.relation(name)
    if taken is not None:
        raise ObjectExistsError(
            f"the name {name} is taken by {taken}", hint="choose another name, or drop that first"
        )
