"""Which groups a sum overflows in: one query, asked only after a run has failed by that.

Spark names the operation that overflowed and no row. The same relation with ``try_sum`` in the place
of ``sum`` gives NULL for just the groups that overflow; their keys are what a user can act on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.sql import column_name, relation_sql, scalar_sql
from slacktide.algebra.tree import fresh_ids, relations
from slacktide.algebra.types import is_floating
from slacktide.common.node import Node
from slacktide.common.tree import rewrite

MOST_GROUPS: Final = 3
_TRY: Final[Mapping[str, str]] = {"sum": "try_sum", "avg": "try_avg"}
_KEY_LETTERS: Final = 60
_ALL: Final = "all rows"


def overflowing_sql(relation: r.Rel, tables: Mapping[str, str]) -> str | None:
    """Write the query for the groups in which a sum or an average overflows.

    Args:
        relation: of the view.
        tables: for each source, what stands for it after FROM.

    Returns:
        A query of one text per row, the keys of a group, the groups of inner operators first; it
        gives one row more than `MOST_GROUPS` where there are more. None where nothing is summed.
    """
    ids = fresh_ids(relation)
    found = [
        _groups_sql(place, node, ids, tables)
        for place, node in enumerate(relations(_tolerant(relation)))
        if isinstance(node, r.Aggregate | r.Window) and any(_calls(node))
    ]
    if not found:
        return None
    return (
        f"SELECT keys FROM ({' UNION ALL '.join(found)})"
        f" GROUP BY place, keys ORDER BY place, keys LIMIT {MOST_GROUPS + 1}"
    )


def groups_text(keys: Sequence[str]) -> str:
    """Say which groups they are."""
    if list(keys) == [_ALL]:
        return "in the sum over all rows"
    others = " and others" if len(keys) > MOST_GROUPS else ""
    shown = " · ".join(keys[:MOST_GROUPS])
    return f"in the group{'s' if len(keys) > 1 else ''} {shown}{others}"


def _tolerant(relation: r.Rel) -> r.Rel:
    def put(node: Node) -> Node | None:
        if isinstance(node, s.AggregateCall) and _overflows(node):
            function = _TRY[node.function]
            return s.AggregateCall(
                function, node.arguments, node.distinct, node.filter, node.type, nullable=True
            )
        return None

    return rewrite(relation, put)


def _overflows(call: s.AggregateCall) -> bool:
    return call.function in _TRY and not is_floating(call.type)


def _calls(node: r.Aggregate | r.Window) -> Iterator[tuple[s.Column, s.AggregateCall, str]]:
    """The columns of a node that are NULL where a sum overflows, their calls and frames."""
    made = node.measures if isinstance(node, r.Aggregate) else node.functions
    for item in made:
        call = item.call
        if (
            isinstance(call, s.AggregateCall)
            and call.function in _TRY.values()
            and not is_floating(call.type)
        ):
            yield item.column, call, getattr(item, "frame", "")


def _groups_sql(
    place: int, node: r.Aggregate | r.Window, ids: Iterator[int], tables: Mapping[str, str]
) -> str:
    tests, counts = [], []
    for column, call, frame in _calls(node):
        number = s.Column(next(ids), "count", "BIGINT", nullable=False)
        counted = s.AggregateCall(
            "count", call.arguments, call.distinct, call.filter, "BIGINT", nullable=False
        )
        counts.append((number, counted, frame))
        tests.append(f"({column_name(column.id)} IS NULL AND {column_name(number.id)} > 0)")
    wide: r.Rel
    if isinstance(node, r.Aggregate):
        measures = tuple(s.Measure(number, call) for number, call, _ in counts)
        wide = r.Aggregate(node.child, node.keys, (*node.measures, *measures))
        keys = [(key.column.name, column_name(key.column.id)) for key in node.keys]
    else:
        functions = tuple(s.WindowCall(*counted) for counted in counts)
        wide = r.Window(node.child, node.partition, node.order, (*node.functions, *functions))
        names = {column.id: column.name for column in node.child.columns}
        keys = [(_name(key, names), scalar_sql(key)) for key in node.partition]
    return (
        f"SELECT {place} AS place, {_keys_sql(keys)} AS keys FROM ({relation_sql(wide, tables)})"
        f" WHERE {' OR '.join(tests)}"
    )


def _name(key: s.Scalar, names: Mapping[int, str]) -> str:
    return names.get(key.column, "") if isinstance(key, s.Reference) else ""


def _keys_sql(keys: Sequence[tuple[str, str]]) -> str:
    if not keys:
        return f"'{_ALL}'"
    texts = []
    for place, (name, value) in enumerate(keys):
        label = (name or f"key {place + 1}").replace("\\", "\\\\").replace("'", "\\'")
        shown = f"coalesce(left(CAST({value} AS STRING), {_KEY_LETTERS}), 'NULL')"
        texts.append(f"concat('{label} = ', {shown})")
    return f"concat_ws(', ', {', '.join(texts)})"
