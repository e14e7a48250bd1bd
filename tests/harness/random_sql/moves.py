"""Metamorphic moves: the same rows by another way, or with something taken away, give the same answers.

Each move lets batches of a stream land in its own manner. After every run the arena compares each
answer with batch over the rows, so that a move is right whenever all of its runs are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tests.harness.lab import canonical
from tests.harness.random_sql.arena import Arena, Bag, Seen, rounded
from tests.harness.random_sql.changes import BEFORE, Batch, Change, inverse
from tests.harness.random_sql.removals import FORGOTTEN, LOST, Removal, some
from tests.harness.random_sql.schema import TABLES
from tests.harness.random_sql.streams import Stream

Run = dict[str, Seen]


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
        if seen.wrong or seen.failed or name in arena.tied or after[name] == before[name]
        else replace(seen, wrong="moved: the answer is not as it was")
        for name, seen in run.items()
    }


def source_by_source(arena: Arena, stream: Stream) -> Iterator[Run]:
    """Each source's part of a batch comes alone, the last source first."""
    _, batch = stream.batch()
    for name in reversed(list(dict.fromkeys(source for source, _ in batch))):
        part: Batch = [file for file in batch if file[0] == name]
        yield arena.step(part)


def swapped(arena: Arena, stream: Stream) -> Iterator[Run]:
    """Two batches come, go, and come in the other order, as far as they commute: the answers are the same."""
    (_, first), (_, second) = stream.batch(), stream.batch()
    yield arena.step(first)
    yield arena.step(second)
    before = _answers(arena)
    yield arena.step(inverse(second), inverse(first))
    ahead, behind = commuting(first, second)
    yield arena.step(ahead)
    yield _unmoved(arena, arena.step(first, behind), before)


def commuting(first: Batch, second: Batch) -> tuple[Batch, Batch]:
    """What of a second batch may come before the first, and what may not: sources are apart from each other."""
    ahead: list[tuple[str, Sequence[Change]]] = []
    behind: list[tuple[str, Sequence[Change]]] = []
    for source, changes in second:
        others = _touched(source, first)
        mine = _touched(source, second)
        (behind if mine & others else ahead).append((source, changes))
    return ahead, behind


def _touched(source: str, batch: Batch) -> set[Any]:
    """The rows of a source that a batch changes, by key where they have one."""
    places = [TABLES[source].place(name) for name in TABLES[source].key]
    rows = (row for name, changes in batch if name == source for _, row in changes)
    return {canonical(tuple(row[place] for place in places) if places else row) for row in rows}


def forgotten(arena: Arena, stream: Stream) -> Iterator[Run]:
    """The log loses some of what the views remember, and then all of it."""
    yield from _without(arena, stream, FORGOTTEN)


def lost(arena: Arena, stream: Stream) -> Iterator[Run]:
    """The files of some of what the views remember are gone, and then those of all of it."""
    yield from _without(arena, stream, LOST)


def _without(arena: Arena, stream: Stream, how: str) -> Iterator[Run]:
    for removal in (partial(some, arena.ws, how, stream.whims), partial(Removal, how)):
        arena.remove(removal())
        yield arena.step(stream.batch()[1])


MOVES: Mapping[str, Callable[[Arena, Stream], Iterator[Run]]] = {
    "split": split,
    "merged": merged,
    "in one file": in_one_file,
    "there and back": there_and_back,
    "net zero": net_zero,
    "source by source": source_by_source,
    "swapped": swapped,
    "forgotten": forgotten,
    "lost": lost,
}
