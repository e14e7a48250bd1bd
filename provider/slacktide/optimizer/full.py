"""The programs that go by whole snapshots: states and answer anew, the answer alone, or the author's text."""

from __future__ import annotations

from slacktide.algebra.view import ReadView
from slacktide.common.tree import graft, of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.costs.evidence import COUNTING, MERGING
from slacktide.optimizer.derivation import batch, evaluate, rebuild
from slacktide.optimizer.maintainability import Maintainability
from slacktide.program.operator import (
    Add,
    Batch,
    Evaluate,
    Operator,
    Program,
    Publish,
    ReadSaved,
    ReadSnapshot,
    Save,
    Step,
)


def anew(name: str, view: ReadView, analysis: Maintainability) -> Program:
    """States and answer from the sources; the author's text where there are no states."""
    program = rebuild(name, analysis)
    return program if _has_states(program) else from_snapshots(name, view)


def without_states(
    name: str, view: ReadView, analysis: Maintainability | None, *, merges: bool
) -> Program:
    """The answer alone from the sources, in the cheapest way that is known.

    To read the current rows of a mirror to which changes came, rows that went are looked up in all of it, with all
    of its columns. A program over signed rows adds multiplicities up instead, as incremental runs do.

    Args:
        name: of the view.
        view: the view.
        analysis: of its relation; None where it is not read.
        merges: whether rows have gone from mirrors since these were written.
    """
    if merges and analysis is not None and not analysis.verdict():
        program = rebuild(name, analysis)
        if _has_states(program):
            return unstored(program)
    return from_snapshots(name, view)


def from_snapshots(name: str, view: ReadView) -> Program:
    """The author's own text; the relation only where the order needs columns the text hides."""
    if view.relation is not None and len(view.relation.columns) > len(view.outputs):
        return evaluate(name, view.relation)
    return batch(name, view.outputs)


def unstored(program: Program) -> Program:
    """The one step that gives the answer of a program that builds all states anew, without storing them.

    Raises:
        InvariantError: the program does more than write states and publish.
    """
    computed: dict[str, Operator] = {}
    for step in program.steps[:-1]:
        if not isinstance(step, Save) or not step.is_base:
            raise InvariantError(f"{step.tag} is no state that is built anew")
        computed[step.chain] = _inlined(step.child, computed)
    last = program.steps[-1]
    if not isinstance(last, Publish):
        raise InvariantError(f"{last.tag} gives no answer")
    return Program((Publish(last.view, _inlined(last.child, computed), is_base=True),))


def _inlined(operator: Operator, computed: dict[str, Operator]) -> Operator:
    """An operator that computes what it read from chains; their columns go by position."""
    reads = {read.digest: read for read in of_type(operator, ReadSaved)}
    return graft(
        operator,
        {digest: Add((computed[one.chain],), one.fields) for digest, one in reads.items()},
    )


def merging(program: Program) -> float:
    """What a program takes over mirrors to which changes came, over what it takes over mirrors as they were written."""
    return MERGING if all(map(_reads_rows, program.steps)) else COUNTING


def _reads_rows(step: Step) -> bool:
    """Whether a step asks for the current rows of its sources, and for nothing else."""
    rows = step.child
    if isinstance(rows, Evaluate):
        return all(isinstance(one.operator, ReadSnapshot) for one in rows.inputs)
    return isinstance(rows, Batch)


def _has_states(program: Program) -> bool:
    return any(True for _ in of_type(program, Save))
