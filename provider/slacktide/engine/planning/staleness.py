"""What has moved since a plan was made, or since a run of it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slacktide.common.chain_ids import mirror_id
from slacktide.common.reasons import Reason
from slacktide.engine.intake.pinning import oldest_snapshots
from slacktide.engine.plan import Declared, Plan
from slacktide.engine.planning.foreign_keys import lost
from slacktide.engine.planning.how_far import next_ends, taken_in
from slacktide.engine.planning.mirrors_due import is_mirror_due, mirror_versions
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.situating import state_versions
from slacktide.optimizer.compaction import Prices
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.join_bags import is_ahead
from slacktide.optimizer.programs.upkeep import missing_state
from slacktide.program.chains import snapshots_read
from slacktide.store.world import World


def still_due(world: World, mirrors: Mapping[str, int]) -> dict[str, int]:
    """Leave out mirrors that another run wrote since, which this one would only set back."""
    return {name: end for name, end in mirrors.items() if is_mirror_due(world, name, end)}


def still_apart(world: World, mirror_segments: Mapping[str, int]) -> dict[str, int]:
    """Leave out mirrors to which another run has added as much since, and those that are gone."""
    chains = {name: world.chains.get(mirror_id(name)) for name in mirror_segments}
    told = {
        name: chain.versions[name] for name, chain in chains.items() if chain and chain.versions
    }
    return {name: end for name, end in mirror_segments.items() if told.get(name, end) < end}


def stale(world: World, plan: Plan) -> str:
    """Say what a plan started from that is no longer so; an empty text for a fresh plan."""
    if (plan.register or plan.alter) and (moved := _moved_source(world, plan.versions)):
        return moved
    ends = next_ends(
        world, [world.views[one.view] for one in plan.views if one.view in world.views]
    )
    if plan.register and (name := _passed(plan.versions, taken_in(world), ends)):
        return f"source {name}, which others have taken in further"
    mirrored = mirror_versions(world)
    for view in plan.views:
        record = world.views.get(view.view)
        if record is None or record.token != view.token:
            return f"view {view.view}"
        if record.paused:
            return f"view {view.view}, which is paused"
        if view.program is not None and (held := _held(world, view.end, ends)):
            return held
        moved = (
            _moved_source(world, view.end)
            or _moved_state(world, view, ends)
            or _lost_mirror(world, view, plan.mirrors)
            or _passed_mirror(mirrored, view)
        )
        if moved:
            return moved
    return lost(world, plan)


def _held(world: World, end: Mapping[str, int], ends: Mapping[str, int]) -> str:
    """Name a source that is held by now and of which the plan takes in more than one that is made now would."""
    held = (name for name in end if name in world.sources and world.sources[name].held)
    return next((f"source {n}, which is held" for n in held if end[n] > ends.get(n, end[n])), "")


def _moved_source(world: World, versions: Mapping[str, int]) -> str:
    """Name a source that has not the versions that the plan takes in, as after a reset."""
    for name, version in versions.items():
        known = world.sources.get(name)
        if known is None or known.version < version:
            return f"source {name}"
    return ""


def _passed(at: Mapping[str, int], others: Mapping[str, int], ends: Mapping[str, int]) -> str:
    """Name a source that others have taken in further than some versions, where a plan that is made now would go further, too.

    Where a source is held, or has a backlog, a view may stay behind others.
    """
    further = {name: min(version, ends.get(name, 0)) for name, version in others.items()}
    return next((name for name, version in further.items() if version > at.get(name, 0)), "")


def _moved_state(world: World, view: ViewPlan, ends: Mapping[str, int]) -> str:
    """Name a state that is not as the program expects it; another view of a run may share it."""
    if view.program is None:
        return ""
    if made := _made_anew(world, view):
        return made
    if view.turn is not None and view.turn.expects:
        return _moved_chain(world, view.turn.expects)
    there = state_versions(world)
    return missing_state(view.program, view.start, there) or _passed_state(view, there, ends)


def _made_anew(world: World, view: ViewPlan) -> str:
    """Name a state that another run has written whole since, at whatever versions: it may hold something else."""
    origins = ((one, world.chains[one].origin) for one in view.origins if one in world.chains)
    return next(
        (f"{one}, which was made anew" for one, at in origins if at != view.origins[one]), ""
    )


def _passed_state(
    view: ViewPlan, there: Mapping[str, Mapping[str, int]], ends: Mapping[str, int]
) -> str:
    """Name a state that the plan writes whole and another run has brought further meanwhile: it would be set back.

    A join always: it is not written where it is ahead. Another state where a plan that is made now would go further, too.
    """
    for chain in sorted(view.chains_written & there.keys()):
        is_join, at = chain in view.remembers, there[chain]
        if is_ahead(at, view.end) if is_join else _passed(view.end, at, ends):
            return f"{chain}, which is ahead"
    return ""


def _moved_chain(world: World, expects: Mapping[str, Mapping[str, int]]) -> str:
    """Name a chain that is not at the versions at which a program counts on it."""
    there = state_versions(world)
    return next((chain for chain, at in expects.items() if there.get(chain) != at), "")


def _lost_mirror(world: World, view: ViewPlan, mirrors: Mapping[str, int]) -> str:
    """Name a mirror that the plan counts on and that an attempt which was killed found damaged."""
    if view.program is None or view.method not in {"incremental", "states-only"}:
        return ""
    for name in sorted(snapshots_read(view.program)):
        is_feed = world.sources[name].is_feed
        if is_feed and name not in mirrors and mirror_id(name) not in world.chains:
            return f"{mirror_id(name)}, which is gone"
    return ""


def _passed_mirror(mirrored: Mapping[str, int], view: ViewPlan) -> str:
    """Name a mirror that another run has written past rows which the plan reads: their files may be gone."""
    passed = (n for n, at in oldest_snapshots(view).items() if mirrored.get(n, 0) > at)
    return next((f"{mirror_id(name)}, which is ahead" for name in passed), "")


def again(world: World, plan: Plan, moved: str, prices: Prices, now: str = "") -> Plan:
    """Make a plan again under its own id, so that a retry of it still finds its run.

    Args:
        world: the log as it is.
        plan: that is stale.
        moved: why.
        prices: as of `make_plan`.
        now: the newest instant of the answers that ask for the time: none is made as of an earlier one.
    """
    names = [view.view for view in plan.views if view.view in world.views]
    fresh = make_plan(
        world,
        plan.workspace,
        now=max(plan.now, now),
        views=names,
        declared=Declared(register=plan.register),
        prices=prices,
        due=[view.view for view in plan.views if _is_still_due(world, view)],
    )
    reason = Reason("STALE_PLAN", moved)
    views = tuple(replace(view, reasons=(*view.reasons, reason)) for view in fresh.views)
    notices = tuple(dict.fromkeys((*plan.notices, *fresh.notices)))
    return replace(fresh, views=views, notices=notices, identity=plan.plan_id)


def _is_still_due(world: World, view: ViewPlan) -> bool:
    """Whether an answer was due by a plan and none has come since that is made of as much."""
    if view.turn is None or not view.turn.is_due:
        return False
    record = world.views.get(view.view)
    answered = {} if record is None or record.versions is None else record.versions
    return is_ahead(view.end, answered)
