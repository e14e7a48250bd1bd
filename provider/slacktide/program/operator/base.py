"""What all operators have: the columns they give, and in which form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from slacktide.algebra.relation import Columns
from slacktide.common.node import Node
from slacktide.errors import InvariantError

MULTIPLICITY = "__m"
INPUTS = ("input0", "input1")
Moment = OneOf["before", "after"]
Additive = OneOf["count", "sum"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operator(Node):
    """Base of all operators.

    Attributes:
        columns: what the operator gives, besides ``__m`` in the bag form; derived.
        is_state: whether it gives the state form; derived.
    """

    columns: Columns = field(init=False)
    is_state: bool = field(init=False)

    def __post_init__(self) -> None:
        Node.__post_init__(self)
        object.__setattr__(self, "columns", self.derive())
        object.__setattr__(self, "is_state", self.derive_form())

    def derive(self) -> Columns:
        """Give the columns of the result."""
        raise InvariantError(f"{type(self).__name__} does not derive its columns")

    def derive_form(self) -> bool:
        """Say whether the result is in the state form."""
        return False
