"""Functions of users in expressions: calls of `USERS`, of which the first argument is a name."""

from __future__ import annotations

from slacktide.algebra.functions import USERS
from slacktide.algebra.scalar import AggregateCall, Call, Literal, Scalar
from slacktide.common.node import Node
from slacktide.common.tree import of_type
from slacktide.errors import InvariantError


def called_in(root: Node) -> frozenset[str]:
    """The names of the functions of users that expressions call."""
    of_rows = {call.arguments[0] for call in of_type(root, Call) if call.function == USERS}
    calls = of_type(root, AggregateCall)
    return frozenset(map(_said, of_rows | {c.arguments[0] for c in calls if c.function == USERS}))


def _said(name: Scalar) -> str:
    if not isinstance(name, Literal):
        raise InvariantError("a function of a user is called by no name")
    return name.sql.strip("'")
