"""Programs over a small world in memory: what the Spark executor must do, said in plain Python."""

from __future__ import annotations

from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag, consolidate, negate, refuse_negative
from slacktide.program.reference.first import is_dry
from slacktide.program.reference.operators import OPERATORS
from slacktide.program.reference.steps import StepRun
from slacktide.program.reference.world import Merged, Outcome, Published, Saved, World


def run_program(program: o.Program, world: World) -> Outcome:
    """Execute the steps of a program in order.

    Raises:
        DataError: rows contradict the history, or a value fails in the query.
        InvariantError: the program cannot be right.
    """
    outcome = Outcome()
    for step in program.steps:
        if isinstance(step, o.Refill) and not is_dry(outcome.saved[step.chain].data, step.least):
            continue
        run = StepRun(world, outcome, OPERATORS)
        run.compute(step.child)
        columns = step.child.columns
        match step:
            case o.Save():
                data = run.any(step.child)
                outcome.saved[step.chain] = Saved(columns, data, step.child.is_state, step.is_base)
            case o.Refill():
                outcome.saved[step.chain] = Saved(
                    columns, run.bag(step.child), is_state=False, is_base=True
                )
            case o.Publish():
                outcome.published[step.view] = _publish(step, run.bag(step.child), world)
            case o.Merge():
                merged = Merged(run.any(step.child), step.first, step.child.is_state)
                outcome.merged[step.chain] = merged
    return outcome


def _publish(step: o.Publish, data: Bag, world: World) -> Published:
    changes = data
    if step.is_base:
        changes = consolidate([*data, *negate(world.answer(step.view))])
        refuse_negative(data, f"the answer of {step.view}")  # its readers read it as it is
    else:
        after = consolidate([*world.answer(step.view), *data])
        refuse_negative(after, f"the answer of {step.view}")
    return Published(step.child.columns, data, changes, step.is_base)
