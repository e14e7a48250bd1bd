"""Which mirrors a run writes anew, and to which it adds what has landed."""

from __future__ import annotations

from collections.abc import Mapping

from slacktide.common.chain_ids import mirror_id
from slacktide.optimizer.compaction import Piece, Prices, is_earned
from slacktide.optimizer.mirror import is_due
from slacktide.store.arrivals import Totals
from slacktide.store.naming import segments, told_until
from slacktide.store.record import Source
from slacktide.store.world import World


def mirror_versions(world: World) -> dict[str, int]:
    """The version up to which the mirror of each source is compacted: no older snapshot is told."""
    return {
        name: max(s.versions[name] for s in segments(chain) if s is chain.base or s.runs > 1)
        for name in world.sources
        if (chain := world.chains.get(mirror_id(name))) is not None and chain.base is not None
    }


def mirror_segments_due(world: World, read: Mapping[str, int], prices: Prices) -> dict[str, int]:
    """The mirrors to which landed files are added as a segment, and up to which version.

    Args:
        world: the log as it is.
        read: the sources whose snapshots a run reads and whose mirror it does not write anew, and as of
            which version.
        prices: of reading and writing.
    """
    return {name: end for name, end in read.items() if _is_segment_due(world, name, end, prices)}


def _is_segment_due(world: World, name: str, end: int, prices: Prices) -> bool:
    """Whether what came to a mirror up to a version is to be a segment of it."""
    source = world.sources[name]
    chain = world.chains.get(mirror_id(name))
    if chain is None or chain.versions is None:
        return False
    arrivals = source.arrivals[chain.versions[name] : end]
    return is_earned([Piece(len(a.files), a.rows or 0, a.bytes) for a in arrivals], prices)


def since_base(world: World, name: str, end: int) -> Totals:
    """What has come to a mirror since its base was written; nothing where there is none, or a run will write it anew."""
    chain = world.chains.get(mirror_id(name))
    if chain is None or chain.base is None or is_mirror_due(world, name, end):
        return Totals()
    return world.sources[name].totals(chain.base.versions[name], end)


def is_mirror_due(world: World, name: str, end: int) -> bool:
    """Whether the mirror of a source is to be written at a version."""
    source = world.sources[name]
    return source.is_feed and is_due(*_mirrored(world, source, end))


def _mirrored(world: World, source: Source, end: int) -> tuple[int | None, int]:
    """Rows of the base of a mirror, and of what came to it: segments as they were written, landed files as they were counted.

    Rows of CSV, JSON and Avro are not known when files land, but are once these are a segment.
    """
    chain = world.chains.get(mirror_id(source.name))
    if chain is None or chain.base is None:
        return None, 0
    name = source.name
    pieces = [piece for piece in chain.segments if piece.versions[name] <= end]
    told = max(told_until(chain, name, end), chain.base.versions[name])
    landed = source.totals(told, end).rows if told < end else 0
    return chain.base.rows, sum(piece.rows for piece in pieces) + (landed or 0)
