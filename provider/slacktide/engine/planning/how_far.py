"""How far a run takes in each source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slacktide.common.chain_ids import is_mirror, is_state
from slacktide.common.quantities import parse_bytes
from slacktide.engine.planning.mirrors_due import mirror_versions
from slacktide.store.record import Source, ViewRecord
from slacktide.store.world import World, reads


def next_ends(world: World, records: Iterable[ViewRecord]) -> dict[str, int]:
    """The version up to which each source is taken in: its newest, less what a hold or `max_backlog` keeps out.

    Never less than the most advanced of the views has, from which `max_backlog` counts: all views of a run, and the states that they
    share, stand at one version afterwards, and a view that fails in every run holds no other back. Nor less than the
    mirror has, as its older files may be gone.
    """
    readers: dict[str, list[ViewRecord]] = {}
    for record in records:
        for name in reads(record):
            readers.setdefault(name, []).append(record)
    taken, mirrored = taken_in(world), mirror_versions(world)
    return {
        name: _end(source, readers.get(name, []), taken.get(name, 0), mirrored.get(name, 0))
        for name, source in world.sources.items()
    }


def _end(source: Source, readers: Sequence[ViewRecord], taken: int, mirrored: int) -> int:
    """How far a run takes in a source that these of its views read.

    Args:
        source: it.
        readers: these views.
        taken: how far anything has taken it in.
        mirrored: of which version its mirror holds the rows.
    """
    reached = [one.reached[source.name] for one in readers if source.name in one.reached]
    foremost = max(max(reached, default=taken), mirrored)
    return foremost if source.held else max(foremost, _limited(source, foremost))


def taken_in(world: World) -> dict[str, int]:
    """How far anything has taken in each source.

    States that others keep do not go back, and files that a mirror holds may be gone.
    """
    kept = (c.versions for c in world.chains.values() if is_state(c.id) or is_mirror(c.id))
    found: dict[str, int] = {}
    for vector in (*kept, *(view.reached for view in world.views.values())):
        for source, version in (vector or {}).items():
            found[source] = max(version, found.get(source, version))
    return found


def _limited(source: Source, start: int) -> int:
    limit = source.arguments.get("max_backlog")
    if limit is None:
        return source.version
    if isinstance(limit, int):
        return min(source.version, start + max(limit, 1))
    left = parse_bytes(limit, setting="max_backlog")
    end = start
    while end < source.version and (end == start or left >= source.arrivals[end].bytes):
        left -= source.arrivals[end].bytes
        end += 1
    return end
