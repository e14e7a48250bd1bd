"""The rows of a source as of a version: its mirror, and what has come since.

A mirror's base has plain rows, its segments signed ones with counts. The multiplicities of a snapshot
are one and minus one, so that a row of a segment is repeated as often as it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from slacktide.algebra.sql import quoted
from slacktide.common.chain_ids import mirror_id
from slacktide.spark.texts.bags import units_sql
from slacktide.store.record import Chain, Segment
from slacktide.store.world import World


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What a mirror tells of a source as of a version.

    Attributes:
        base: the plain rows; None where no mirror is old enough.
        segments: what leads from there to `version`.
        version: how far they go; the landed files after it tell the rest.
    """

    base: Segment | None = None
    segments: tuple[Segment, ...] = ()
    version: int = 0

    @property
    def since(self) -> int:
        """The version of the base."""
        return self.version if self.base is None else next(iter(self.base.versions.values()))


def mirrored(chains: Sequence[Chain | None], source: str, version: int) -> Mirrored:
    """Choose the pieces of a mirror that tell of a version.

    Args:
        chains: the mirror as it is known, newest first.
        source: its name.
        version: of the source.
    """
    for chain in chains:
        if chain is None or chain.base is None or chain.base.versions[source] > version:
            continue
        found = tuple(s for s in chain.segments if s.versions[source] <= version)
        return Mirrored(chain.base, found, (chain.base, *found)[-1].versions[source])
    return Mirrored()


def mirror_chains(
    world: World, source: str, anew: Mapping[str, Segment], appended: Mapping[str, Segment]
) -> list[Chain | None]:
    """A mirror as a run under way knows it, newest first.

    Args:
        world: the log as it was when the run started.
        source: the name of the source.
        anew: bases that the run has written, by chain.
        appended: segments that it has written.
    """
    chain = mirror_id(source)
    stored = world.chains.get(chain)
    if stored is not None and chain in appended:
        stored = replace(stored, segments=(*stored.segments, appended[chain]))
    written = Chain(chain, (), anew[chain]) if chain in anew else None
    return [written, stored]


def signed_rows_sql(table: str, names: Sequence[str]) -> str:
    """Rows of a mirror's segments by their names, each with a multiplicity of one or minus one."""
    return units_sql(table, [f"c{i} AS {quoted(name)}" for i, name in enumerate(names)])
