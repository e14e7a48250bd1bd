"""Checkpoints: folded entries, so that opening a long log is cheap.

A checkpoint is a header line, a line with the world but for its arrivals, and one line for each
small chunk of arrivals. A large chunk stands in an object of its own, named by its digest, so that
the next checkpoint only refers to it. Chunks are read and parsed when they are first needed, if ever.

``latest.json`` is a hint at the newest checkpoints. One that is lost, torn or of another version
costs time only: an older one is taken, or the log is replayed.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice, zip_longest
from types import MappingProxyType
from typing import Any, Final

from slacktide.errors import SlacktideError, StorageError, WorkspaceError
from slacktide.store.arrivals import Arrivals, Chunk, Totals
from slacktide.store.entry import digest_of_bytes, dump_json
from slacktide.store.fold import fold
from slacktide.store.log import Log
from slacktide.store.objects import Objects
from slacktide.store.record import (
    Chain,
    ForeignKeyRecord,
    FunctionRecord,
    RunRecord,
    Source,
    ViewRecord,
)
from slacktide.store.serde import FORMAT, Reader, encode
from slacktide.store.world import World

EVERY: Final = 50
_KEPT: Final = 2
_ALONE: Final = 1000
_NAME: Final = re.compile(r"[0-9a-f]{32}")
_HINT: Final = "log/checkpoint/latest.json"
_READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "sources": Reader(Source),
        "views": Reader(ViewRecord),
        "functions": Reader(FunctionRecord),
        "chains": Reader(Chain),
        "foreign_keys": Reader(ForeignKeyRecord),
    }
)
Hinted = tuple[int, list[str]]
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Part:
    """Arrivals of a source that stand in an object of their own.

    Attributes:
        name: the digest of the text.
        source: the source that they belong to.
        number: the entry whose world holds them.
        first: how many arrivals of the source came before.
        count: how many they are.
    """

    name: str
    source: str
    number: int
    first: int
    count: int


Fetch = Callable[[Part], bytes]


def checkpoint_key(number: int) -> str:
    """Name the object of a checkpoint."""
    return f"log/checkpoint/{number:020d}.jsonl"


def chunk_key(digest: str) -> str:
    """Name the object of a large chunk."""
    return f"log/checkpoint/arrivals/{digest}.json"


def encode_checkpoint(world: World, place: Callable[[Chunk], str | None]) -> bytes:
    """Write a world; `place` names the object that keeps a chunk, or None to write it in line."""
    lines: list[bytes] = []
    sources = {}
    for name, source in world.sources.items():
        shape = []
        for chunk in source.arrivals.chunks:
            kept = place(chunk)
            shape.append([chunk.arrivals, chunk.files, kept, *chunk.totals])
            if kept is None:
                lines.append(chunk.text)
        sources[name] = {
            f.name: shape if f.name == "arrivals" else encode(getattr(source, f.name))
            for f in fields(source)
        }
    body = {
        "settings": encode(world.settings),
        "calibration": encode(world.calibration),
        "engine": world.engine,
        "sources": sources,
        **{kind: encode(getattr(world, kind)) for kind in _READERS if kind != "sources"},
        "collected": world.collected,
        "runs": [[getattr(run, f.name) for f in fields(run)] for run in world.runs.values()],
    }
    rest = b"\n".join([dump_json(body), *lines])
    head = {"format": FORMAT, "number": world.number, "digest": digest_of_bytes(rest)}
    return dump_json(head) + b"\n" + rest


def decode_checkpoint(data: bytes, where: str, fetch: Fetch) -> World:
    """Read a world.

    Args:
        data: the checkpoint.
        where: names it in errors.
        fetch: reads the text of a part that stands in an object of its own, when it is needed.

    Raises:
        WorkspaceError: it is torn, or of another format.
    """
    try:
        first, _, rest = data.partition(b"\n")
        head = json.loads(first)
        if head["format"] != FORMAT or head["digest"] != digest_of_bytes(rest):
            raise WorkspaceError(f"{where} is torn or of another format")
        line, *chunks = rest.split(b"\n")
        lines = iter(chunks)
        body = json.loads(line)
        arrivals = {
            name: _arrivals(head["number"], source, lines, fetch, where)
            for name, source in body["sources"].items()
        }
        return _world(head["number"], body, arrivals, where)
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise WorkspaceError(f"{where} is not a checkpoint") from error


def _arrivals(
    number: int, source: dict[str, Any], lines: Iterator[bytes], fetch: Fetch, where: str
) -> Arrivals:
    chunks, first = [], 0
    for arrivals, files, name, *totals in source.pop("arrivals"):
        part = Part(name, source["name"], number, first, arrivals)
        text = next(lines) if name is None else partial(fetch, part)
        chunks.append(Chunk(arrivals, files, Totals(*totals), text, where))
        chunks[-1].kept = name
        first += arrivals
    return Arrivals(chunks)


def _world(
    number: int, body: dict[str, Any], arrivals: Mapping[str, Arrivals], where: str
) -> World:
    body.setdefault("foreign_keys", {})  # checkpoints of earlier versions have none
    known = {
        kind: {name: reader(value, where) for name, value in body[kind].items()}
        for kind, reader in _READERS.items()
    }
    runs = {row[0]: RunRecord(*row) for row in body["runs"]}
    sources = {name: replace(s, arrivals=arrivals[name]) for name, s in known["sources"].items()}
    return World(
        number=number,
        settings=MappingProxyType(body["settings"]),
        sources=MappingProxyType(sources),
        views=MappingProxyType(known["views"]),
        functions=MappingProxyType(known["functions"]),
        chains=MappingProxyType(known["chains"]),
        runs=MappingProxyType(runs),
        plans=MappingProxyType({run.plan_id: run.run for run in runs.values()}),
        collected=body.get("collected", 0),
        foreign_keys=MappingProxyType(known["foreign_keys"]),
        calibration=MappingProxyType(body.get("calibration", {})),
        engine=body.get("engine", ""),
    )


def _merged(world: World) -> World:
    sources = {n: replace(s, arrivals=s.arrivals.merged()) for n, s in world.sources.items()}
    return replace(world, sources=MappingProxyType(sources))


def _kept(world: World) -> list[str]:
    chunks = (chunk for source in world.sources.values() for chunk in source.arrivals.chunks)
    return [chunk.kept for chunk in chunks if chunk.kept is not None]


def _is_hint(number: object, names: object) -> bool:
    return (
        type(number) is int
        and number >= 0
        and isinstance(names, list)
        and all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)
    )


def thinned(rows: Sequence[Hinted]) -> list[Hinted]:
    """Choose the checkpoints to keep: the two newest, and ever fewer of the older ones.

    From any entry, the distance back to a checkpoint is at most about its distance to the end, so
    that what the log said then is found by reading about as many entries as came since.

    Args:
        rows: the newest first.
    """
    kept = list(rows[:_KEPT])
    for row, older in zip_longest(rows[_KEPT:], rows[_KEPT + 1 :]):
        needed = older is None or kept[-1][0] - older[0] > kept[0][0] - kept[-1][0]
        kept += [row] if needed else []
    return kept


class Checkpoints:
    """Keeps the newest checkpoints of a log, and a few older ones."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def newest(self, log: Log) -> World | None:
        """Read the newest checkpoint that can be read, or None."""
        hinted = [number for number, _ in self._hinted()]
        for number in hinted:
            world = self._read(number)
            if world is not None:
                return world
        # The hint is lost or wrong: try the places where a checkpoint would stand.
        end = log.end()
        last = end - end % EVERY
        for number in range(last, max(0, last - _KEPT * EVERY), -EVERY):
            world = None if number in hinted else self._read(number)
            if world is not None:
                return world
        return None

    def upto(self, number: int) -> World:
        """Read the newest checkpoint that is not past a number; an empty world where none is."""
        for hinted, _ in self._hinted():
            world = self._read(hinted) if hinted <= number else None
            if world is not None:
                return world
        return World()

    def needed(self) -> frozenset[str]:
        """Name all objects that the hint speaks of, itself included; none where there is no hint."""
        known = self._hinted()
        chunks = {chunk_key(name) for _, names in known for name in names}
        numbers = {checkpoint_key(number) for number, _ in known}
        return frozenset({_HINT, *chunks, *numbers} if known else ())

    def write(self, world: World) -> World:
        """Keep a world and give it, its arrivals in fewer chunks.

        A failure is logged, since it costs time only.
        """
        try:
            world = _merged(world)
            data = encode_checkpoint(world, self._place)
            self._objects.put(checkpoint_key(world.number), data)
            known = [(number, names) for number, names in self._hinted() if number != world.number]
            known = sorted([(world.number, _kept(world)), *known], reverse=True)
            kept = thinned(known)
            self._objects.put(_HINT, dump_json({"format": FORMAT, "checkpoints": kept}))
            dropped = [row for row in known if row not in kept]
            needed = {name for _, names in kept for name in names}
            unneeded = {name for _, names in dropped for name in names} - needed
            self._objects.delete(
                [checkpoint_key(number) for number, _ in dropped]
                + [chunk_key(name) for name in sorted(unneeded)]
            )
        except (StorageError, WorkspaceError) as error:
            _logger.warning("checkpoint %d was not written: %s", world.number, error)
        return world

    def _place(self, chunk: Chunk) -> str | None:
        if chunk.files < _ALONE:
            return None
        # Another writer may have removed it, as its hint did not know that we need it.
        if chunk.kept is None or self._objects.head(chunk_key(chunk.kept)) is None:
            text = chunk.text
            chunk.kept = digest_of_bytes(text)
            self._objects.put(chunk_key(chunk.kept), text)
        return chunk.kept

    def _fetch(self, part: Part) -> bytes:
        """Read a part; one that is lost or torn is made again from the entries."""
        text = self._objects.get(chunk_key(part.name))
        if text is not None and digest_of_bytes(text) == part.name:
            return text
        _logger.warning("the chunk %s is lost or torn: the log is read instead", part.name)
        entries = islice(Log(self._objects).since(0), part.number + 1)
        world = fold(World(), ((number, entry.updates) for number, entry in entries))
        arrivals = world.sources[part.source].arrivals[part.first : part.first + part.count]
        return Arrivals.of(arrivals).chunks[0].text

    def _hinted(self) -> list[Hinted]:
        data = self._objects.get(_HINT)
        try:
            rows = json.loads(data or b"{}")["checkpoints"]
            return [(number, names) for number, names in rows if _is_hint(number, names)]
        except (ValueError, KeyError, TypeError):
            return []

    def _read(self, number: int) -> World | None:
        key = checkpoint_key(number)
        data = self._objects.get(key)
        if data is None:
            return None
        try:
            where = self._objects.address.child(key).spelling
            return decode_checkpoint(data, where, self._fetch)
        except SlacktideError as error:
            _logger.warning("checkpoint %d is passed over: %s", number, error)
            return None
