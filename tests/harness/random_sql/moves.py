"""Metamorphic moves: the same rows by another way, or with something taken away, give the same answers.

Each move lets batches of a stream land in its own manner. After every run the arena compares each
answer with batch over the rows, so that a move is right whenever all of its runs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from slacktide.store import update as u
from slacktide.store.naming import segments
from slacktide.store.record import Chain
from tests.harness.random_sql.arena import Arena, Bag, Seen, rounded
from tests.harness.random_sql.changes import BEFORE, Batch, Change, inverse
from tests.harness.random_sql.streams import Stream

Run = dict[str, Seen]
REMEMBERED = ("states/", "sources/")


def split(arena: Arena, stream: Stream) -> Iterator[Run]:
    """A batch comes in two halves."""
    _, batch = stream.batch()
    halves = [(source, _halves(changes)) for source, changes in _by_source([batch])]
    yield arena.step([(source, first) for source, (first, _) in halves])
    yield arena.step([(source, second) for source, (_, second) in halves])


def _halves(changes: Iterable[Change]) -> tuple[list[Change], list[Change]]:
    listed = list(changes)
    middle = len(listed) // 2
    if middle and listed[middle - 1][0] == BEFORE:
        middle += 1
    return listed[:middle], listed[middle:]


def merged(arena: Arena, stream: Stream) -> Iterator[Run]:
    """Two batches are taken in by one run."""
    yield arena.step(stream.batch()[1], stream.batch()[1])


def in_one_file(arena: Arena, stream: Stream) -> Iterator[Run]:
    """Three batches come as one file for each source."""
    yield arena.step(_by_source([stream.batch()[1] for _ in range(3)]))


def _by_source(batches: Iterable[Batch]) -> Batch:
    """One file for each source, with all changes in their order: some undo earlier ones."""
    files: dict[str, list[Change]] = {}
    for batch in batches:
        for source, changes in batch:
            files.setdefault(source, []).extend(changes)
    return [*files.items()]


def there_and_back(arena: Arena, stream: Stream) -> Iterator[Run]:
    """A batch and its inverse, each in a run of its own, lead back to the same answers."""
    before = _answers(arena)
    _, batch = stream.batch()
    yield arena.step(batch)
    yield _unmoved(arena, arena.step(inverse(batch)), before)
    yield arena.step(batch)


def net_zero(arena: Arena, stream: Stream) -> Iterator[Run]:
    """A batch and its inverse in one run change nothing."""
    before = _answers(arena)
    _, batch = stream.batch()
    yield _unmoved(arena, arena.step(batch, inverse(batch)), before)
    yield arena.step(batch)


def _answers(arena: Arena) -> dict[str, Bag]:
    return {name: rounded(arena.answer(name)) for name in arena.views}


def _unmoved(arena: Arena, run: Run, before: Mapping[str, Bag]) -> Run:
    after = _answers(arena)
    return {
        name: seen
        if seen.wrong or seen.failed or after[name] == before[name]
        else replace(seen, wrong="moved: the answer is not as it was")
        for name, seen in run.items()
    }


def source_by_source(arena: Arena, stream: Stream) -> Iterator[Run]:
    """Each source's part of a batch comes alone, the last source first."""
    _, batch = stream.batch()
    for name in reversed(list(dict.fromkeys(source for source, _ in batch))):
        part: Batch = [file for file in batch if file[0] == name]
        yield arena.step(part)


def forgotten(arena: Arena, stream: Stream) -> Iterator[Run]:
    """The log loses what the views remember."""
    arena.ws._store.commit([u.DropChain(chain.id) for chain in _remembered(arena)])
    yield arena.step(stream.batch()[1])
    yield arena.step(stream.batch()[1])


def lost(arena: Arena, stream: Stream) -> Iterator[Run]:
    """The files of what the views remember are gone."""
    for chain in _remembered(arena):
        for segment in segments(chain):
            for file in segment.files:
                (Path(arena.ws.root) / file.path).unlink()
    yield arena.step(stream.batch()[1])
    yield arena.step(stream.batch()[1])


def _remembered(arena: Arena) -> list[Chain]:
    chains = arena.ws._store.world().chains
    return [chain for name, chain in chains.items() if name.startswith(REMEMBERED)]


MOVES: Mapping[str, Callable[[Arena, Stream], Iterator[Run]]] = {
    "split": split,
    "merged": merged,
    "in one file": in_one_file,
    "there and back": there_and_back,
    "net zero": net_zero,
    "source by source": source_by_source,
    "forgotten": forgotten,
    "lost": lost,
}
