"""Light steps: those that read so few rows, and make no more of them, that planning them is dearer than running them.

Spark runs such a step in a way of its own (`slacktide.spark.sessions.light`), and what it costs is expected accordingly.
"""

from __future__ import annotations

from typing import Final

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.relation import (
    Aggregate,
    Expand,
    Filter,
    Generate,
    Join,
    Project,
    Range,
    Rel,
)
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.types import is_collated
from slacktide.algebra.user_functions import called_in
from slacktide.common.node import Node
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

MOST_READ: Final = 350_000
"""Rows that a light step reads, where it makes at most `FEW_PARTIALS` partial aggregates of one; else fewer (ADR 5)."""
FEW_PARTIALS: Final = 3
"""The partial aggregates of one sum, being its rows, its values and their sum; each more of them takes an interpreter about what reading the row does."""
MOST_BYTES: Final = 64 * 2**20
"""Bytes of the files in which they are."""


def is_light(operator: Operator, rows: int | None, size: int) -> bool:
    """Whether little is to be done for an operator.

    Args:
        operator: of a program.
        rows: how many it reads; None where that is not known.
        size: of the files in which they are, in bytes.
    """
    return (
        rows is not None
        and rows * (1 + max(_widest(operator) - FEW_PARTIALS, 0)) <= MOST_READ
        and size <= MOST_BYTES
        and not called_in(operator)  # they may be slow, and want all workers
        and not any(
            _multiplies(node) or _may_be_overwritten(node) for node in of_type(operator, Node)
        )
    )


def _widest(operator: Operator) -> int:
    """How many partial aggregates the widest summary makes of a row."""
    return max((len(one.partials) for one in of_type(operator, o.Summarise)), default=0)


def _may_be_overwritten(node: Node) -> bool:
    """Whether a value has a collation: interpreted aggregates keep such a string where Spark writes the next one.

    MIN and MAX then tell bytes of other rows; consolidating keeps a spelling by `any_value`, and would as well.
    """
    return is_collated(getattr(node, "type", ""))


def _multiplies(node: Node) -> bool:
    """Whether many rows may come of few, or the text of a user says what is done with them."""
    match node:
        case o.JoinBags() | o.SemiBags() | Join():
            if _has_few(node.left) or _has_few(node.right):
                return False
            return not _meets_by_keys(node.condition, node.left, node.right)
        case o.Touched():
            return not node.keys
        case _:
            many = o.Batch | o.Flips | o.ExpandBag | o.GenerateBag | Expand | Generate | Range
            return isinstance(node, many)


def _has_few(node: Operator | Rel) -> bool:
    """Whether a relation has a row or two: the value of a scalar subquery, or the change of one."""
    seen: set[Operator | Rel] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if part in seen:
            continue
        seen.add(part)
        match part:
            case o.Map() | o.Select() | o.Negate() | o.Consolidate() | Project() | Filter():
                stack.append(part.child)
            case o.Add():
                stack.extend(part.children)
            case o.Finish() if part.is_global:
                pass
            case Aggregate() if not part.keys:
                pass
            case _:
                return False
    return True


def _meets_by_keys(condition: Scalar | None, left: Operator | Rel, right: Operator | Rel) -> bool:
    return bool(take_apart(condition, left.columns, right.columns).equalities)
