"""What expressions give of rows that a query leaves out, and of rows of NULLs."""

from __future__ import annotations

from typing import Final

from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import CERTAIN, PREDICATES, exact_type
from slacktide.algebra.types import decimal_of
from slacktide.common.node import Node
from slacktide.common.tree import postorder

_EXACT: Final = frozenset({"+", "-", "*"})
_TOTAL: Final = (PREDICATES - {"like"}) | CERTAIN | {"coalesce", "year", "quarter", "month", "day"}
_HOLDS: Final = {"TINYINT": (3, 0), "SMALLINT": (5, 0), "INT": (10, 0), "BIGINT": (19, 0)}
"""Digits, and those behind the point, that hold every value of a type."""
_HELD: Final = {"TINYINT": (2, 0), "SMALLINT": (4, 0), "INT": (9, 0), "BIGINT": (18, 0)}
"""Digits of which every number is a value of the type."""


def is_total(scalar: s.Scalar) -> bool:
    """Whether no value of its columns makes an expression fail, or overflow to NULL.

    What is not known to be total is not: a function of a user, a cast that may lose digits, arithmetic that
    may overflow, a pattern that may be none.
    """
    return all(map(_fails_never, postorder(scalar)))


def is_strict(scalar: s.Scalar) -> bool:
    """Whether an expression is NULL where all of its columns are. False of one without columns."""
    waiting: list[s.Scalar] = [scalar]
    while waiting:
        match waiting.pop():
            case s.Reference():
                return True
            case s.Cast(operand=operand):
                waiting.append(operand)
            case s.Call(function=function, arguments=arguments) if function in _EXACT:
                waiting += arguments
            case _:
                continue
    return False


def _fails_never(node: Node) -> bool:
    """Whether a part of an expression has a value wherever its own parts have one."""
    match node:
        case s.Reference() | s.Literal() | s.Case():
            return True
        case s.Cast():
            return _widens(node)
        case s.Call(function="like", arguments=(_, s.Literal(sql=pattern))):
            return "\\" not in pattern  # what is escaped may be nothing that is
        case s.Call():
            exact = node.function in _EXACT and exact_type(node.function, node.arguments)
            return exact == node.type or node.function in _TOTAL
        case _:
            return False


def _widens(cast: s.Cast) -> bool:
    """Whether a type of numbers has all values of another."""
    if cast.operand.type == cast.type:
        return True
    given = decimal_of(cast.operand.type) or _HOLDS.get(cast.operand.type)
    wanted = decimal_of(cast.type) or _HELD.get(cast.type)
    if given is None or wanted is None:
        return False
    return given[1] <= wanted[1] and given[0] - given[1] <= wanted[0] - wanted[1]
