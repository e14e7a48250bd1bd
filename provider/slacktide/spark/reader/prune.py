"""Scans without the columns that nobody uses."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Reference
from slacktide.common.node import Node
from slacktide.common.tree import postorder, rewrite


def prune_scans(root: r.Rel) -> r.Rel:
    """Drop fields of scans to which nothing refers; Catalyst keeps them in its leaves.

    Branches of a union and the query's own columns are used by position.
    """
    used = {column.id for column in root.columns}
    for node in postorder(root):
        if isinstance(node, Reference):
            used.add(node.column)
        elif isinstance(node, r.Union):
            used |= {column.id for child in node.children for column in child.columns}

    def prune(node: Node) -> Node | None:
        if not isinstance(node, r.Scan):
            return None
        fields = tuple(field for field in node.fields if field.id in used)
        return None if len(fields) == len(node.fields) else r.Scan(node.source, fields)

    return rewrite(root, prune)
