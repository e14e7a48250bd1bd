"""What is known to be empty at an instant: the time-specific part of the search (tempura.md §3.5, step 3).

A table has no changes in an interval; what reads only that is empty too. Empty groups get the
expression that gives no rows, which nothing is cheaper than. Not before a sample has been copied: what is
empty between two instants need not be between others.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.memo.hole import ChangesBetween, Hole
from slacktide.optimizer.memo.memo import Memo
from slacktide.program import operator as o
from slacktide.program.operator import Operator

Quiet = frozenset[tuple[str, int]]


def empty_groups(memo: Memo, quiet: Quiet) -> frozenset[int]:
    """The groups that have no rows.

    Args:
        memo: the plan space.
        quiet: tables without changes up to an instant from the one before.
    """
    found: set[int] = set()
    is_new = True
    while is_new:
        is_new = False
        for group in memo.groups:
            expressions = () if group in found else memo.groups.expressions(group)
            if any(_is_empty(flat, found, quiet) for flat in expressions):
                found.add(group)
                is_new = True
    return frozenset(found)


def prune_empty(memo: Memo, quiet: Quiet) -> None:
    """Give empty groups the expression that gives no rows."""
    for group in sorted(empty_groups(memo, quiet)):
        hole = memo.groups.hole(group)
        if not hole.is_state:
            memo.groups.intern(o.Evaluate(r.Values(hole.columns, ()), ()), group)


def _is_empty(flat: Operator, empty: set[int], quiet: Quiet) -> bool:
    def of(part: Operator) -> bool:
        return isinstance(part, Hole) and part.group in empty

    match flat:
        case ChangesBetween():
            steps = range(flat.start + 1, flat.end + 1)
            return all((flat.source, step) in quiet for step in steps)
        case o.Evaluate():
            return isinstance(flat.query, r.Values) and not flat.query.rows
        case o.JoinBags():
            return of(flat.left) or of(flat.right)
        case o.SemiBags():
            return of(flat.left) or (not flat.negated and of(flat.right))
        case o.Touched():
            return of(flat.child) or of(flat.by)
        case o.Add():
            return all(map(of, flat.children))
        case _:
            return isinstance(flat, _ROW_BY_ROW) and of(flat.child)


_ROW_BY_ROW = (
    o.Select
    | o.Map
    | o.Flips
    | o.ExpandBag
    | o.GenerateBag
    | o.Negate
    | o.Consolidate
    | o.Summarise
    | o.Regroup
)
