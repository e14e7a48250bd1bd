"""Traversal of nodes, written once, as loops: plans may be deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar, cast

from slacktide.common.node import Node, init_fields

N = TypeVar("N", bound=Node)


def with_parts(node: N, replace: Callable[[Node], Node]) -> N:
    """The same node over replaced parts; itself when no part changed."""
    if all(replace(part) is part for part in node.parts):
        return node
    return type(node)(*(_map(value, replace) for value in init_fields(node)))


def _map(value: object, replace: Callable[[Node], Node]) -> object:
    if isinstance(value, Node):
        return replace(value)
    if isinstance(value, tuple):
        return tuple(_map(item, replace) for item in value)
    return value


def postorder(*roots: Node) -> Iterator[Node]:
    """Every distinct node once, parts first."""
    seen: set[bytes] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if node.digest in seen:
            continue
        if expanded:
            seen.add(node.digest)
            yield node
        else:
            stack.append((node, True))
            stack.extend([(part, False) for part in reversed(node.parts)])


def of_type(root: Node, kind: type[N] | tuple[type[N], ...]) -> Iterator[N]:
    """Every distinct node of a class, parts first."""
    for node in postorder(root):
        if isinstance(node, kind):
            yield node


def rewrite(root: N, rule: Callable[[Node], Node | None]) -> N:
    """Apply a rule to every distinct node once, parts first; None from the rule keeps the node."""
    done: dict[bytes, Node] = {}
    for node in postorder(root):
        moved = with_parts(node, lambda part: done[part.digest])
        replaced = rule(moved)
        done[node.digest] = moved if replaced is None else replaced
    return cast("N", done[root.digest])


def graft(root: N, replacements: Mapping[bytes, Node]) -> N:
    """Put nodes in the place of those with the given digests, without looking inside these."""
    done: dict[bytes, Node] = dict(replacements)
    stack = [(cast("Node", root), False)]
    while stack:
        node, expanded = stack.pop()
        if node.digest in done:
            continue
        if expanded:
            done[node.digest] = with_parts(node, lambda part: done[part.digest])
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in node.parts)
    return cast("N", done[root.digest])
