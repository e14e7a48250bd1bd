"""What is worked out before the step that reads it is planned.

**A side of a join**, before the other one is read, and sent to it where it turns out to be small.
Of a join Spark expects as many bytes as those of both sides multiplied, so that it shuffles a large table to meet what
a change has met before, be that a handful of rows: the six million of `lineitem` take 2.5 s of CPU that way, and 0.4 s
where the rows are sent to them (ADR 19). It goes on expecting these of rows that are there, and is told what to send.

**What is read more than once**, where much stands below it. Spark plans and runs that once for each reader: an outer join reads the
change of its left side three or four times, so that each one more in a row makes as many times of what there is to plan (ADR 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_rowable
from slacktide.program.operator import Operator
from slacktide.program.origin import is_small

LARGE_ROWS: Final = 500_000
"""Rows of a table of which a shuffle takes more than the jobs that spare it."""
SHARE: Final = 0.15
"""Rows of changes, as a share of such a table, up to which what they meet is taken to be few."""
SENT: Final = 10 * 2**20
"""Bytes of one side of a join up to which it is sent to all tasks, and neither is shuffled: as many as Spark sends by itself."""
MOST_REPEATED: Final = 50
"""Operators below what is read more than once up to which Spark plans them for each reader: one takes 2 to 10 ms, and to work it out takes two jobs (ADR 19)."""
MOST_CHANGED: Final = 100_000
"""Rows of changes of which what they have met is held, whatever it comes to."""
MOST_PLANNED: Final = 2000
"""Operators that are planned for each reader at most, whatever there would be to hold."""


def worked_out_first(
    root: Operator,
    changed: Callable[[o.ReadChanges], float],
    is_held: Callable[[Operator], bool] = lambda _: False,
) -> frozenset[Operator]:
    """The operators below one that are worked out before it is planned, as they are read more than once and much stands below them.

    Plain rows are none of these, as whoever asks for them goes by what they are made of.

    Args:
        root: the operator.
        changed: how many rows a change has, at most.
        is_held: whether an operator was worked out already.
    """
    operators = list(of_type(root, Operator))
    readers = Counter(below for one in operators for below in o.operator_inputs(one))
    planned: dict[Operator, int] = {}
    found: set[Operator] = set()
    for one in operators[:-1]:
        count = 1 + sum(planned[part] for part in o.operator_inputs(one))
        is_much = count > MOST_REPEATED and (count > MOST_PLANNED or _are_few(operators, changed))
        is_first = (is_held(one) or (readers[one] > 1 and is_much)) and not is_rowable(one)
        found |= {one} if is_first else set()
        planned[one] = 1 if is_first else count
    return frozenset(found)


def _are_few(operators: Iterable[Operator], changed: Callable[[o.ReadChanges], float]) -> bool:
    changes = (changed(one) for one in operators if isinstance(one, o.ReadChanges))
    return sum(changes) <= MOST_CHANGED


def materialised(
    operator: o.JoinBags, read: Sequence[float], changed: Callable[[o.ReadChanges], float]
) -> int | None:
    """Give the place of the side of a join that is worked out first; None where Spark knows enough, or it does not pay.

    Args:
        operator: the join.
        read: how many rows are read of each side, as far as is known.
        changed: how many rows a change has, at most.
    """
    sides = operator.left, operator.right
    for place, side in enumerate(sides):
        rows, other = read[1 - place], sides[1 - place]
        if rows < LARGE_ROWS or is_small(side) or not _is_met(side) or not _is_table(other):
            continue
        if sum(map(changed, of_type(side, o.ReadChanges))) <= SHARE * rows:
            return place
    return None


def _is_met(operator: Operator) -> bool:
    """Whether each row of an operator follows from a change of a source and what that has met."""
    if is_small(operator):
        has_changed = next(of_type(operator, o.ReadChanges), None) is not None
        return has_changed and next(of_type(operator, o.ReadSaved), None) is None
    match operator:
        case o.Add():
            return all(map(_is_met, operator.children))
        case o.JoinBags():
            return _is_met(operator.left) or _is_met(operator.right)
        case o.Select() | o.Map() | o.Negate() | o.Consolidate():
            return _is_met(operator.child)
        case _:
            return False


def _is_table(operator: Operator) -> bool:
    """Whether an operator is a table, of which rows and columns may be left out."""
    while isinstance(operator, o.Select | o.Map):
        operator = operator.child
    return isinstance(operator, o.ReadSnapshot)
