"""What is known of the multiplicities that an operator gives, without running it."""

from __future__ import annotations

from slacktide.program import operator as o
from slacktide.program.operator import Operator


def is_plain(operator: Operator) -> bool:
    """Whether every multiplicity is one, so that rows need not be consolidated to be counted."""
    match operator:
        case o.Finish() | o.Evaluate() | o.Batch():
            return True
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag() | o.Touched():
            return is_plain(operator.child)
        case o.JoinBags():
            return is_plain(operator.left) and is_plain(operator.right)
        case o.SemiBags():
            return is_plain(operator.left)
        case _:
            return False


def is_rowable(operator: Operator) -> bool:
    """Whether plain rows can be had without consolidating what the operator gives as a bag.

    A snapshot as rows is what its source has; what is linear over rows gives rows.
    """
    match operator:
        case o.ReadSnapshot():
            return True
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag():
            return is_rowable(operator.child)
        case o.JoinBags():
            return is_rowable(operator.left) and is_rowable(operator.right)
        case o.SemiBags():
            return is_rowable(operator.left)
        case o.Add():
            return all(is_rowable(child) for child in operator.children)
        case _:
            return is_plain(operator)


def is_unit(operator: Operator) -> bool:
    """Whether every multiplicity is one or minus one.

    Sources are: a change is one row, and a mirror repeats its rows.
    """
    match operator:
        case o.ReadChanges() | o.ReadSnapshot():
            return True
        case o.Negate():
            return is_unit(operator.child)
        case o.Add():
            return all(is_unit(child) for child in operator.children)
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag():
            return is_unit(operator.child)
        case o.Touched() | o.Flips() | o.ByBalance():
            return is_unit(operator.child)
        case o.JoinBags():
            return is_unit(operator.left) and is_unit(operator.right)
        case o.SemiBags():
            return is_unit(operator.left)
        case _:
            return is_plain(operator)
