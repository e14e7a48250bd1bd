"""What reading one query shares: its modes, its sources, its ids, and how reading stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from slacktide.algebra.scalar import Call, Column, Reference
from slacktide.common.reasons import Reason

Tree = Mapping[str, Any]
Scope = Mapping[int, Reference]


class UnreadableError(Exception):
    """A node or expression that the reader does not know; becomes a reason, never an error."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.reason = Reason(code, detail)


def unreadable(tree: Tree, about: str = "") -> UnreadableError:
    """Stop at a tree, by its class."""
    if "p" in tree:
        return UnreadableError("UNREADABLE_NODE", f"{tree['p']}{about}")
    return UnreadableError("UNREADABLE_EXPRESSION", f"{tree.get('e', tree.get('?', '?'))}{about}")


@dataclass(frozen=True, slots=True)
class Modes:
    """Settings of the session that Catalyst copies into expressions.

    Attributes:
        ansi: errors instead of NULL on overflow and bad casts.
        zone: the session's time zone.
        precision_loss: decimal results may lose scale to fit 38 digits.
    """

    ansi: bool
    zone: str
    precision_loss: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The state of reading one query.

    Attributes:
        modes: what expressions say when nothing special is meant.
        functions: names of functions by the class of expression that they make.
        sources: names of sources by the number of their placeholder.
        ids: numbers for new columns.
        named: calls spelled by the registry's name alone, which is to be proved.
        aggregates: aggregate functions of that kind.
    """

    modes: Modes
    functions: Mapping[str, tuple[str, ...]]
    sources: Mapping[int, str]
    ids: count[int] = field(default_factory=lambda: count(1))
    named: set[Call] = field(default_factory=set)
    aggregates: set[Call] = field(default_factory=set)

    def column(self, name: str, data_type: str, *, nullable: bool) -> Column:
        """Make a column with a new id."""
        return Column(next(self.ids), name, data_type, nullable)

    def column_of(self, tree: Tree) -> Column:
        """Make a column with a new id from an attribute or an alias."""
        return self.column(tree["name"], tree["t"], nullable=tree["n"])
