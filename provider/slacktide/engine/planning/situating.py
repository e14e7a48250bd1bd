"""What the planner is told of a view, by the log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce

from slacktide.algebra.view import ReadView
from slacktide.common.reasons import Reason
from slacktide.engine.definitions.goal_setting import rounds_of
from slacktide.engine.planning.foreign_keys import foreign_keys_at
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.planning.mirrors_due import mirror_versions, since_base
from slacktide.optimizer.programs.determinacy import are_states_determined
from slacktide.optimizer.programs.join_bags import is_ahead
from slacktide.optimizer.programs.net_changes import netted
from slacktide.optimizer.programs.upkeep import (
    analysis_of,
    kept_versions,
    undetermined_states,
)
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.ways.situation import Situation
from slacktide.store.arrivals import Totals
from slacktide.store.record import ViewRecord
from slacktide.store.world import World


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
    for chain in () if start else _unlike(world, view):
        states.pop(chain, None)
    kept = {} if start else kept_versions(view, states, end)
    since = {**end, **kept} if kept else start
    merged = _merged(world, view, end)
    statistics = known.statistics(view, since, end, record)
    own = () if record is None or not start else record.states
    is_behind = any(is_ahead(states.get(chain, {}), start) for chain in own)
    is_apart = record is not None and bool(start) and _is_apart(world, record, view)
    caught = (
        situation_of(known, record, view, {}, end, policy, rebuilds)
        if is_behind or is_apart
        else None
    )
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
        anew=() if record is None else _made_anew(record),
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
        later=None if record is None else _later(record),
        append_only=frozenset(name for name in view.sources if world.sources[name].only_grows),
        netted=_netted(world, view, statistics, end),
        is_apart=is_apart,
        caught=caught if caught and (is_apart or is_ahead(caught.kept, start)) else None,
    )


def _made_anew(record: ViewRecord) -> tuple[Reason, ...]:
    """Why no run goes on from an answer that is there."""
    reasons = {"REFERENCE_BROKEN": record.doubted, "ENGINE_CHANGED": record.outlived}
    return tuple(Reason(code, detail) for code, detail in reasons.items() if detail)


def _later(record: ViewRecord) -> int | None:
    """How many runs after this one its choice of states is made for; None where its author does not say."""
    rounds = rounds_of(record.settings)
    return rounds - 1 if rounds else None


def _is_apart(world: World, record: ViewRecord, view: ReadView) -> bool:
    """Whether an answer may not hold what the states of its versions do, as another query has made these."""
    there = (world.chains[chain] for chain in record.states if chain in world.chains)
    origins = record.origins
    if origins is None or all(origins.get(chain.id) == chain.origin for chain in there):
        return False
    analysis = analysis_of(view)
    return analysis is not None and not are_states_determined(analysis)


def _unlike(world: World, view: ReadView) -> list[str]:
    """The states of a view that do not go with those below them: one of these is gone, or was made anew since."""
    origins = {chain.id: chain.origin for chain in world.chains.values()}
    return [
        chain
        for chain, below in undetermined_states(view).items()
        if chain in origins
        and any(
            one not in origins or world.chains[chain].over.get(one, origins[one]) != origins[one]
            for one in below
        )
    ]


def _netted(
    world: World, view: ReadView, statistics: Statistics, end: Mapping[str, int]
) -> frozenset[str]:
    """The sources of a view whose changes are netted, of those that have ever lost a row, or may have."""
    if view.relation is None:
        return frozenset()
    known = {name: world.sources[name] for name in view.sources}
    losing = [name for name, one in known.items() if one.totals(0, end[name]).deletes != 0]
    return netted(view.relation, statistics, losing)


def _merged(world: World, view: ReadView, end: Mapping[str, int]) -> dict[str, Totals]:
    """By source of which a full run merges a mirror with the changes after it, as rows have gone: these changes."""
    found = {name: since_base(world, name, end[name]) for name in view.sources}
    return {name: changes for name, changes in found.items() if changes.deletes != 0}


def _merges(world: World, view: ReadView, end: Mapping[str, int], merged: Collection[str]) -> bool:
    """Whether a full run merges most of the rows that it reads; see `Evidence.merges`."""
    rows = {name: world.sources[name].rows_at(end[name]) or 0 for name in view.sources}
    if not any(rows.values()):  # nobody has counted them
        return bool(merged)
    return 2 * sum(rows[name] for name in merged) > sum(rows.values())


def state_versions(world: World) -> dict[str, Mapping[str, int]]:
    """The version vectors of all that is stored, by chain."""
    return {i: c.versions for i, c in world.chains.items() if c.versions is not None}


def _share(
    known: Knowledge, view: ReadView, start: Mapping[str, int], end: Mapping[str, int]
) -> float:
    """Rows that changed over rows that are there."""
    changed, there = known.rows_changed(view, start, end), known.rows(view, end)
    return changed / there if there else float(changed > 0)
