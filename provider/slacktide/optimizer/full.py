"""The programs that go by whole snapshots: states and answer anew, or the author's text."""

from __future__ import annotations

from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.optimizer.derivation import batch, evaluate, rebuild
from slacktide.optimizer.maintainability import Maintainability
from slacktide.program.operator import Program, Save


def anew(name: str, view: ReadView, analysis: Maintainability) -> Program:
    """States and answer from the sources; the author's text where there are no states."""
    program = rebuild(name, analysis)
    return program if any(True for _ in of_type(program, Save)) else from_snapshots(name, view)


def from_snapshots(name: str, view: ReadView) -> Program:
    """The author's own text; the relation only where the order needs columns the text hides."""
    if view.relation is not None and len(view.relation.columns) > len(view.outputs):
        return evaluate(name, view.relation)
    return batch(name, view.outputs)
