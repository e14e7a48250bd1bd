"""Light steps in one task: few rows are brought into one partition where they are read.

What is in one partition is grouped, joined and added up there without a shuffle, a broadcast or a stage, of
each of which the fixed price is many times that of the rows. What is not few is read by all workers, meets
few rows by broadcast, and is brought together after that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slacktide.algebra.equalities import take_apart
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs

FitsOneTask = Callable[[Operator], bool]
_READS = o.ReadBag | o.ReadChanges | o.ReadSaved | o.ReadSegments | o.ReadSnapshot | o.ReadState


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is known of the rows of a step's operators.

    Attributes:
        together: operators whose rows are in one partition.
        few: those of them that have no more rows than the small tables which they read.
    """

    together: frozenset[Operator] = frozenset()
    few: frozenset[Operator] = frozenset()


NOTHING: Final = Gathered()


def gathered(root: Operator, fits_one_task: FitsOneTask) -> Gathered:
    """Work out which rows of a light step are brought into one partition.

    Args:
        root: of the step.
        fits_one_task: whether a table that an operator reads is small.
    """
    together: set[Operator] = set()
    few: set[Operator] = set()
    for operator in of_type(root, Operator):
        if isinstance(operator, _READS):
            is_small = fits_one_task(operator)
            is_together, is_few = is_small, is_small
        else:
            is_together = _is_together(operator, together, few)
            is_few = is_together and _has_few(operator, few)
        together.update([operator] if is_together else [])
        few.update([operator] if is_few else [])
    return Gathered(frozenset(together), frozenset(few))


def _is_together(operator: Operator, together: set[Operator], few: set[Operator]) -> bool:
    match operator:
        case o.JoinBags():
            sides = {operator.left, operator.right}
            return together.issuperset(sides) or not few.isdisjoint(sides)
        case o.SemiBags():
            return operator.left in together or operator.right in few
        case o.Touched():
            return operator.child in together or operator.by in few
        case _:
            below = operator_inputs(operator)
            return bool(below) and together.issuperset(below)


def _has_few(operator: Operator, few: set[Operator]) -> bool:
    """Whether an operator has at most a row for each row of those that it reads."""
    match operator:
        case o.JoinBags() | o.Evaluate() | o.ExpandBag() | o.GenerateBag() | o.Flips():
            return False
        case o.SemiBags():
            return operator.left in few
        case o.Touched():
            return operator.child in few
        case _:
            return few.issuperset(operator_inputs(operator))


def read_hint(operator: Operator, found: Gathered) -> str:
    """How a table is read, as a hint behind SELECT."""
    return "/*+ COALESCE(1) */ " if operator in found.together else ""


def join_hint(operator: o.JoinBags, found: Gathered) -> str:
    """How the rows of two operators, `l` and `r`, meet."""
    few = "r" if operator.right in found.few else "l" if operator.left in found.few else ""
    if {operator.left, operator.right} <= found.together:
        return _together(few if _has_keys(operator) else "")
    return _broadcast(few) if few else ""


def semi_hint(operator: o.SemiBags, found: Gathered) -> str:
    """How the rows of an operator, `l`, are held against those of another one, `r`."""
    few = "r" if operator.right in found.few else ""
    if operator.left in found.together:
        return _together(few if _has_keys(operator) else "")
    return _broadcast(few) if few else ""


def touched_hint(operator: o.Touched, found: Gathered) -> str:
    """How the rows of an operator, `t`, are held against the keys of another one, `b`."""
    few = "b" if operator.by in found.few else ""
    if operator.child in found.together:
        return _together(few if operator.keys else "")
    return _broadcast(few) if few else ""


def _has_keys(operator: o.JoinBags | o.SemiBags) -> bool:
    columns = operator.left.columns, operator.right.columns
    return bool(take_apart(operator.condition, *columns).equalities)


def _together(hashed: str) -> str:
    """Where both are: the result is told to be in one partition too, which a union would not see."""
    way = f", SHUFFLE_HASH({hashed})" if hashed else ""
    return f"/*+ COALESCE(1){way} */ "


def _broadcast(few: str) -> str:
    """The few rows go to where the many are, and what is left of these comes together.

    Only rows that are known to be few are sent or hashed, as both must fit into memory.
    """
    return f"/*+ REPARTITION(1), BROADCAST({few}) */ "
