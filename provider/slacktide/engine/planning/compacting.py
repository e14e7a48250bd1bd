"""Binds compaction to the log: which chains a plan compacts, the tasks of a run, and what they leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slacktide.common.chain_ids import answer_id, is_of_view, mirror_id
from slacktide.engine.reports import CompactionReport
from slacktide.engine.work import Work
from slacktide.errors import DamagedFileError, InvariantError, SlacktideError, StorageError
from slacktide.optimizer.compaction import Compaction, Piece, Prices, compaction, extended
from slacktide.optimizer.mirror import segment_step
from slacktide.optimizer.plan import ViewPlan
from slacktide.program.operator import Operator
from slacktide.spark.tasks.task import Outcome, Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.naming import segments, with_merged
from slacktide.store.record import Chain
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.tasks.executor import Executor


def compactions_due(
    world: World, plans: Sequence[ViewPlan], mirror_segments: Mapping[str, int], prices: Prices
) -> tuple[Compaction, ...]:
    """The chains that a run compacts: some of those to which it appends anyway.

    No other writer is disturbed so: whoever writes to a chain that a run appends to is in its way
    already.

    Args:
        world: the log as it is.
        plans: of the views.
        mirror_segments: mirrors that get a segment.
        prices: of reading and writing.
    """
    written = {chain: rows for plan in plans for chain, rows in extended(plan).items()}
    found = [_due(world, chain, rows, prices) for chain, rows in sorted(written.items())]
    found += [_mirror_due(world, name, prices) for name in sorted(mirror_segments)]
    return tuple(one for one in found if one is not None)


def _due(
    world: World,
    chain: str,
    rows: Operator,
    prices: Prices,
    *,
    order: tuple[int, ...] = (),
    with_base: bool = True,
) -> Compaction | None:
    stored = world.chains.get(chain)
    if stored is None or stored.base is None:
        return None
    pieces = _pieces(stored)
    return compaction(
        chain, stored.token, pieces, rows, order=order, with_base=with_base, prices=prices
    )


def _mirror_due(world: World, name: str, prices: Prices) -> Compaction | None:
    """The base of a mirror is of plain rows; when it is written anew, `is_mirror_due` says."""
    chain = mirror_id(name)
    newest = (world.chains[chain].versions or {}).get(name, 0)
    lags = [v for v in world.views.values() if (v.versions or {}).get(name, newest) < newest]
    if any(not view.paused for view in lags):
        return None  # it still reads between two of the segments, where it need not be rebuilt
    source = world.sources[name]
    step = segment_step(name, source.schema, source.key)
    return _due(world, chain, step.child, prices, order=step.order, with_base=False)


def _pieces(chain: Chain) -> list[Piece]:
    return [Piece(len(s.files), s.rows, s.bytes, s.runs) for s in segments(chain)]


@dataclass(slots=True)
class Compacted:
    """What became of one compaction: the merged piece, or why there is none."""

    plan: Compaction
    outcome: Outcome | None = None
    error: SlacktideError | None = None

    def report(self) -> CompactionReport:
        """What the run says of it."""
        merged = None if self.outcome is None else self.outcome.merged[self.plan.chain]
        return CompactionReport(
            reason=str(self.plan.reason),
            first=self.plan.first,
            pieces=self.plan.pieces,
            predicted={"cpu_seconds": self.plan.price},
            actual={} if self.outcome is None else self.outcome.cost.to_dict(),
            rows=(self.plan.rows, None if merged is None else merged.rows),
            bytes=(self.plan.bytes, None if merged is None else merged.bytes),
            error=None if self.error is None else self.error.to_dict(),
        )


def compact(
    executor: Executor,
    world: World,
    plans: Sequence[Compaction],
    works: Sequence[Work],
    mirrors: Mapping[str, Outcome],
) -> list[Compacted]:
    """Merge pieces as planned, of the chains to which the run has really appended.

    What fails of a view's query cannot fail here; what does is told, and the chain stays as it is.

    Raises:
        StorageError, InvariantError: the run fails as a whole.
        DamagedFileError: a file of a state or mirror is damaged, so that it is to be built anew.
    """
    appended = _appended(works, mirrors)
    due = [p for p in plans if p.chain in appended and world.chains[p.chain].token == p.token]
    return [_merged(executor, world, plan) for plan in due]


def _merged(executor: Executor, world: World, plan: Compaction) -> Compacted:
    done = Compacted(plan)
    versions = dict(world.chains[plan.chain].versions or {})
    try:
        done.outcome = executor.run(Task(plan.chain, plan.program, {}, versions, {}, kind="chain"))
    except DamagedFileError as error:
        if not is_of_view(plan.chain):
            raise
        done.error = error
    except (StorageError, InvariantError):
        raise
    except SlacktideError as error:
        done.error = error
    return done


def _appended(works: Sequence[Work], mirrors: Mapping[str, Outcome]) -> set[str]:
    outcomes = [*mirrors.values(), *(work.outcome for work in works if work.outcome is not None)]
    written = [item for outcome in outcomes for item in outcome.chains.items()]
    anew = {chain for chain, (_, is_base) in written if is_base}
    found = {chain for chain, _ in written}
    for work in works:
        if work.outcome is not None and work.outcome.answer is not None:
            (anew if work.outcome.answer_is_base else found).add(answer_id(work.name))
    return found - anew


def compacted_updates(world: World, done: Sequence[Compacted]) -> Iterator[u.Update]:
    """What compactions write; the segments of the run follow in the same entry."""
    for one in done:
        if one.outcome is not None:
            stored = world.chains[one.plan.chain]
            merged = one.outcome.merged[stored.id]
            yield u.SetChain(with_merged(stored, one.plan.first, merged))


def compacted_requirements(world: World, done: Sequence[Compacted]) -> Iterator[q.Requirement]:
    """That nobody has written to what was compacted."""
    for one in done:
        yield q.ChainIs(one.plan.chain, world.chains[one.plan.chain].token)
