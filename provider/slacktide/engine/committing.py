"""What a run writes to the log, and what must still hold for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slacktide.engine.plan import Plan
from slacktide.engine.work import Work
from slacktide.spark.task import Outcome
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import Chain, Segment
from slacktide.store.world import World


def requirements(
    world: World, plan: Plan, works: Sequence[Work], mirrors: Mapping[str, Outcome]
) -> list[q.Requirement]:
    """What must still hold when a run commits: all that it used, and that no other did its work."""
    needed: list[q.Requirement] = [q.PlanOpen(plan.plan_id), q.NotCollected(world.number)]
    worked = [work for work in works if work.outcome is not None]
    sources = {name for work in worked for name in work.plan.end} | set(mirrors)
    for name in sorted(sources):
        source = world.sources[name]
        needed.append(q.SourceIs(name, source.epoch))
        needed.append(q.SkippedAre(name, tuple(sorted(source.skipped))))
    for work in works:
        if work.record is None:
            needed.append(q.NameFree("view", work.name))
            needed += [] if work.draft is None else work.draft.ground
        elif work.outcome is not None:
            needed.append(q.ViewIs(work.name, work.record.token))
    written = {c for w in works if w.outcome is not None for c in w.outcome.chains}
    written |= {f"sources/{name}" for name in mirrors}
    for chain in sorted(written):
        stored = world.chains.get(chain)
        needed.append(q.ChainIs(chain, None if stored is None else stored.token))
    return needed


def updates(
    world: World, works: Sequence[Work], mirrors: Mapping[str, Outcome], run: int
) -> list[u.Update]:
    """What a run writes: new views, states, mirrors, answers and their changes."""
    written: list[u.Update] = []
    chains: dict[str, tuple[Segment, bool]] = {}
    for outcome in mirrors.values():
        chains.update(outcome.chains)
    for work in works:
        if work.outcome is None:
            continue
        if work.draft is not None:
            written.append(work.draft.update())
        chains.update(
            (chain, (segment, is_base))
            for chain, (segment, is_base) in work.outcome.chains.items()
            if is_base or chain not in chains
        )
        written.extend(_answer_updates(world, work, work.outcome, run))
        written.append(u.AdvanceView(work.name, dict(work.plan.end), run))
    return [*written, *(_chain_update(i, s, is_base, run) for i, (s, is_base) in chains.items())]


def _answer_updates(world: World, work: Work, outcome: Outcome, run: int) -> list[u.Update]:
    if outcome.answer is None or outcome.changes is None:
        return []
    if not outcome.answer_is_base and outcome.answer.rows == 0:
        return []  # nothing changed: no segment for readers to open
    history = f"changes/{work.name}"
    changes = replace(outcome.changes, run=run)
    first = history not in world.chains
    return [
        _chain_update(f"views/{work.name}", outcome.answer, outcome.answer_is_base, run),
        u.SetChain(Chain(history, (), None, (changes,)))
        if first
        else u.ExtendChain(history, changes),
    ]


def _chain_update(chain: str, segment: Segment, is_base: bool, run: int) -> u.Update:  # noqa: FBT001
    stamped = replace(segment, run=run)
    if is_base:
        return u.SetChain(Chain(chain, (), stamped))
    return u.ExtendChain(chain, stamped)
