"""SQL as a small tree, whose parts can be dropped or replaced while what is left is still SQL.

A part carries its *sort*: what it is to the text around it. A part may be replaced by any part
of the same sort. Whether the smaller text still resolves is Spark's to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

QUERY = "query"
RELATION = "relation"
SIMPLEST = {
    "integer": "1",
    "decimal": "1.50",
    "string": "'a'",
    "boolean": "true",
    "date": "DATE '2026-01-05'",
    "timestamp": "TIMESTAMP '2026-01-05 06:00:00'",
    "double": "0.5D",
    "quotient": "0.5D",
    "inexact": "0.5D",
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """Text without parts; a column may be replaced by a literal."""

    text: str
    sort: str
    is_column: bool = False

    @property
    def children(self) -> tuple[Node, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Form:
    """A text with places for parts.

    Attributes:
        template: has one ``{}`` for each child.
        construct: what of SQL it is, by name; empty for what is not worth a name.
    """

    template: str
    children: tuple[Node, ...]
    sort: str
    construct: str = ""


@dataclass(frozen=True, slots=True)
class Several:
    """A list from which items may be dropped.

    Attributes:
        before: stands before the items, and is nothing where there are none.
        least: how many must stay.
    """

    children: tuple[Node, ...]
    separator: str = ", "
    before: str = ""
    after: str = ""
    least: int = 1
    sort: str = "list"
    construct: str = ""


Node = Leaf | Form | Several


def sql(node: Node) -> str:
    """The text of a tree."""
    match node:
        case Leaf():
            return node.text
        case Form():
            return node.template.format(*map(sql, node.children))
        case Several():
            items = node.separator.join(map(sql, node.children))
            return f"{node.before}{items}{node.after}" if node.children else ""


def walk(node: Node) -> Iterator[Node]:
    """Every part, from the top."""
    yield node
    for child in node.children:
        yield from walk(child)


def constructs(node: Node) -> Counter[str]:
    """How often each named construct occurs."""
    named = (part.construct for part in walk(node) if not isinstance(part, Leaf))
    return Counter(name for name in named if name)


def replaced(node: Node, old: Node, new: Node) -> Node:
    """The tree with another part in the place of one."""
    if node is old:
        return new
    if isinstance(node, Leaf):
        return node
    return replace(node, children=tuple(replaced(child, old, new) for child in node.children))


def smaller(node: Node) -> Iterator[Node]:
    """Trees with one part less, those with the greatest cuts first."""
    yield from _cuts(node)
    if isinstance(node, Leaf):
        return
    for place, child in enumerate(node.children):
        for less in smaller(child):
            children = (*node.children[:place], less, *node.children[place + 1 :])
            yield replace(node, children=children)


def _cuts(node: Node) -> Iterator[Node]:
    if isinstance(node, Several):
        yield from _shorter(node)
        return
    if isinstance(node, Form):
        yield from (part for part in walk(node) if part is not node and part.sort == node.sort)
    simplest = SIMPLEST.get(node.sort)
    is_literal = isinstance(node, Leaf) and not node.is_column
    if simplest is not None and not is_literal:
        yield Leaf(simplest, node.sort)


def _shorter(node: Several) -> Iterator[Node]:
    items = node.children
    if node.least == 0 and items:
        yield replace(node, children=())
    half = len(items) // 2
    if half > max(node.least, 1):
        yield replace(node, children=items[:half])
        yield replace(node, children=items[half:])
    if len(items) > max(node.least, 1):
        for place in range(len(items)):
            yield replace(node, children=items[:place] + items[place + 1 :])
