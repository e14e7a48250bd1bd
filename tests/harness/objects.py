"""Object stores that fail, and histories that a workspace may have."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from slacktide import store as s
from slacktide.errors import StorageError
from slacktide.store.objects import ByteRange
from slacktide.store.record import ArrivalSpans, ColumnStatistics, KeySpans

T = TypeVar("T")


class Killed(BaseException):
    """The process ended here: nothing may catch this."""


class TickingClock:
    """A clock that goes on by a second each time it is read."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class SetClock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class StampedObjects:
    """Passes calls on; objects carry the time of a clock of ours, as if their store went by it."""

    inner: s.Objects
    clock: SetClock
    written: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> s.Address:
        return self.inner.address

    def put_if_absent(self, key: str, data: bytes) -> bool:
        is_ours = self.inner.put_if_absent(key, data)
        if is_ours:
            self.written[key] = self.clock.now.isoformat()
        return is_ours

    def put(self, key: str, data: bytes) -> None:
        self.inner.put(key, data)
        self.written[key] = self.clock.now.isoformat()

    def get(self, key: str) -> bytes | None:
        return self.inner.get(key)

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        return self.inner.get_many(keys)

    def get_ranges(self, ranges: Sequence[ByteRange]) -> Sequence[bytes | None]:
        return self.inner.get_ranges(ranges)

    def head(self, key: str) -> s.ObjectMeta | None:
        meta = self.inner.head(key)
        return None if meta is None else self._stamped(meta)

    def delete(self, keys: Sequence[str]) -> None:
        self.inner.delete(keys)

    def list(self, prefix: str) -> Iterator[s.ObjectMeta]:
        return map(self._stamped, self.inner.list(prefix))

    def _stamped(self, meta: s.ObjectMeta) -> s.ObjectMeta:
        return replace(meta, modified=self.written[meta.path])


@dataclass
class FaultyObjects:
    """Passes calls on; at one of them the process dies or the answer is lost.

    Attributes:
        fail_at: which call, counted from 0; None for never.
        before: fail before the call is done, else after.
        error: what is raised.
        hook: called before each call with its name and key.
    """

    inner: s.Objects
    fail_at: int | None = None
    before: bool = True
    error: Callable[[], BaseException] = Killed
    hook: Callable[[str, str], None] | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def address(self) -> s.Address:
        return self.inner.address

    def put_if_absent(self, key: str, data: bytes) -> bool:
        return self._pass("put_if_absent", key, lambda: self.inner.put_if_absent(key, data))

    def put(self, key: str, data: bytes) -> None:
        return self._pass("put", key, lambda: self.inner.put(key, data))

    def get(self, key: str) -> bytes | None:
        return self._pass("get", key, lambda: self.inner.get(key))

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        return [self.get(key) for key in keys]

    def get_ranges(self, ranges: Sequence[ByteRange]) -> Sequence[bytes | None]:
        return [self._pass("get", one[0], partial(self._range, one)) for one in ranges]

    def _range(self, one: ByteRange) -> bytes | None:
        return self.inner.get_ranges([one])[0]

    def head(self, key: str) -> s.ObjectMeta | None:
        return self._pass("head", key, lambda: self.inner.head(key))

    def delete(self, keys: Sequence[str]) -> None:
        return self._pass("delete", ",".join(keys), lambda: self.inner.delete(keys))

    def list(self, prefix: str) -> Iterator[s.ObjectMeta]:
        return self._pass("list", prefix, lambda: self.inner.list(prefix))

    def _pass(self, name: str, key: str, call: Callable[[], T]) -> T:
        if self.hook is not None:
            self.hook(name, key)
        now = len(self.calls) == self.fail_at
        self.calls.append((name, key))
        if now and self.before:
            raise self.error()
        answer = call()
        if now:
            raise self.error()
        return answer


def lost() -> StorageError:
    """The answer did not come."""
    return StorageError("the connection was reset", hint="repeat")


def arrival(name: str, *, files: int = 1) -> s.Arrival:
    """An arrival of some files."""
    pins = tuple(s.PinnedFile(f"/in/{name} {i}", 10 + i, f"m{i}", None, i) for i in range(files))
    return s.Arrival(pins, None, 10 * files, "2026-01-01T00:00:00.000000Z")


def segment(run: int, **versions: int) -> s.Segment:
    """A segment of one file."""
    return s.Segment(run, (s.StoredFile(f"states/x/{run}/a.parquet", 3, 2),), 2, 3, versions)


class RandomHistory:
    """Makes updates that fit the world they are asked for."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - histories, not secrets
        self._count = 0

    def updates(self, world: s.World) -> list[s.Update]:
        """Give the updates of one entry."""
        self._count += 1
        dice = self._random
        makers: list[Callable[[s.World], list[s.Update]]] = [
            self._new_source,
            self._new_view,
            self._new_chain,
            self._run,
        ]
        makers += [self._of_source] * 4 * bool(world.sources)
        makers += [self._of_view] * 2 * bool(world.views)
        makers += [self._of_chain] * 2 * bool(world.chains)
        return dice.choice(makers)(world)

    def _new_source(self, _: s.World) -> list[s.Update]:
        n = self._count
        function = s.FunctionRecord(f"f{n}", "m:f", "INT", {"deterministic": True})
        return [
            s.AddSource(f"s{n}", "files", {"path": f"/in/{n}"}, ({"name": "a", "type": "INT"},)),
            s.AddFunction(function),
        ]

    def _new_view(self, _: s.World) -> list[s.Update]:
        return [s.AddView(f"v{self._count}", "SELECT 1", {}, {"a": "b"}, {}, ("CLOCK",), ("x",))]

    def _new_chain(self, world: s.World) -> list[s.Update]:
        versions = {name: source.version for name, source in world.sources.items()}
        kept = segment(self._count, **versions)
        return [s.SetChain(s.Chain(f"states/{self._count}", ({"name": "a"},), kept))]

    def _run(self, _: s.World) -> list[s.Update]:
        return [s.RecordRun(self._count, f"plan-{self._count}", {"rows": self._count})]

    def _of_source(self, world: s.World) -> list[s.Update]:
        dice, name = self._random, self._random.choice(sorted(world.sources))
        accept = s.AcceptArrivals(
            name, [arrival(f"{self._count}", files=dice.randrange(3)) for _ in range(2)]
        )
        choices: list[s.Update] = [accept] * 6
        pins = [pin for _, pin in world.sources[name].arrivals.pins()]
        touched = tuple(replace(pin, modified=f"t{self._count}") for pin in pins[:2])
        choices += [s.RepinFiles(name, touched)]
        choices += [s.HoldSource(name, dice.random() < 0.5), s.MarkComplete(name, "2026")]
        columns = ({"name": f"c{self._count}", "type": "INT", "version": 1},)
        wide = (*world.sources[name].schema, {**columns[0], "added": True})
        choices += [s.NoteColumns(name, columns), s.AlterSource(name, {"w": self._count}, wide)]
        told = {f"c{self._count}": ColumnStatistics(self._count, 0, 1.0, 2.0, 2.0)}
        choices += [s.NoteStatistics(name, told)]
        spans = ArrivalSpans(self._count, {"a": KeySpans(None, (1.0, float(self._count)))})
        choices += [s.NoteSpans(name, (spans,))]
        choices += [s.ResetSource(name), s.DropSource(name)] if dice.random() < 0.3 else []
        version = world.sources[name].version
        choices += [s.SkipArrival(name, dice.randint(1, version))] if version else []
        choices += [s.ExamineArrivals(name, version, {"1": 2})] if version else []
        return [dice.choice(choices)]

    def _of_view(self, world: s.World) -> list[s.Update]:
        dice, name = self._random, self._random.choice(sorted(world.views))
        versions = {source: known.version for source, known in world.sources.items()}
        choices: list[s.Update] = [
            s.AdvanceView(name, versions, self._count),
            s.PauseView(name, dice.random() < 0.5),
            s.ReplaceView(name, "SELECT 2", {"policy": "full"}, {}, {}),
            s.RestateView(name, "SELECT 3", {"policy": "auto"}, {}, {}),
            s.ForgetFormer(name, dice.randrange(self._count)),
            s.DropView(name),
        ]
        return [dice.choice(choices)]

    def _of_chain(self, world: s.World) -> list[s.Update]:
        dice, name = self._random, self._random.choice(sorted(world.chains))
        choices: list[s.Update] = [s.ExtendChain(name, segment(self._count, s1=self._count))] * 4
        return [dice.choice([*choices, s.DropChain(name)])]


def no_part(part: object) -> bytes:
    """Refuse to read a part of a checkpoint that should have none."""
    raise AssertionError(part)
