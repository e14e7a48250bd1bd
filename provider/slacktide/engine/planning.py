"""Binds the pure planner to the log: what each view is told, and what a run's views share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from time import process_time
from typing import Final

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_mirror, is_state, mirror_id
from slacktide.common.quantities import parse_bytes
from slacktide.common.tree import of_type
from slacktide.engine.compacting import compactions_due
from slacktide.engine.foreign_keys import due as keys_due
from slacktide.engine.foreign_keys import foreign_key_of, foreign_keys_at, upkeep_in
from slacktide.engine.goal_setting import rounds_of, weights_of
from slacktide.engine.knowledge import Knowledge
from slacktide.engine.plan import NOTHING_DECLARED, Declared, Plan
from slacktide.engine.progressing import progress_of
from slacktide.errors import UnknownObjectError
from slacktide.optimizer.api import Situation, plan_view
from slacktide.optimizer.budget import IsSpent
from slacktide.optimizer.compaction import PRICES, Piece, Prices, is_earned
from slacktide.optimizer.join_bags import is_ahead
from slacktide.optimizer.mirror import is_due
from slacktide.optimizer.net_changes import netted
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.progress import plan_turn
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.upkeep import Upkeep, kept_versions
from slacktide.program.operator import Save
from slacktide.store.arrivals import Totals
from slacktide.store.naming import segments
from slacktide.store.record import Source, ViewRecord
from slacktide.store.world import World, reads

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
    records, paused = _chosen(world, views)
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


def situation_of(
    known: Knowledge,
    record: ViewRecord | None,
    view: ReadView,
    start: Mapping[str, int],
    end: Mapping[str, int],
    policy: str,
    rebuilds: str = "",
) -> Situation:
    """What the planner is told of a view in a run between two version vectors; see `Situation`."""
    world = known.world
    states = state_versions(world)
    kept = {} if start else kept_versions(view, states, end)
    since = {**end, **kept} if kept else start
    merged = _merged(world, view, end)
    statistics = known.statistics(view, since, end)
    own = () if record is None or not start else record.states
    is_behind = any(is_ahead(states.get(chain, {}), start) for chain in own)
    caught = situation_of(known, record, view, {}, end, policy) if is_behind else None
    return Situation(
        start=start,
        end=end,
        share=_share(known, view, since, end),
        states=states,
        policy=policy,
        token=0 if record is None else record.token,
        mirrors=mirror_versions(world),
        rebuilds=rebuilds,
        kept=kept,
        foreign_keys=foreign_keys_at(world, start, end),
        broken="" if record is None else record.doubted,
        statistics=statistics,
        evidence=known.evidence(
            record,
            known.rows(view, end),
            known.rows_changed(view, since, end),
            merges=_merges(world, view, end, merged),
            unmerged=reduce(Totals.plus, merged.values(), Totals()).rows,
        ),
        remembers=() if record is None else record.remembers,
        is_shared=record is not None and known.is_shared(record),
        others=known.others("" if record is None else record.name),
        stumbles=known.stumbles(record),
        rounds=0 if record is None else rounds_of(record.settings),
        append_only=frozenset(
            name for name in view.sources if _never_loses_rows(world.sources[name])
        ),
        netted=_netted(world, view, statistics, end),
        caught=caught if caught and is_ahead(caught.kept, start) else None,
    )


def _never_loses_rows(source: Source) -> bool:
    """Whether no row of a source is ever taken away: rows of plain files come, and nothing else."""
    return source.kind == "files" or bool(source.arguments.get("append_only"))


def _netted(
    world: World, view: ReadView, statistics: Statistics, end: Mapping[str, int]
) -> frozenset[str]:
    """The sources of a view whose changes are netted, of those that have ever lost a row, or may have."""
    if view.relation is None:
        return frozenset()
    arrivals = {name: world.sources[name].arrivals for name in view.sources}
    losing = [name for name, one in arrivals.items() if one.totals(0, end[name]).deletes != 0]
    return netted(view.relation, statistics, losing)


def _merged(world: World, view: ReadView, end: Mapping[str, int]) -> dict[str, Totals]:
    """By source of which a full run merges a mirror with the changes after it, as rows have gone: these changes."""
    found = {name: _since_base(world, name, end[name]) for name in view.sources}
    return {name: changes for name, changes in found.items() if changes.deletes != 0}


def _merges(world: World, view: ReadView, end: Mapping[str, int], merged: Collection[str]) -> bool:
    """Whether a full run merges most of the rows that it reads; see `Evidence.merges`."""
    rows = {name: world.sources[name].rows_at(end[name]) or 0 for name in view.sources}
    if not any(rows.values()):  # nobody has counted them
        return bool(merged)
    return 2 * sum(rows[name] for name in merged) > sum(rows.values())


def _chosen(world: World, views: Sequence[str] | None) -> tuple[list[ViewRecord], tuple[str, ...]]:
    """The views of a run, and in words which were named and are left out."""
    if views is None:
        return [record for record in world.views.values() if not record.paused], ()
    views = [*dict.fromkeys(views)]
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


def next_ends(world: World, records: Iterable[ViewRecord]) -> dict[str, int]:
    """How far each source is taken in: all of it, unless it is held or has a backlog limit.

    No less than the foremost view has taken in: all views of a run, and so the states that they
    share, stand at one version afterwards. An answer that is made anew does not go back in time.
    """
    readers: dict[str, list[ViewRecord]] = {}
    for record in records:
        for name in reads(record):
            readers.setdefault(name, []).append(record)
    taken = taken_in(world)
    return {
        name: _end(source, readers.get(name, []), taken.get(name, 0))
        for name, source in world.sources.items()
    }


def _end(source: Source, readers: Sequence[ViewRecord], taken: int) -> int:
    """How far a run takes in a source that these of its views read, where anything has taken it in so far."""
    reached = [one.reached[source.name] for one in readers if source.name in one.reached]
    foremost = max(reached, default=taken)
    if source.held:
        return foremost
    # A view without an answer is made from all rows, however far it lags, and holds no other back; nor does
    # one whose answer is due later.
    each = [one for one in readers if not weights_of(one.settings)]
    lags = [v for one in each if (v := (one.versions or {}).get(source.name)) is not None]
    return max(foremost, _limited(source, min(lags, default=foremost)))


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
        return plan_view(record.name, view, situation)
    return plan_turn(record.name, view, situation, progress, time_for_search())


def time_for_search() -> IsSpent:
    """Whether the search for ways to maintain one view has taken `MOST_SECONDS` from now on."""
    end = process_time() + MOST_SECONDS
    return lambda: process_time() > end


def mirror_versions(world: World) -> dict[str, int]:
    """The version up to which the mirror of each source is compacted: no older snapshot is told."""
    return {
        name: max(s.versions[name] for s in segments(chain) if s is chain.base or s.runs > 1)
        for name in world.sources
        if (chain := world.chains.get(mirror_id(name))) is not None and chain.base is not None
    }


def state_versions(world: World) -> dict[str, Mapping[str, int]]:
    """The version vectors of all that is stored, by chain."""
    return {i: c.versions for i, c in world.chains.items() if c.versions is not None}


def _share(
    known: Knowledge, view: ReadView, start: Mapping[str, int], end: Mapping[str, int]
) -> float:
    """Rows that changed over rows that are there; in bytes where rows are not known."""
    changed, there = known.rows_changed(view, start, end), known.rows(view, end)
    if changed is None or there is None:
        arrivals = {name: known.world.sources[name].arrivals for name in view.sources}
        changed = sum(a.totals(start.get(n, 0), end[n]).bytes for n, a in arrivals.items())
        there = sum(a.totals(0, end[n]).bytes for n, a in arrivals.items())
    return changed / there if there else float(changed > 0)


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
        for name in upkeep[plan.view].snapshots if plan.view in upkeep else ():
            read[name] = min(plan.end[name], read.get(name, plan.end[name]))
    return dict(sorted(read.items()))


def _since_base(world: World, name: str, end: int) -> Totals:
    """What has come to a mirror since its base was written; nothing where there is none, or a run will write it anew."""
    chain = world.chains.get(mirror_id(name))
    if chain is None or chain.base is None or is_mirror_due(world, name, end):
        return Totals()
    return world.sources[name].arrivals.totals(chain.base.versions[name], end)


def is_mirror_due(world: World, name: str, end: int) -> bool:
    """Whether the mirror of a source is to be written at a version."""
    source = world.sources[name]
    return source.kind == "change-feed" and is_due(*_mirrored(world, source, end))


def _mirrored(world: World, source: Source, end: int) -> tuple[int | None, int]:
    chain = world.chains.get(mirror_id(source.name))
    base = None if chain is None else chain.base
    if base is None:
        return None, 0
    version = base.versions[source.name]
    return base.rows, sum(arrival.rows or 0 for arrival in source.arrivals[version:end])
