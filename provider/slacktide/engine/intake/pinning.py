"""Which pinned files a run reads: they are checked before anything is written, and again before it commits.

Programs, mirrors and the checks of foreign keys read landed files. A snapshot of a change feed is read from its
mirror on, so that what is looked at follows what has come since, and not what there is; one of a source of files
is read from all of these, and each is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slacktide.common.chain_ids import mirror_id
from slacktide.common.tree import of_type
from slacktide.engine.sources.pins import Sightings, check_pins
from slacktide.engine.work import Work
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.store.arrivals import PinnedFile
from slacktide.store.naming import told_until
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Window:
    """The landed files that lead a source from one version to another."""

    source: str
    after: int
    until: int


def check_pinned(
    store: Store, world: World, works: Sequence[Work], others: Iterable[Window] = ()
) -> Sightings:
    """Check that the files which programs open are as they were accepted, and those of other windows.

    Returns:
        What the store told of them.

    Raises:
        SourceError: one is not.
        StorageError: it could not be looked at.
    """
    return check_windows(store, world, (*_opened(world, works), *others))


def check_windows(store: Store, world: World, windows: Iterable[Window]) -> Sightings:
    """Check that the files of some windows are as they were accepted; give what the store told of them.

    Raises:
        SourceError: one is not.
        StorageError: it could not be looked at.
    """
    seen: Sightings = {}
    for name, files in pinned_files(world, windows).items():
        seen |= check_pins(files, source=name, storage_options=store.options)
    return seen


def pinned_files(world: World, windows: Iterable[Window]) -> Mapping[str, list[PinnedFile]]:
    """The files of each source from the oldest to the newest version of some windows."""
    whole: dict[str, Window] = {}
    for one in windows:
        known = whole.get(one.source, one)
        after, until = min(one.after, known.after), max(one.until, known.until)
        whole[one.source] = Window(one.source, after, until)
    return {name: landed_files(world, name, one.after, one.until) for name, one in whole.items()}


def snapshot_windows(world: World, versions: Mapping[str, int]) -> list[Window]:
    """What is read of sources as of some versions: what has landed since their mirrors."""
    return [Window(name, _mirrored(world, name, until), until) for name, until in versions.items()]


def _opened(world: World, works: Iterable[Work]) -> Iterator[Window]:
    """What the programs of a run open."""
    for work in works:
        if work.plan.program is None:
            continue
        snapshots = oldest_snapshots(work.plan)
        for name, end in work.plan.end.items():
            is_read = name in snapshots
            low = (
                _mirrored(world, name, snapshots[name]) if is_read else work.plan.start.get(name, 0)
            )
            yield Window(name, low, end)


def oldest_snapshots(plan: ViewPlan) -> dict[str, int]:
    """The oldest version of which the program of a view reads a snapshot, by source."""
    program = plan.program
    found: dict[str, int] = {}
    if program is None:
        return found
    if any(True for _ in of_type(program, o.Batch)):
        found.update(plan.end)
    for read in of_type(program, o.ReadSnapshot):
        versions = plan.start if read.moment == "before" else plan.end
        version = versions.get(read.source, 0)
        found[read.source] = min(version, found.get(read.source, version))
    return found


def _mirrored(world: World, name: str, start: int) -> int:
    """The version of the mirror, as far as it is not past the oldest snapshot that is read."""
    return told_until(world.chains.get(mirror_id(name)), name, start)


def landed_files(world: World, name: str, low: int, high: int) -> list[PinnedFile]:
    """The files that lead a source from one version to another."""
    source = world.sources[name]
    return [
        file
        for version in range(low + 1, high + 1)
        if version not in source.skipped
        for file in source.arrivals[version - 1].files
    ]
