"""Taking in what has landed: accepting arrivals, and leaving some out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from slacktide.common.clock import Clock, isoformat
from slacktide.engine.definitions.drafts import check_known
from slacktide.engine.intake.sole_copies import check_left_out
from slacktide.engine.sources import Look, accept, look_again, peek, resolve_file, wide_ddl
from slacktide.errors import (
    ArrivalChangedError,
    CommitConflictError,
    InvalidSettingError,
    SlacktideError,
    SourceError,
    UnknownObjectError,
)
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.arrivals import Arrival, PinnedFile
from slacktide.store.record import Source, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a discovery would find at a source.

    Attributes:
        files: that came and are not accepted; 0 where none can be.
        error: why none can be, as `SlacktideError.to_dict`; None where they can, as far as is known without
            opening them.
    """

    files: int = 0
    error: Mapping[str, str] | None = None


class Intake:
    """What lands in the sources of one workspace."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def discover(self) -> dict[str, int]:
        """Accept what has landed at each source; give the newest versions."""
        failures: list[SourceError] = []
        for name, source in self._store.world().sources.items():
            try:
                if not source.held:
                    self._discover(name)
            except SourceError as failure:
                failures.append(failure)
        if failures:  # after the others were taken in
            raise failures[0]
        return {name: source.version for name, source in self._store.world().sources.items()}

    def _discover(self, name: str) -> None:
        """Accept what has landed at a source, as it is once those before it are done; as often as another writer moves it meanwhile."""
        while (source := self._store.world().sources.get(name)) is not None:
            if self._take_in(source):
                return

    def _take_in(self, source: Source) -> bool:
        """Accept what has landed at a source; False where another writer moved it meanwhile."""
        look = self._look(source)
        if not self._settled(source, look):
            return False
        if not look.fresh:
            return True
        now = self._clock()
        accepted = accept(source, look.fresh, storage_options=self._store.options, now=now)
        if not accepted.arrivals:
            return True
        name = source.name
        requirements: list[q.Requirement] = [
            q.SourceIs(name, source.epoch),
            q.SourceArrivals(name, source.version),
        ]
        # What was expected of the files must still be so, and what was not must be noted.
        requirements.append(q.DefinedBy("source", name, source.defined))
        updates: list[u.Update] = [u.AcceptArrivals(name, accepted.arrivals)]
        if accepted.extra:
            updates.append(u.NoteColumns(name, accepted.extra))
        if accepted.statistics:
            updates.append(u.NoteStatistics(name, accepted.statistics))
        if accepted.spans:
            updates.append(u.NoteSpans(name, accepted.spans))
        try:
            self._store.commit(updates, requirements)
        except CommitConflictError:
            return False  # what the other one took is no longer new
        return True

    def _settled(self, source: Source, look: Look) -> bool:
        """Whether accepted files are what they were, those that were touched by new marks; not where the source moved.

        Raises:
            ArrivalChangedError: one is not, and is named once the others are pinned.
        """
        again, wrong = self._look_again(source, look, deeply=True)
        if again:
            repin = u.RepinFiles(source.name, tuple(again))
            try:
                self._store.commit([repin], [q.SourceIs(source.name, source.epoch)])
            except CommitConflictError:
                return False
        if wrong is not None:
            raise wrong
        return True

    def extra_since(self, known: World) -> list[str]:
        """Say which columns files have that nobody declared, and that no file had in a world."""
        notices = []
        for name, source in self._store.world().sources.items():
            before = known.sources.get(name)
            seen = () if before is None else before.extra
            fresh = [column for column in source.extra if column not in seen]
            if fresh:
                listed = ", ".join(f"{c['name']} {c['type']}" for c in fresh)
                notices.append(
                    f"source {name}: files have the columns {listed}, which are not declared and are "
                    f"ignored; slacktide source alter {name} --schema {quote(wide_ddl(source))} "
                    "takes them in"
                )
        return notices

    def waiting(self) -> dict[str, Waiting]:
        """Per source, what a discovery would find; of one that is held, nothing."""
        sources = self._store.world().sources.values()
        return {s.name: Waiting() if s.held else self._waiting(s) for s in sources}

    def _waiting(self, source: Source) -> Waiting:
        try:
            return Waiting(len(self._fresh(source)))
        except SlacktideError as failure:
            return Waiting(error=failure.to_dict())

    def pending(self) -> dict[str, int]:
        """Arrivals per source, landed files included, that some view lacks and no refresh of its period has seen.

        Raises:
            SourceError: a directory cannot be read, or an accepted file has another size.
        """
        world = self._store.world()
        return {
            name: 0
            if source.held
            else len(self._fresh(source)) + source.version - _taken_in_by_all(world, source)
            for name, source in world.sources.items()
        }

    def skip(self, name: str, arrival: int | str) -> None:
        """Leave out an arrival by version, or a file that landed by its name.

        Raises:
            UnknownObjectError: there is no such source or arrival.
            SourceError: its rows cannot be taken out of the mirror, as files that came since are gone.
        """
        world = self._store.world()
        check_known("source", name, world.sources)
        source = world.sources[name]
        if not isinstance(arrival, str):
            arrival = int(arrival)  # it may be a number of NumPy, which no log can hold
            if arrival in source.skipped:
                return  # once more would only have the views built anew
            if not 1 <= arrival <= source.version:
                raise UnknownObjectError(
                    f"source {name} has no arrival {arrival}",
                    hint=f"its arrivals are numbered 1 to {source.version}",
                )
            ground = check_left_out(self._store, world, name, arrival)
            needed = [q.SourceIs(name, source.epoch), *ground]
            self._store.commit([u.SkipArrival(name, arrival)], needed)
            return
        accepted = {file.path: version for version, file in source.arrivals.pins()}
        path = resolve_file(source, arrival)
        landed = {} if path in accepted else {file.path: file for file in self._look(source).fresh}
        path = _called(source, [*accepted, *landed], arrival, landed)
        if path in accepted:
            self.skip(name, accepted[path])
            return
        file = landed[path]
        now = isoformat(self._clock())
        left_out = Arrival(files=(file,), rows=0, bytes=file.size, accepted=now, deletes=0)
        self._store.commit(
            [u.AcceptArrivals(name, [left_out]), u.SkipArrival(name, source.version + 1)],
            [q.SourceIs(name, source.epoch), q.SourceArrivals(name, source.version)],
        )

    def _fresh(self, source: Source) -> list[PinnedFile]:
        """What came; no file is read for it.

        Raises:
            SourceError: the directory cannot be read, or an accepted file has another size.
        """
        look = self._look(source)
        _, wrong = self._look_again(source, look, deeply=False)
        if wrong is not None:
            raise wrong
        return look.fresh

    def _look_again(
        self, source: Source, look: Look, *, deeply: bool
    ) -> tuple[list[PinnedFile], ArrivalChangedError | None]:
        options = self._store.options
        return look_again(source, look.rewritten, storage_options=options, deeply=deeply)

    def _look(self, source: Source) -> Look:
        return peek(source, storage_options=self._store.options, now=self._clock())


def _called(source: Source, paths: Sequence[str], name: str, landed: Collection[str]) -> str:
    """The file that a user names: by its path, its path below the source, or its last part.

    Raises:
        UnknownObjectError: there is none.
        InvalidSettingError: the last part is that of several files.
    """
    alike = [path for path in paths if path in {name, resolve_file(source, name)}]
    alike = alike or [path for path in paths if _last(path) == name]
    if not alike:
        listed = ", ".join(_last(path) for path in [*landed][:5]) or "none"
        raise UnknownObjectError(
            f"source {source.name} has no file {name!r}",
            hint=f"files that landed and are not accepted yet: {listed}; accepted ones: slacktide source arrivals {source.name}",
        )
    if len(alike) > 1:
        raise InvalidSettingError(
            f"source {source.name} has {len(alike)} files with the name {name!r}",
            hint=f"give the path of one: {', '.join(alike[:5])}",
        )
    return alike[0]


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _taken_in_by_all(world: World, source: Source) -> int:
    """The version that no view lacks; paused views wait for nothing, and such as are due later for more to come."""
    taken = world.taken_in(source.name)
    waited = [
        max(at, _seen(world.views[name], source.name))
        for name, at in taken.items()
        if not world.views[name].paused
    ]
    return min(waited, default=0 if not world.views else source.version)


def _seen(view: ViewRecord, source: str) -> int:
    """The version up to which a refresh has looked since the answer; 0 where the next one answers in any case."""
    if view.period is None or view.versions is None:
        return 0
    return view.period.seen.get(source, 0)
