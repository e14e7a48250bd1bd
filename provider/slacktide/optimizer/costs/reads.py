"""How many rows a step reads, as far as that decides before it runs whether it is light.

What the run before read for its changes tells of more than any estimate: of pages, and of pieces in which keys lie
anywhere. But keys that lay close together in one run may lie anywhere in the next, which the plan knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.statistics.facts import END
from slacktide.program import operator as o
from slacktide.program.operator import Operator

MOST_OFF: Final = 2.0
"""By how much fewer rows are read than a plan expects, as a rule (ADR 9)."""


def reads_expected(
    step: o.Step, works: Mapping[Operator, Vector], known: Statistics
) -> float | None:
    """The rows that a step which extends a chain reads; None of other steps, and where nobody knows.

    As many as the run before, more as there are more changes, and at least a part of what the plan is sure of: that is
    all but tables of which nobody knows how much of them the keys of the changes reach.

    Args:
        step: of a program.
        works: the estimated work of each operator of it.
        known: of what it reads, and of the chain.
    """
    chain = o.appended_to(step)
    if chain is None:
        return None
    stored = known.stored.get(chain)
    before = None if stored is None else stored.extension
    sure = {operator: work for operator, work in works.items() if is_sure(operator, known)}
    rows = sum(work.rows_read for work in sure.values())
    if before is None:
        return rows if len(sure) == len(works) else None
    changes = sum(source.change(END).rows.value for source in known.sources.values())
    return max(before.read * max(changes / before.changes, 1.0), rows / MOST_OFF)


def is_sure(operator: Operator, known: Statistics) -> bool:
    """Whether what an operator itself reads follows from what is known: of a table, how much of it the keys of changes reach."""
    if not isinstance(operator, o.ReadSnapshot):
        return True
    return known.source(operator.source).reach.origin != "default"
