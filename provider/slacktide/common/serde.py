"""Nodes as JSON: tagged, versioned, each distinct node once.

A document is ``{"format": 1, "nodes": [[tag, field, …], …], "roots": [index, …]}``. A field is a
JSON value, a list for a tuple, or ``{"n": index}`` for a node that stands earlier in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slacktide.common.node import Node, init_fields
from slacktide.common.tree import postorder
from slacktide.errors import InvariantError, NewerFormatError

FORMAT = 1


def dump(*roots: Node) -> dict[str, object]:
    """Write nodes as a JSON document; shared parts are written once."""
    index: dict[bytes, int] = {}
    table: list[object] = []
    for node in postorder(*roots):
        index[node.digest] = len(table)
        table.append([node.tag, *(_encode(value, index) for value in init_fields(node))])
    return {"format": FORMAT, "nodes": table, "roots": [index[root.digest] for root in roots]}


def _encode(value: object, index: Mapping[bytes, int]) -> object:
    if isinstance(value, Node):
        return {"n": index[value.digest]}
    if isinstance(value, tuple):
        return [_encode(item, index) for item in value]
    return value


def load(document: Mapping[str, object], classes: Iterable[type[Node]]) -> tuple[Node, ...]:
    """Read nodes back.

    Raises:
        NewerFormatError: the format or a tag is unknown to this version.
    """
    if document.get("format") != FORMAT:
        raise NewerFormatError(
            f"a plan has format {document.get('format')!r}, this version reads {FORMAT}",
            hint="upgrade Slacktide to the version that wrote it",
        )
    by_tag = {kind.tag: kind for kind in classes}
    table: list[Node] = []
    for row in _rows(document, "nodes"):
        if not isinstance(row, list) or row[0] not in by_tag:
            raise NewerFormatError(
                f"a plan holds the unknown node {row[0] if isinstance(row, list) else row!r}",
                hint="upgrade Slacktide to the version that wrote it",
            )
        table.append(by_tag[row[0]](*(_decode(value, table) for value in row[1:])))
    return tuple(table[_index(root)] for root in _rows(document, "roots"))


def _rows(document: Mapping[str, object], key: str) -> Sequence[object]:
    rows = document.get(key)
    if not isinstance(rows, list):
        raise InvariantError(f"a plan document has no list {key!r}")
    return rows


def _index(value: object) -> int:
    if not isinstance(value, int):
        raise InvariantError(f"a plan document refers to {value!r}")
    return value


def _decode(value: object, table: Sequence[Node]) -> object:
    if isinstance(value, list):
        return tuple(_decode(item, table) for item in value)
    if isinstance(value, dict):
        return table[_index(value["n"])]
    return value
