"""The pieces of chains, and which files the log names, now or at an earlier entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from slacktide.store.fold import fold
from slacktide.store.log import Log
from slacktide.store.record import Chain, Segment
from slacktide.store.update import ExtendChain, SetChain, Update
from slacktide.store.world import World


def segments(chain: Chain) -> Iterator[Segment]:
    """The base of a chain and what came since."""
    if chain.base is not None:
        yield chain.base
    yield from chain.segments


def newest_extension(chain: Chain, world: World) -> tuple[Segment, int] | None:
    """What the newest run that extended a chain added, and the rows of the changes that it took in.

    None where no run has, or nobody knows, or where there were none. Pieces that were merged are those of all their runs.
    """
    pieces = [*segments(chain)]
    if len(pieces) < 2:
        return None
    before, newest = pieces[-2:]
    changes = world.rows_changed(before.versions, newest.versions)
    return (newest, changes) if changes else None


def told_until(chain: Chain | None, source: str, version: int) -> int:
    """The newest version that a mirror tells of, up to one; landed files tell of what comes behind it.

    Args:
        chain: the mirror; None for none.
        source: its name.
        version: of the source.
    """
    held = () if chain is None or chain.base is None else segments(chain)
    return max((s.versions[source] for s in held if s.versions[source] <= version), default=0)


def with_merged(chain: Chain, first: int, merged: Segment) -> Chain:
    """A chain whose pieces from one on are one piece, which stands where the newest of them stood."""
    pieces = list(segments(chain))
    newest = pieces[-1]
    piece = replace(
        merged,
        run=newest.run,
        versions=newest.versions,
        runs=sum(piece.runs for piece in pieces[first:]),
        read=newest.read,
    )
    if first == 0:
        return replace(chain, base=piece, segments=())
    return replace(chain, base=pieces[0], segments=(*pieces[1:first], piece))


def named(world: World) -> Iterator[str]:
    """The files that a world names."""
    return (f.path for chain in world.chains.values() for s in segments(chain) for f in s.files)


def named_since(log: Log, known: World, number: int) -> Iterator[str]:
    """The files that any world names, from that of an entry to the newest one.

    Args:
        log: is read from where `known` ends.
        known: a world that is not past the entry.
        number: of the entry.
    """
    entries = log.since(known.number + 1)
    before = islice(entries, number - known.number)
    yield from named(fold(known, ((at, entry.updates) for at, entry in before)))
    for _, entry in entries:
        yield from _named_by(entry.updates)


def _named_by(updates: Iterable[Update]) -> Iterator[str]:
    for update in updates:
        match update:
            case SetChain(chain):
                yield from (file.path for s in segments(chain) for file in s.files)
            case ExtendChain(_, segment):
                yield from (file.path for file in segment.files)
            case _:
                pass
