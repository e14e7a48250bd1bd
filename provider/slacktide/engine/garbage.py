"""Removing what no record names: only below our own folders, and only what is old enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from slacktide.common.clock import parse_instant
from slacktide.errors import CommitConflictError
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.objects import ObjectMeta
from slacktide.store.record import Chain, Segment
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store

FOLDERS = ("states", "sources", "views", "changes")
GRACE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Removed:
    """What a collection removed: files and their bytes, and runs' changes of answers."""

    files: int
    bytes: int
    changes: int

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {"files": self.files, "bytes": self.bytes, "changes": self.changes}


def forget_changes(store: Store, keep_runs: int | None) -> int:
    """Forget changes of answers older than the last `keep_runs` runs; tell how many.

    Args:
        store: the workspace's store.
        keep_runs: None for all runs.
    """
    while keep_runs is not None:
        world = store.world()
        kept = [*_kept_changes(world, keep_runs)]
        if not kept:
            return 0
        held = [q.ChainIs(chain.id, chain.token) for chain in kept]
        try:
            store.commit([u.SetChain(chain) for chain in kept], held)
        except CommitConflictError:
            continue  # a run added changes, which must not be lost
        return sum(len(world.chains[c.id].segments) - len(c.segments) for c in kept)
    return 0


def _kept_changes(world: World, keep_runs: int) -> Iterator[Chain]:
    oldest = world.next_run - keep_runs
    for chain in world.chains.values():
        if not chain.id.startswith("changes/"):
            continue
        kept = tuple(segment for segment in chain.segments if int(segment.run) >= oldest)
        if len(kept) < len(chain.segments):
            yield replace(chain, segments=kept)


def collect(store: Store, world: World, now: datetime, grace: timedelta = GRACE) -> Removed:
    """Remove files that no record names and that no running refresh can still be writing.

    Args:
        store: the workspace's store.
        world: the log as it is.
        now: files newer than this less the grace are kept.
        grace: longer than any refresh takes.
    """
    named = {file.path for segment in _all_segments(world) for file in segment.files}
    dead = [
        file
        for folder in FOLDERS
        for file in store.list_objects(folder)
        if file.path not in named and _is_old(file, now - grace)
    ]
    store.delete(file.path for file in dead)
    return Removed(len(dead), sum(file.size for file in dead), 0)


def _all_segments(world: World) -> Iterator[Segment]:
    for chain in world.chains.values():
        if chain.base is not None:
            yield chain.base
        yield from chain.segments


def _is_old(file: ObjectMeta, limit: datetime) -> bool:
    return parse_instant(file.modified) < limit
