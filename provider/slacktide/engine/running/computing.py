"""How a run computes one view, and what it does where that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from slacktide.common.reasons import Reason
from slacktide.engine.answers.former_texts import former_answer
from slacktide.engine.intake.pinning import check_pinned
from slacktide.engine.work import Work, is_of_all
from slacktide.errors import (
    DataError,
    ExecutionError,
    FunctionError,
    InvariantError,
    SlacktideError,
    SourceError,
    UnknownObjectError,
    UnsupportedQueryError,
)
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.optimizer.ways.fallback import (
    plan_idle,
    plan_text,
    plan_without_joins,
    plans_in_full,
)
from slacktide.program.limits import UNLIMITED
from slacktide.spark.tasks.task import Outcome, Task
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.tasks.executor import Executor
    from slacktide.store.store import Store


_STUMBLES = (SourceError, DataError, ExecutionError, FunctionError, UnsupportedQueryError)
"""What one program of a view may fail over, and another one may not."""


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
        DamagedFileError: a state or mirror is to be built anew; where an answer is damaged, only what
            must read it fails.
    """
    work.error = _missing_below(world, work, works)
    if work.error is not None or work.plan.program is None:
        return
    try:
        _execute(executor, store, world, work)
    except (DataError, FunctionError, UnsupportedQueryError) as error:
        _compute_otherwise(executor, store, world, work, error)
    except SlacktideError as error:
        if is_of_all(error):
            raise
        if not _leave_to_due(work, Reason("EARLY_FAILS", error.code)):
            work.error = error


def _leave_to_due(work: Work, why: Reason) -> bool:
    """Leave all to the due refresh, if this is one before it: a row may be gone by then, or it goes another way."""
    idle = plan_idle(work.plan, why)
    work.plan = work.plan if idle is None else idle
    return idle is not None


def _execute(executor: Executor, store: Store, world: World, work: Work) -> None:
    """Execute the plan of a view; past what its guard allows, in full without states instead, where that works.

    What was expected stays that of the program that was chosen, as what the run takes is its price. A refresh before
    the due one stores nothing instead.
    """
    outcome = executor.run(_task(world, work))
    if outcome.excess is not None:
        given_up = outcome.cost
        if _leave_to_due(work, Reason("RUNTIME_GUARD", outcome.excess)):
            work.given_up = given_up
            return
        outcome = _turned_back(executor, store, world, work, outcome.excess)
        outcome.cost.add(given_up)
    work.outcome = outcome


def _look(store: Store, world: World, work: Work) -> None:
    """Look at the files that another program of a view opens; what was seen of one before stays."""
    for path, one in check_pinned(store, world, [work]).items():
        work.seen.setdefault(path, one)


def _turned_back(
    executor: Executor, store: Store, world: World, work: Work, excess: str
) -> Outcome:
    """Execute the first that works of a full run as it was priced, the author's text, and what was planned."""
    planned, why = work.plan, Reason("RUNTIME_GUARD", excess)
    work.switched = True
    for plan in plans_in_full(work.view, planned, why):
        work.plan = replace(plan, predicted=planned.predicted_as_it_is)
        try:
            _look(store, world, work)
            return executor.run(_task(world, work))
        except _STUMBLES:
            continue
    # They read what increments need not; what these have written so far is there still.
    work.plan, work.switched = replace(planned, guard=UNLIMITED), False
    return executor.run(_task(world, work))


def _missing_below(world: World, work: Work, works: Sequence[Work]) -> SlacktideError | None:
    """Why a new view cannot come into the log: one that it reads has not."""
    there = {*world.views, *(other.name for other in works if other.is_done)}
    lacking = [name for name in work.view.views if name not in there]
    if not lacking:
        return None
    return UnknownObjectError(
        f"view {work.name} reads {lacking[0]}, which failed in this run",
        hint="correct that view; this one follows",
    )


def _task(world: World, work: Work) -> Task:
    if work.plan.program is None:
        raise InvariantError(f"view {work.name} has nothing to execute")
    return Task(
        work.name,
        work.plan.program,
        work.plan.start,
        work.plan.end,
        {**state_sources(work.view, work.plan.remembers), **_of_period(work.plan)},
        work.query,
        former_answer(world, work.name, work.view),
        reads=work.plan.reads,
        limits=work.plan.guard,
        kind="view",
    )


def _of_period(plan: ViewPlan) -> dict[str, tuple[str, ...]]:
    """What a refresh stores before the answer is due, and the sources that each chain is made of."""
    return {} if plan.turn is None else dict(plan.turn.writes)


def _compute_otherwise(
    executor: Executor,
    store: Store,
    world: World,
    work: Work,
    failure: DataError | FunctionError | UnsupportedQueryError,
) -> None:
    """Compute a view in another way after its program has failed over a row, or is none to Spark.

    The joins that the run writes whole may hold rows that nobody asks for, and a change holds rows that came and
    went, over which a query may stumble where batch does not.
    """
    planned = work.plan
    if _leave_to_due(work, Reason("EARLY_FAILS", failure.code)):
        return
    work.error = failure
    is_refused = isinstance(failure, UnsupportedQueryError)
    why = Reason("PROGRAM_REFUSED" if is_refused else "CHANGE_FAILS", failure.code)
    ways = (plan_without_joins(work.view, planned), plan_text(work.view, planned, why))
    for instead in ways:
        if instead is None or instead.program is None:
            continue
        work.plan = instead
        _look(store, world, work)
        try:
            _execute(executor, store, world, work)
        except SlacktideError as error:
            if is_of_all(error):
                raise
            work.error = error
        else:
            work.error = None
            return
    work.plan = planned
    _locate(executor, world, work)


def _locate(executor: Executor, world: World, work: Work) -> None:
    """Say of an overflow in which groups it happens."""
    if work.error is not None and work.plan.program is not None:
        task = _task(world, work)
        work.error = executor.located(work.error, task, work.view.relation)
