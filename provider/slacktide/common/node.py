"""The one base of everything that is compared by content: plans, expressions, programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from slacktide.common.digest import digest_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """Immutable; compared and hashed by a digest that is the same in every process.

    A subclass is a dataclass with ``frozen=True, slots=True, eq=False, repr=False``, has a `tag`
    that outlives renames of the class, and may refuse bad fields in `check`.

    Attributes:
        digest: of the tag and the fields.
        parts: the nodes in its fields, inside tuples too, in the order of the fields.
    """

    tag: ClassVar[str] = ""
    digest: bytes = field(init=False)
    parts: tuple[Node, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.check()
        values = init_fields(self)
        object.__setattr__(self, "digest", digest_of(self.tag, values))
        object.__setattr__(self, "parts", tuple(_nodes_in(values)))

    def check(self) -> None:
        """Raise InvariantError when the fields do not fit together; digest and parts come after."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.tag} {self.digest.hex()[:8]}>"


def init_fields(node: Node) -> tuple[object, ...]:
    """The values of the fields that make the node, in order; `dataclasses.fields` would be slow."""
    names: tuple[str, ...] = node.__match_args__
    return tuple([getattr(node, name) for name in names])


def _nodes_in(values: tuple[object, ...]) -> list[Node]:
    found: list[Node] = []
    for value in values:
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(_nodes_in(value))
    return found
