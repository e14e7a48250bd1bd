"""Aggregation: keys, measures, and a projection where the outputs are more than these."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import is_collated, is_floating
from slacktide.common.node import Node
from slacktide.common.tree import rewrite
from slacktide.spark.reader.constants import literal
from slacktide.spark.reader.context import Reading, Scope, Tree, unreadable
from slacktide.spark.reader.expressions import Expressions, users_call

IGNORE_NULLS = " ignore nulls"
_KNOWN = {"Average": "avg", "Max": "max", "Min": "min", "Sum": "sum"}
_CHOOSING = {"First": "first", "Last": "last"}


def read_aggregate(reader: Expressions, tree: Tree, child: r.Rel, scope: Scope) -> r.Rel:
    """Read an Aggregate over its child."""
    keys: dict[s.Scalar, s.Assignment] = {}
    for item in tree["f"]["groupingExpressions"]:
        value = reader.read(item, scope)
        if value not in keys:
            keys[value] = s.Assignment(_key_column(reader.reading, item, value), value)
    measuring = _Measuring(reader)
    outputs = [(item, measuring.read(item, scope)) for item in tree["f"]["aggregateExpressions"]]
    finished = _finish(reader.reading, outputs, keys)
    names = {item.column.id: item.column for item in finished if _is_identity(item)}
    relation = r.Aggregate(
        child,
        tuple(s.Assignment(names.get(k.column.id, k.column), k.value) for k in keys.values()),
        tuple(
            s.Measure(names.get(m.column.id, m.column), m.call) for m in measuring.found.values()
        ),
    )
    given = [column.id for column in relation.columns]
    if all(_is_identity(item) for item in finished) and given == [i.column.id for i in finished]:
        return relation
    return r.Project(relation, finished)


def _key_column(reading: Reading, tree: Tree, value: s.Scalar) -> s.Column:
    if isinstance(value, s.Reference):
        return s.Column(value.column, tree.get("name", ""), value.type, value.nullable)
    return reading.column("", value.type, nullable=value.nullable)


def _is_identity(item: s.Assignment) -> bool:
    return isinstance(item.value, s.Reference) and item.value.column == item.column.id


def _finish(
    reading: Reading,
    outputs: Sequence[tuple[Tree, s.Scalar]],
    keys: dict[s.Scalar, s.Assignment],
) -> tuple[s.Assignment, ...]:
    """Say the outputs over keys and measures."""
    by_digest = {value.digest: s.reference(key.column) for value, key in keys.items()}

    def to_key(node: Node) -> Node | None:
        return by_digest.get(node.digest)

    used: set[int] = set()
    finished = []
    for tree, value in outputs:
        over = rewrite(value, to_key)
        if isinstance(over, s.Reference) and over.column not in used:
            used.add(over.column)
            column = s.Column(over.column, tree["name"], over.type, over.nullable)
        else:
            column = reading.column_of(tree)
        finished.append(s.Assignment(column, over))
    return tuple(finished)


class _Measuring(Expressions):
    """Reads expressions over aggregates, each of which becomes a column of its own."""

    def __init__(self, reader: Expressions) -> None:
        super().__init__(reader.reading, reader.relation)
        self.found: dict[s.AggregateCall, s.Measure] = {}
        self._plain = reader

    def read(self, tree: Tree, scope: Scope) -> s.Scalar:
        if tree.get("e") != "AggregateExpression":
            return super().read(tree, scope)
        if tree["f"]["aggregateFunction"]["e"] == "PivotFirst":
            return self._pivoted(tree, scope)
        return self._measured(aggregate_call(self._plain, tree, scope))

    def _pivoted(self, tree: Tree, scope: Scope) -> s.Scalar:
        """A PIVOT's array of values, one for each constant: there is a row for it, or none."""
        function, fields = tree["f"]["aggregateFunction"], tree["f"]
        if fields["isDistinct"] or fields["filter"] is not None:
            raise unreadable(function)
        _check_constants(function)
        pivot = self._plain.read(function["f"]["pivotColumn"], scope)
        value = self._plain.read(function["f"]["valueColumn"], scope)
        found = []
        for constant in function["constants"]:
            chosen = s.Call("<=>", (pivot, literal(constant)), "BOOLEAN", nullable=False)
            call = s.AggregateCall("max", (value,), False, chosen, value.type, True)  # noqa: FBT003
            found.append(self._measured(call))
        return s.Call("array", tuple(found), function["t"], function["n"])

    def _measured(self, call: s.AggregateCall) -> s.Reference:
        measure = self.found.get(call)
        if measure is None:
            column = self.reading.column("", call.type, nullable=call.nullable)
            measure = self.found[call] = s.Measure(column, call)
        return s.reference(measure.column)


def _check_constants(function: Tree) -> None:
    """Stop at constants that Spark looks up in another way than by equality in SQL."""
    kind = function["f"]["pivotColumn"]["t"]
    values = [constant["v"] for constant in function["constants"]]
    if is_floating(kind):
        values = [None if value is None else float(value) for value in values]
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        raise unreadable(function, " for NaN")
    if is_collated(kind):
        raise unreadable(function, " with a collation")
    if kind == "BINARY":
        raise unreadable(function, " of bytes")  # Spark looks arrays up, not what they hold
    # The negative zero is equal to the other one.
    images = {json.dumps(v + 0.0 if isinstance(v, float) else v) for v in values}
    if len(images) < len(values):
        raise unreadable(function, " with one constant twice")


def aggregate_call(reader: Expressions, tree: Tree, scope: Scope) -> s.AggregateCall:
    """Read an AggregateExpression."""
    fields = tree["f"]
    if fields["mode"] != "Complete":
        raise unreadable(tree, f" in mode {fields['mode']}")
    function = fields["aggregateFunction"]
    call = _function(reader, function, scope)
    if function["e"] == "Count" and not fields["isDistinct"]:
        call = _rows_counted(call)
    where = fields["filter"]
    return s.AggregateCall(
        call.function,
        call.arguments,
        fields["isDistinct"],
        None if where is None else reader.read(where, scope),
        function["t"],
        function["n"],
    )


def _function(reader: Expressions, tree: Tree, scope: Scope) -> s.Call:
    kind, fields = tree["e"], tree["f"]
    if kind in _CHOOSING:
        name = _CHOOSING[kind] + (IGNORE_NULLS if fields["ignoreNulls"] else "")
        return s.Call(name, (reader.read(fields["child"], scope),), tree["t"], tree["n"])
    if kind == "PythonUDAF":
        return users_call(reader, tree, scope)
    if kind == "Count":
        counted = tuple(reader.read(item, scope) for item in fields["children"])
        return s.Call("count", counted, tree["t"], tree["n"])
    if kind == "HyperLogLogPlusPlus":
        child = reader.read(fields["child"], scope)
        error = s.Literal(f"{fields['relativeSD']}D", "DOUBLE", nullable=False)
        return s.Call("approx_count_distinct", (child, error), tree["t"], tree["n"])
    if kind == "RegrReplacement":  # of regr_sxx and regr_syy, once pairs with a NULL are NULL
        child = reader.read(fields["child"], scope)
        return s.Call("regr_sxx", (child, child), tree["t"], tree["n"])
    within = _WITHIN_GROUP.get(kind)
    if within is not None and (found := within(tree)) is not None:
        name, arguments = found
        return s.Call(
            name, tuple(reader.read(item, scope) for item in arguments), tree["t"], tree["n"]
        )
    known = _KNOWN.get(kind)
    if known is not None:
        return reader.call(tree, scope, known)
    call = reader.call(tree, scope, reader.registered(tree))
    reader.reading.aggregates.add(call)
    return call


def _ordered_mode(tree: Tree) -> tuple[str, Sequence[Tree]] | None:
    fields = tree["f"]
    if fields["reverseOpt"] is None:
        return None
    return "mode least" if fields["reverseOpt"] else "mode greatest", [fields["child"]]


def _ordered_list(tree: Tree) -> tuple[str, Sequence[Tree]] | None:
    """LISTAGG in the order of what it lists: equal texts are the same text."""
    fields = tree["f"]
    if not fields["orderExpressions"]:
        return None
    (first, *more) = fields["orderExpressions"]
    child = fields["child"]
    if more or first["f"]["child"] != child or child["t"] not in {"STRING", "BINARY"}:
        raise unreadable(tree, " in the order of something else")
    return f"listagg {_direction(first)}", [child, fields["delimiter"]]


def _direction(order: Tree) -> str:
    return str(order["f"]["direction"]).lower()


def _discrete(tree: Tree) -> tuple[str, Sequence[Tree]] | None:
    fields = tree["f"]
    if fields["legacyCalculation"]:
        raise unreadable(tree, " as it was calculated in older versions")
    order = "descending" if fields["reverse"] else "ascending"
    return f"percentile_disc {order}", [fields["child"], fields["percentageExpression"]]


def _continuous(tree: Tree) -> tuple[str, Sequence[Tree]] | None:
    fields = tree["f"]
    if not fields["reverse"]:
        return None
    return "percentile_cont descending", [fields["child"], fields["percentageExpression"]]


_WITHIN_GROUP = {
    "ListAgg": _ordered_list,
    "Mode": _ordered_mode,
    "Percentile": _continuous,
    "PercentileDisc": _discrete,
}
"""Aggregates with an order: their names here, and their arguments, the ordered one first."""


def _rows_counted(call: s.Call) -> s.Call:
    """COUNT(1) and its like count rows, as COUNT(*) does; with DISTINCT they count one value."""
    is_constant = all(isinstance(item, s.Literal) and not item.nullable for item in call.arguments)
    return s.Call("count", (), call.type, call.nullable) if is_constant else call
