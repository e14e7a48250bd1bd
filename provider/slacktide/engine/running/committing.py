"""What a run writes to the log, and what must still hold for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from slacktide.common.chain_ids import answer_id, changes_id, is_state, mirror_id
from slacktide.common.tree import of_type
from slacktide.engine.definitions.forgetting import forget_states
from slacktide.engine.plan import Plan
from slacktide.engine.planning.compacting import (
    Compacted,
    compacted_requirements,
    compacted_updates,
)
from slacktide.engine.work import Work
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import undetermined_states
from slacktide.program.chains import chains_read
from slacktide.program.operator import Save
from slacktide.spark.tasks.task import Outcome
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import Chain, Period, Segment
from slacktide.store.world import World


def requirements(
    world: World,
    plan: Plan,
    works: Sequence[Work],
    mirrors: Mapping[str, Outcome],
    compacted: Sequence[Compacted] = (),
    examined: Iterable[str] = (),
) -> list[q.Requirement]:
    """What must still hold when a run commits: all that it used, and that no other did its work."""
    needed: list[q.Requirement] = [q.PlanOpen(plan.plan_id), q.NotCollected(world.number)]
    worked = [work for work in works if work.outcome is not None]
    # A view that had no answer keeps its token when another engine takes over.
    needed += [q.EngineIs(world.engine)] if worked else []
    sources = {name for work in worked for name in work.plan.end} | {*mirrors, *examined}
    sources.update(*(world.foreign_keys[name].versions for name in plan.foreign_keys))
    for name in sorted(sources):
        source = world.sources[name]
        needed.append(q.SourceIs(name, source.epoch))
        needed.append(q.SkippedAre(name, tuple(sorted(source.skipped))))
    # A mirror that lacks a column which its source has gained since would lack it for good.
    needed += [q.DefinedBy("source", name, world.sources[name].defined) for name in sorted(mirrors)]
    relied = {*plan.foreign_keys, *(name for work in worked for name in work.plan.foreign_keys)}
    needed += [q.ForeignKeyIs(name, world.foreign_keys[name].token) for name in sorted(relied)]
    for work in works:
        if work.record is None:
            needed.append(q.NameFree("view", work.name))
            needed += [] if work.draft is None else work.draft.ground
        elif work.is_done:
            needed.append(q.ViewIs(work.name, work.record.token))
    written = {c for w in works if w.outcome is not None for c in w.outcome.chains}
    written |= {mirror_id(name) for name in mirrors}
    written |= {dropped.id for dropped in _forgotten(world, works)}
    for chain in sorted(written):
        stored = world.chains.get(chain)
        needed.append(q.ChainIs(chain, None if stored is None else stored.token))
    needed.extend(item for item in compacted_requirements(world, compacted) if item not in needed)
    return needed


def updates(
    world: World,
    works: Sequence[Work],
    mirrors: Mapping[str, Outcome],
    run: int,
    compacted: Sequence[Compacted] = (),
) -> list[u.Update]:
    """What a run writes: chains compacted, new views, states, mirrors, answers and their changes."""
    written: list[u.Update] = [*compacted_updates(world, compacted)]
    chains: dict[str, tuple[Segment, bool]] = {}
    for outcome in mirrors.values():
        chains.update(outcome.chains)
    for work in works:
        if work.is_done:
            written += period_update(work.plan)
            written += [] if work.draft is None else [work.draft.update()]
        if work.outcome is None:
            continue
        chains.update(
            (chain, (segment, is_base))
            for chain, (segment, is_base) in work.outcome.chains.items()
            if is_base or chain not in chains
        )
        written.extend(_answer_updates(world, work, work.outcome, run))
        if work.plan.is_due:
            versions, joins = dict(work.plan.end), work.plan.remembers
            origins = _origins(world, work, work.outcome, run)
            written.append(u.AdvanceView(work.name, versions, run, joins, origins))
    over = _over(world, works, chains, run)
    stated = [
        _state_update(world, chain, segment, is_base, run, written)
        for chain, (segment, is_base) in chains.items()
    ]
    return [*written, *_forgotten(world, works), *(_noting(over, one) for one in stated)]


def _over(
    world: World, works: Sequence[Work], chains: Mapping[str, tuple[Segment, bool]], run: int
) -> dict[str, dict[str, int]]:
    """By state that the run writes whole and that may come out otherwise each time, the origins of those that it is made from."""
    whole = {chain for chain, (_, is_base) in chains.items() if is_base}
    origins = {i: chain.origin for i, chain in world.chains.items()} | dict.fromkeys(whole, run)
    found: dict[str, dict[str, int]] = {}
    for work in works:
        if work.outcome is not None and not whole.isdisjoint(work.outcome.chains):
            for chain, below in undetermined_states(work.view).items():
                known = {one: origins[one] for one in below if one in origins}
                found.setdefault(chain, {}).update(known)
    return found


def _noting(over: Mapping[str, Mapping[str, int]], update: u.Update) -> u.Update:
    """The update of a state with the origins of those below it, where it writes that whole."""
    if isinstance(update, u.SetChain) and not update.chain.segments:
        return replace(update, chain=replace(update.chain, over=over.get(update.chain.id, {})))
    return update


def _origins(world: World, work: Work, outcome: Outcome, run: int) -> dict[str, int]:
    """The states that an answer goes with, as the run found them or has written them for it; none of one without states."""
    plan, known = work.plan, work.record or work.draft
    if plan.program is None or known is None:
        return {}
    is_stated = bool(chains_read(plan.program)) or any(True for _ in of_type(plan.program, Save))
    if plan.method == "full" and not is_stated:
        return {}
    there = {chain: world.chains[chain].origin for chain in known.states if chain in world.chains}
    written = {chain for chain, (_, is_base) in outcome.chains.items() if is_base}
    return there | dict.fromkeys(written.intersection(known.states), run)


def _forgotten(world: World, works: Sequence[Work]) -> list[u.DropChain]:
    """What no view needs or remembers once a run is done."""
    stated = {
        work.name: (*known.states, *work.plan.remembers, *work.plan.stored_early)
        for work in works
        if work.is_done and (known := work.record or work.draft) is not None
    }
    return forget_states(world, stated)


def period_update(plan: ViewPlan) -> list[u.Update]:
    """Count a refresh of a period; the due one ends it, with an answer or without a change."""
    turn = plan.turn
    if turn is None or (turn.is_due and plan.program is not None):
        return []
    reached = (*turn.reached, dict(plan.end)) if turn.writes else turn.reached
    period = Period(turn.number, reached, turn.keeps, dict(plan.end))
    return [u.AdvancePeriod(plan.view, None if turn.is_due else period)]


def _answer_updates(world: World, work: Work, outcome: Outcome, run: int) -> list[u.Update]:
    if outcome.answer is None or outcome.changes is None:
        return []
    if not outcome.answer_is_base and outcome.answer.rows == 0:
        return []  # nothing changed: no segment for readers to open
    history = changes_id(work.name)
    changes = replace(outcome.changes, run=run)
    first = history not in world.chains
    return [
        _chain_update(answer_id(work.name), outcome.answer, outcome.answer_is_base, run),
        u.SetChain(Chain(history, (), None, (changes,)))
        if first
        else u.ExtendChain(history, changes),
    ]


def _state_update(
    world: World,
    chain: str,
    segment: Segment,
    is_base: bool,  # noqa: FBT001
    run: int,
    before: Sequence[u.Update],
) -> u.Update:
    """A run that left a state as it is tells its versions alone; many such runs are one segment."""
    stored = world.chains.get(chain)
    last = stored.segments[-1] if stored is not None and stored.segments else None
    moved = any(isinstance(update, u.SetChain) and update.chain.id == chain for update in before)
    is_idle = is_state(chain) and not (is_base or moved or segment.files)
    if stored is None or last is None or last.files or not is_idle:
        return _chain_update(chain, segment, is_base, run)
    idle = replace(segment, run=run, runs=last.runs + 1)
    return u.SetChain(replace(stored, segments=(*stored.segments[:-1], idle)))


def _chain_update(chain: str, segment: Segment, is_base: bool, run: int) -> u.Update:  # noqa: FBT001
    stamped = replace(segment, run=run)
    if is_base:
        return u.SetChain(Chain(chain, (), stamped, origin=run))
    return u.ExtendChain(chain, stamped)
