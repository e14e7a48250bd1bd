"""Garbage: removing what no reader, no run under way and no later run can need.

A collection chooses a **collection point**: the newest entry that is at least the grace old. Before
anything is removed, that point goes into the log, and from then on no run that began before it can
commit. A file may go when

* it was written before the entry of the point, so that no run that began since has written it, and
* no world from that of the point to the newest names it, so that whoever opened the workspace
  within the grace does not read it.

Both times are those of the object store. The collector's own clock only chooses the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from slacktide.common.chain_ids import changes_id, is_changes
from slacktide.common.clock import parse_instant
from slacktide.errors import CommitConflictError, InvalidSettingError
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.address import parse_address
from slacktide.store.fold import KEPT_REPORTS
from slacktide.store.layout import FOLDERS, is_below_attempt
from slacktide.store.naming import named
from slacktide.store.objects import ObjectMeta
from slacktide.store.record import Chain, FormerText, Segment, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store

GRACE: Final = timedelta(hours=6)
OPEN_PLANS: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Removed:
    """What a collection removed.

    Attributes:
        files: data files; what Hadoop and Spark leave beside them counts in bytes only.
        bytes: of all that was removed.
        changes: segments of changes of answers that were forgotten.
        plans: plans.
        checkpoints: checkpoints, and chunks of them.
        editions: answers in sinks, from which readers were led away.
    """

    files: int = 0
    bytes: int = 0
    changes: int = 0
    plans: int = 0
    checkpoints: int = 0
    editions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "files": self.files,
            "bytes": self.bytes,
            "changes": self.changes,
            "plans": self.plans,
            "checkpoints": self.checkpoints,
            "editions": self.editions,
        }


def collect(
    store: Store, now: datetime, *, grace: timedelta = GRACE, keep_runs: int | None = None
) -> Removed:
    """Forget changes of old runs, then remove what is not needed any more.

    Args:
        store: the workspace's store.
        now: the present instant.
        grace: how long readers go on with what they opened, and runs take; a run that takes longer
            fails with a conflict if there was a collection meanwhile.
        keep_runs: how many of the newest runs stay readable; None for all.

    Raises:
        InvalidSettingError: the grace or the number of runs is below zero.
    """
    if grace < timedelta() or (keep_runs is not None and keep_runs < 0):
        wrong = f"grace is {grace}" if grace < timedelta() else f"keep_runs is {keep_runs}"
        raise InvalidSettingError(
            f"a collection cannot keep less than nothing: {wrong}", hint="give zero or more"
        )
    changes = _forget_changes(store, keep_runs)
    files = _dead_files(store, now - grace)
    store.delete(file.path for file in files)
    plans = _dead_plans(store, now, grace, keep_runs)
    store.delete(file.path for file in plans)
    checkpoints = _before(store.unneeded_checkpoints(), now - grace)
    store.delete(file.path for file in checkpoints)
    return Removed(
        files=sum(_is_data(file.path) for file in files),
        bytes=sum(file.size for file in [*files, *plans, *checkpoints]),
        changes=changes,
        plans=len(plans),
        checkpoints=len(checkpoints),
    )


def _forget_changes(store: Store, keep_runs: int | None) -> int:
    while keep_runs is not None:
        world = store.world()
        oldest = world.next_run - keep_runs
        gone = [*_unreadable(world, oldest)]
        lost = {changes_id(view.name, former.run) for view, former in gone}
        kept = [chain for chain in _kept_changes(world, oldest) if chain.id not in lost]
        if not (kept or gone):
            return 0
        held: list[q.Requirement] = [q.ChainIs(chain.id, chain.token) for chain in kept]
        held += [q.DefinedBy("view", view.name, view.defined) for view, _ in gone]
        updates: list[u.Update] = [u.SetChain(chain) for chain in kept]
        updates += [u.ForgetFormer(view.name, former.run) for view, former in gone]
        try:
            store.commit(updates, held)
        except CommitConflictError:
            continue  # a run added changes, which must not be lost
        left = {chain.id: len(chain.segments) for chain in kept} | dict.fromkeys(lost, 0)
        return sum(
            len(world.chains[chain].segments) - count
            for chain, count in left.items()
            if chain in world.chains
        )
    return 0


def _unreadable(world: World, oldest: int) -> Iterator[tuple[ViewRecord, FormerText]]:
    """Former texts of views that a later one had answered before a run."""
    for view in world.views.values():
        begun = [*(former.since for former in view.former), view.since]
        for former, following in zip(view.former, begun[1:], strict=True):
            if following is not None and following < oldest:
                yield view, former


def _kept_changes(world: World, oldest: int) -> Iterator[Chain]:
    for chain in world.chains.values():
        if not is_changes(chain.id):
            continue
        forgotten = [segment for segment in chain.segments if int(segment.run) < oldest]
        if forgotten:
            # The base says from which run on the changes are whole.
            last = forgotten[-1]
            base = Segment(last.run, (), 0, 0, last.versions)
            yield replace(chain, base=base, segments=chain.segments[len(forgotten) :])


def _dead_files(store: Store, limit: datetime) -> list[ObjectMeta]:
    point = store.settled(limit)
    if point is None:
        return []
    world = store.world()
    listed = (file for folder in FOLDERS for file in store.list_objects(folder))
    unnamed = _unnamed(_before(listed, limit), frozenset(named(world)))
    unnamed = [file for file in unnamed if _is_ours(store, world, file.path)]
    dead = _before(unnamed, point.at)
    # What is newer than all entries waits for one that is newer: this, at the next collection.
    is_quiet = len(dead) < len(unnamed) and world.number == point.number
    if is_quiet or (dead and world.collected < point.number):
        store.commit([u.Collect(point.number)])
    # A run that began before the point may have committed until a moment ago.
    return _unnamed(dead, store.named_since(point.number)) if dead else []


def _unnamed(files: Sequence[ObjectMeta], named: frozenset[str]) -> list[ObjectMeta]:
    return [file for file in files if file.path not in named]


def _is_ours(store: Store, world: World, path: str) -> bool:
    """Whether a run wrote a file; users may let data land where they like, even in our folders."""
    if not is_below_attempt(path):
        return False
    address = parse_address(store.path(path))
    landings = (source.arguments.get("path") for source in world.sources.values())
    return all(parse_address(landing).relative(address) is None for landing in landings if landing)


def _dead_plans(
    store: Store, now: datetime, grace: timedelta, keep_runs: int | None
) -> list[ObjectMeta]:
    """Plans that no recent run and no answer is made by, and that no task may be about to execute.

    The plan of an answer has the instant that functions of the clock gave in it.
    """
    world = store.world()
    newest = sorted(world.runs)[-(keep_runs or KEPT_REPORTS) :]
    answered = [view.run for view in world.views.values() if view.run is not None]
    recent = {world.runs[run].plan_id for run in (*newest, *answered)}
    plans = [*_before(store.list_objects("plans"), now - grace)]
    waiting = {p.path for p in plans if parse_instant(p.modified) >= now - OPEN_PLANS}
    return [
        plan
        for plan in plans
        if (plan_id := _plan_id(plan.path)) not in recent
        and (plan_id in world.plans or plan.path not in waiting)
    ]


def _plan_id(path: str) -> str:
    return path.removeprefix("plans/").removesuffix(".json")


def _before(files: Iterable[ObjectMeta], limit: datetime) -> list[ObjectMeta]:
    return [file for file in files if parse_instant(file.modified) < limit]


def _is_data(path: str) -> bool:
    name = path.rpartition("/")[2]
    return not name.startswith(("_", "."))
