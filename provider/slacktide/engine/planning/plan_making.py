"""Binds the pure planner to the log: what each view is told, and what a run's views share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from time import process_time
from typing import Final

from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.engine.plan import NOTHING_DECLARED, Declared, Plan
from slacktide.engine.planning.compacting import compactions_due
from slacktide.engine.planning.foreign_keys import due as keys_due
from slacktide.engine.planning.foreign_keys import foreign_key_of, upkeep_in
from slacktide.engine.planning.how_far import next_ends
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.mirrors_due import is_mirror_due, mirror_segments_due
from slacktide.engine.planning.progressing import progress_of
from slacktide.engine.planning.situating import situation_of
from slacktide.errors import UnknownObjectError
from slacktide.optimizer.api import plan_view
from slacktide.optimizer.budget import IsSpent
from slacktide.optimizer.compaction import PRICES, Prices
from slacktide.optimizer.periods.planning import plan_turn
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import Upkeep, undetermined_states
from slacktide.program.chains import chains_read, snapshots_read
from slacktide.program.operator import Save
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

MOST_SECONDS: Final = 30.0
"""Of CPU that the search for ways to maintain one view may take; twice what the widest of TPC-DS takes."""


def make_plan(
    world: World,
    workspace: str = "",
    *,
    now: str,
    views: Sequence[str] | None = None,
    declared: Declared = NOTHING_DECLARED,
    prices: Prices = PRICES,
    due: Collection[str] = (),
) -> Plan:
    """Plan one run.

    Args:
        world: the log as it is.
        workspace: its identity; the plan is executed nowhere else.
        now: the instant of the run.
        views: names of the views to refresh; None for all that are not paused.
        declared: views that the run creates, sources to which it gives columns first, and in words what is
            declared otherwise than the workspace has it, and columns that nobody declared.
        prices: of reading and writing, by which chains are compacted.
        due: views whose answer is due at this run, wherever their period stands.

    Raises:
        UnknownObjectError: there is no view of a name.
    """
    coming = {item.name for item in declared.register}
    records, paused = _chosen(world, views, coming)
    ends = next_ends(world, records)
    plans = plan_views(Knowledge(world), records, ends, due)
    upkeep = _upkeep(world, plans)
    read = _read_versions(plans, upkeep)
    mirrors = {name: end for name, end in read.items() if is_mirror_due(world, name, end)}
    apart = {name: end for name, end in read.items() if name not in mirrors}
    mirror_segments = mirror_segments_due(world, apart, prices)
    return Plan(
        now=now,
        views=tuple(plans),
        mirrors=mirrors,
        register=declared.register,
        versions=ends,
        notices=(*declared.notices, *paused),
        alter=declared.alter,
        mirror_segments=mirror_segments,
        compactions=compactions_due(world, plans, mirror_segments, prices),
        foreign_keys=keys_due(world, plans, _of_answers(plans, upkeep), ends),
        workspace=workspace,
    )


def plan_first(
    world: World, name: str, view: ReadView, policy: str, end: Mapping[str, int]
) -> ViewPlan:
    """Plan the first run of a view that is not in the log yet."""
    ends = {source: end[source] for source in view.sources}
    return plan_view(name, view, situation_of(Knowledge(world), None, view, {}, ends, policy))


def plan_next(world: World, name: str) -> ViewPlan:
    """Plan the next run of one view, as if it ran alone."""
    record = world.views[name]
    return plan_views(Knowledge(world), [record], next_ends(world, [record]))[0]


def plan_views(
    known: Knowledge,
    records: Sequence[ViewRecord],
    ends: Mapping[str, int],
    due: Collection[str] = (),
) -> list[ViewPlan]:
    """Plan the views of one run, up to the same version of each source; see `make_plan`."""
    plans = [_plan_one(known, one, ends, is_due=one.name in due) for one in records]
    return _consistent(known, plans, ends)


def _chosen(
    world: World, views: Sequence[str] | None, coming: Collection[str]
) -> tuple[list[ViewRecord], tuple[str, ...]]:
    """The views of a run, and in words which were named and are left out; views that the run creates need no plan."""
    if views is None:
        return [record for record in world.views.values() if not record.paused], ()
    views = [n for n in dict.fromkeys(views) if not (n in coming and n not in world.views)]
    unknown = [name for name in views if name not in world.views]
    if unknown:
        known = ", ".join(sorted(world.views)) or "none"
        raise UnknownObjectError(
            f"there is no view {unknown[0]!r}", hint=f"the workspace has these views: {known}"
        )
    paused = tuple(
        f"view {name} is paused and left out; slacktide view resume {name}"
        for name in views
        if world.views[name].paused
    )
    return [record for name in views if not (record := world.views[name]).paused], paused


def _plan_one(
    known: Knowledge,
    record: ViewRecord,
    ends: Mapping[str, int],
    rebuilds: str = "",
    *,
    is_due: bool = False,
) -> ViewPlan:
    view = ReadView.from_dict(record.definition)
    start = dict(record.versions or {})
    end = {source: max(ends[source], start.get(source, 0)) for source in view.sources}
    situation = situation_of(known, record, view, start, end, record.policy, rebuilds)
    progress = progress_of(known, record, view, end, situation.statistics, is_due=is_due)
    if progress is None:
        plan = plan_view(record.name, view, situation)
    else:
        plan = plan_turn(record.name, view, situation, progress, time_for_search(), known.rules)
    return replace(plan, origins=_origins(known.world, view, plan))


def _origins(world: World, view: ReadView, plan: ViewPlan) -> dict[str, int]:
    """The states that a plan goes on from and that might have come out otherwise, by the runs that wrote them whole."""
    if plan.program is None:
        return {}
    extended = {save.chain for save in _saves(plan) if not save.is_base}
    used = (chains_read(plan.program) | extended) & undetermined_states(view).keys()
    return {chain: world.chains[chain].origin for chain in sorted(used) if chain in world.chains}


def time_for_search() -> IsSpent:
    """Whether the search for ways to maintain one view has taken `MOST_SECONDS` from now on."""
    end = process_time() + MOST_SECONDS
    return lambda: process_time() > end


def _consistent(known: Knowledge, plans: list[ViewPlan], ends: Mapping[str, int]) -> list[ViewPlan]:
    """Have all views that share a state build it anew when one of them does.

    A join that is remembered is none: as one run takes all views to the same versions, a base that one writes
    of it takes the place of what the others would have added.
    """
    while True:
        rebuilt = {
            save.chain
            for plan in plans
            for save in _saves(plan)
            if save.is_base and save.chain not in plan.remembers
        }
        moved = False
        for position, plan in enumerate(plans):
            record = known.world.views[plan.view]
            shared = sorted(
                save.chain
                for save in _saves(plan)
                if save.chain in rebuilt and save.chain in record.states and not save.is_base
            )
            if shared:
                plans[position] = _plan_one(known, record, ends, shared[0], is_due=plan.is_due)
                moved = True
        if not moved:
            return plans


def _saves(plan: ViewPlan) -> list[Save]:
    return [] if plan.program is None else list(of_type(plan.program, Save))


def _upkeep(world: World, plans: Iterable[ViewPlan]) -> dict[str, Upkeep]:
    """What any run goes by, of each view that this one computes."""
    known = frozenset(map(foreign_key_of, world.held_keys.values()))
    computed = (plan.view for plan in plans if plan.program is not None)
    return {name: upkeep_in(world, world.views[name], known) for name in computed}


def _of_answers(plans: Iterable[ViewPlan], upkeep: Mapping[str, Upkeep]) -> list[Upkeep]:
    """What views that are answered go by: keys are known as of answers, and checked with them."""
    early = {plan.view for plan in plans if not plan.is_due}
    return [one for name, one in upkeep.items() if name not in early]


def _read_versions(plans: Iterable[ViewPlan], upkeep: Mapping[str, Upkeep]) -> dict[str, int]:
    """The sources whose snapshots a run reads, each at the oldest version of its end."""
    read: dict[str, int] = {}
    for plan in plans:
        names = upkeep[plan.view].snapshots if plan.view in upkeep else frozenset()
        if plan.program is not None and plan.turn is not None and plan.method != "full":
            names |= snapshots_read(plan.program)  # a period has programs of its own
        for name in names:
            read[name] = min(plan.end[name], read.get(name, plan.end[name]))
    return dict(sorted(read.items()))
