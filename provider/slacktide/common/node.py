"""The one base of everything that is compared by content: plans, expressions, programs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from slacktide.common.digest import digest_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """Immutable; compared and hashed by a digest that is the same in every process.

    A subclass is a dataclass with ``frozen=True, slots=True, eq=False, repr=False``, has a `tag`
    that outlives renames of the class, and may refuse bad fields in `check`.
    """

    tag: ClassVar[str] = ""
    digest: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.check()
        body = tuple(getattr(self, f.name) for f in fields(self) if f.init)
        object.__setattr__(self, "digest", digest_of(self.tag, body))

    def check(self) -> None:
        """Raise InvariantError when the fields do not fit together."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.tag} {self.digest.hex()[:8]}>"
