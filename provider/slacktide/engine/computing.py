"""How a run computes one view, and what it does where that fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slacktide.common.reasons import Reason
from slacktide.engine.answers import former_answer
from slacktide.engine.pinning import check_pinned
from slacktide.engine.work import Work
from slacktide.errors import (
    DataError,
    InvariantError,
    SlacktideError,
    SourceError,
    StorageError,
    UnknownObjectError,
)
from slacktide.optimizer.fallback import plan_text, plan_turned_back, plan_without_start
from slacktide.optimizer.upkeep import state_sources
from slacktide.program.operator import Program
from slacktide.spark.task import Task, TurnedBackError
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.executor import Executor
    from slacktide.store.store import Store


def compute(
    executor: Executor, store: Store, world: World, work: Work, works: Sequence[Work]
) -> None:
    """Compute a view as planned, or by its author's text; its outcome or error is in the work.

    Args:
        executor: of the run.
        store: the workspace's store.
        world: the log as it was when the run started.
        work: the view.
        works: all of the run; those before it are done.

    Raises:
        SourceError, StorageError, InvariantError: the run fails as a whole; a plan that commits
            without one of its views is never retried.
        DamagedFileError: a state or mirror is to be built anew.
    """
    work.error = _missing_below(world, work, works)
    if work.error is not None or work.plan.program is None:
        return
    try:
        try:
            work.outcome = executor.run(_task(world, work, work.plan.program))
        except TurnedBackError as past:
            _turn_back(executor, store, world, work, past)
    except (SourceError, StorageError, InvariantError):
        raise
    except DataError as error:
        _compute_otherwise(executor, store, world, work, error)
    except SlacktideError as error:
        work.error = error


def _turn_back(
    executor: Executor, store: Store, world: World, work: Work, past: TurnedBackError
) -> None:
    """Compute a view by its author's text, as increments have turned out to be more than that.

    What was written so far is named by no entry of the log, and goes with the next collection.
    """
    limit = work.plan.guard.limits[past.chain]
    found = f"{past.rows:,} rows of {past.chain}, not more than {limit:,}"
    instead = plan_turned_back(work.view, work.plan, found)
    if instead is None or instead.program is None:
        raise InvariantError(f"view {work.name} turns back from its own text") from past
    work.plan, work.switched = instead, True
    check_pinned(store, world, [work])
    work.outcome = executor.run(_task(world, work, instead.program))
    work.outcome.cost.add(past.cost)


def _missing_below(world: World, work: Work, works: Sequence[Work]) -> SlacktideError | None:
    """Why a new view cannot come into the log: one that it reads has not."""
    there = {*world.views, *(other.name for other in works if other.outcome is not None)}
    lacking = [name for name in work.view.views if name not in there]
    if not lacking:
        return None
    return UnknownObjectError(
        f"view {work.name} reads {lacking[0]}, which failed in this run",
        hint="correct that view; this one follows",
    )


def _task(world: World, work: Work, program: Program) -> Task:
    return Task(
        work.name,
        program,
        work.plan.start,
        work.plan.end,
        state_sources(work.view, work.plan.remembers),
        work.query,
        former_answer(world, work.name, work.view),
        work.plan.guard.limits,
    )


def _compute_otherwise(
    executor: Executor, store: Store, world: World, work: Work, failure: DataError
) -> None:
    """Compute a view in another way after its program has failed over a row.

    What the run starts to remember may hold rows that nobody asks for, and a change holds rows that came and
    went, over which a query may stumble where batch does not.
    """
    work.error = failure
    planned = work.plan
    why = Reason("CHANGE_FAILS", failure.code)
    ways = (plan_without_start(planned), plan_text(work.view, planned, why))
    for instead in ways:
        if instead is None or instead.program is None:
            continue
        work.plan = instead
        check_pinned(store, world, [work])
        try:
            work.outcome = executor.run(_task(world, work, instead.program))
        except (SourceError, StorageError, InvariantError):
            raise
        except SlacktideError as error:
            work.error = error
        else:
            work.error = None
            return
    work.plan = planned
    _locate(executor, world, work)


def _locate(executor: Executor, world: World, work: Work) -> None:
    """Say of an overflow in which groups it happens."""
    if work.error is not None and work.plan.program is not None:
        task = _task(world, work, work.plan.program)
        work.error = executor.located(work.error, task, work.view.relation)
