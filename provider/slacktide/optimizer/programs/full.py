"""The programs that go by whole snapshots: states and answer anew, the answer alone, or the author's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from slacktide.algebra.relation import Rel
from slacktide.algebra.view import ReadView
from slacktide.common.tree import graft, of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import batch, evaluate, rebuild
from slacktide.program.multiplicity import adds_up, is_rowable, operators_planned
from slacktide.program.operator import Add, Consolidate, Operator, Program, Publish, ReadSaved, Save

MOST_OPERATORS: Final = 500
"""Operators of a step, each as often as it is read, above which no step is put together: Spark plans each of them."""

MERGING: Final = 3.5
"""What the author's text takes where rows have gone from mirrors, over what it takes where none have: the median of 11
TPC-H views (ADR 9)."""

COUNTING: Final = 1.1
"""The same of programs that add signed rows up: of 19 TPC-H views, after a tenth of the rows had changed (ADR 20)."""

SIGNED: Final = "signed"
"""By which a plan says whether a run that turns back adds signed rows up."""


def anew(
    name: str,
    view: ReadView,
    analysis: Maintainability,
    remembered: frozenset[Rel] = frozenset(),
) -> Program:
    """States, answer and the joins that are remembered besides from the sources; the author's text where none are kept."""
    program = rebuild(name, analysis, remembered)
    return program if any(True for _ in of_type(program, Save)) else from_snapshots(name, view)


@dataclass(frozen=True, slots=True)
class Alone:
    """The programs that give the answer alone from the sources.

    To read the current rows of a mirror to which changes came, those that went are looked up in all of it, with all
    of its columns. A program over signed rows adds multiplicities up instead, as incremental runs do.

    Attributes:
        text: the author's.
        signed: over signed rows; the text where that spares no looking up.
    """

    text: Program
    signed: Program

    def taken(self, *, is_signed: bool) -> Program:
        """The one that is taken where signed rows are added up if they can be, or where they are not."""
        return self.signed if is_signed else self.text


def without_states(
    name: str, view: ReadView, analysis: Maintainability | None, built: Program | None = None
) -> Alone:
    """The answer alone from the sources.

    Args:
        name: of the view.
        view: the view.
        analysis: of its relation; None where it is not read.
        built: what `anew` gives, where that is known.
    """
    text = from_snapshots(name, view)
    if analysis is None or analysis.verdict():
        return Alone(text, text)
    signed = unstored(anew(name, view, analysis) if built is None else built)
    is_worth = over_signed_rows(signed) and operators_planned(signed) <= MOST_OPERATORS
    return Alone(text, signed if is_worth else text)


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


def _inlined(operator: Operator, computed: Mapping[str, Operator]) -> Operator:
    """An operator that computes what it read from chains; their columns go by position.

    What asks for rows of a stored bag has them without grouping it.
    """
    reads = {read.digest: read for read in of_type(operator, ReadSaved)}
    return graft(
        operator,
        {
            digest: Add((_ungrouped(computed[one.chain]),), one.fields)
            for digest, one in reads.items()
        },
    )


def _ungrouped(stored: Operator) -> Operator:
    if isinstance(stored, Consolidate) and is_rowable(stored.child):
        return stored.child
    return stored


def over_signed_rows(program: Program) -> bool:
    """Whether a program adds signed rows of its sources up, at least of one."""
    return any(adds_up(step.child) for step in program.steps)


def merging(program: Program) -> float:
    """What a program takes over mirrors to which changes came, over what it takes over mirrors as they were written."""
    return COUNTING if over_signed_rows(program) else MERGING
