"""Light steps in one task: few rows are brought into one partition where they are read.

What is in one partition is grouped, joined and added up there without a shuffle, a broadcast or a stage, of
each of which the fixed price is many times that of the rows. What is not few is read by all workers, meets
few rows by broadcast, and is brought together after that.
"""

from __future__ import annotations

from collections.abc import Callable

from slacktide.algebra.equalities import take_apart
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs

IsFew = Callable[[Operator], bool]
_READS = o.ReadBag | o.ReadChanges | o.ReadSaved | o.ReadSegments | o.ReadSnapshot | o.ReadState


def gathered(root: Operator, is_few: IsFew) -> frozenset[Operator]:
    """The operators of a step whose rows are in one partition.

    Args:
        root: of the step.
        is_few: whether a table that an operator reads is small.
    """
    found: set[Operator] = set()
    for operator in of_type(root, Operator):
        if _is_gathered(operator, found, is_few):
            found.add(operator)
    return frozenset(found)


def _is_gathered(operator: Operator, found: set[Operator], is_few: IsFew) -> bool:
    match operator:
        case _ if isinstance(operator, _READS):
            return is_few(operator)
        case o.JoinBags() | o.SemiBags():
            return operator.left in found or operator.right in found
        case o.Touched():
            return operator.child in found or operator.by in found
        case _:
            below = operator_inputs(operator)
            return bool(below) and found.issuperset(below)


def read_hint(operator: Operator, found: frozenset[Operator]) -> str:
    """How a table is read, as a hint behind SELECT."""
    return "/*+ COALESCE(1) */ " if operator in found else ""


def join_hint(operator: o.JoinBags, found: frozenset[Operator]) -> str:
    """How the rows of two operators, `l` and `r`, meet."""
    left, right = operator.left in found, operator.right in found
    if left and right:
        return _together("r", is_hashed=_has_keys(operator))
    return _broadcast("r" if right else "l") if left or right else ""


def semi_hint(operator: o.SemiBags, found: frozenset[Operator]) -> str:
    """How the rows of an operator, `l`, are held against those of another one, `r`."""
    return _held(
        operator.left in found, operator.right in found, "r", is_hashed=_has_keys(operator)
    )


def touched_hint(operator: o.Touched, found: frozenset[Operator]) -> str:
    """How the rows of an operator, `t`, are held against the keys of another one, `b`."""
    is_hashed = bool(operator.keys)
    return _held(operator.child in found, operator.by in found, "b", is_hashed=is_hashed)


def _held(own: bool, other: bool, by: str, *, is_hashed: bool) -> str:  # noqa: FBT001
    if own:
        return _together(by, is_hashed=is_hashed and other)
    return _broadcast(by) if other else ""


def _has_keys(operator: o.JoinBags | o.SemiBags) -> bool:
    columns = operator.left.columns, operator.right.columns
    return bool(take_apart(operator.condition, *columns).equalities)


def _together(by: str, *, is_hashed: bool) -> str:
    """Where both are: the result is told to be in one partition too, which a union would not see."""
    way = f", SHUFFLE_HASH({by})" if is_hashed else ""
    return f"/*+ COALESCE(1){way} */ "


def _broadcast(few: str) -> str:
    """The few rows go to where the many are, and what is left of these comes together."""
    return f"/*+ REPARTITION(1), BROADCAST({few}) */ "
