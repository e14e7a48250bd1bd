"""Window functions and their frames."""

from __future__ import annotations

from typing import Any

from slacktide.algebra import scalar as s
from slacktide.algebra.sql import scalar_sql
from slacktide.spark.reader.aggregates import IGNORE_NULLS, aggregate_call
from slacktide.spark.reader.context import Scope, Tree, unreadable
from slacktide.spark.reader.expressions import Expressions

_RANKING = {
    "CumeDist": "cume_dist",
    "DenseRank": "dense_rank",
    "PercentRank": "percent_rank",
    "Rank": "rank",
    "RowNumber": "row_number",
}
_SHIFTING = {"Lag": "lag", "Lead": "lead"}
_FRAMES = {"RowFrame": "ROWS", "RangeFrame": "RANGE"}
_BOUNDS = {
    "CurrentRow": "CURRENT ROW",
    "UnboundedFollowing": "UNBOUNDED FOLLOWING",
    "UnboundedPreceding": "UNBOUNDED PRECEDING",
}


def read_window(reader: Expressions, tree: Tree, scope: Scope) -> s.WindowCall:
    """Read one named window expression."""
    window = tree["f"]["child"]
    if window.get("e") != "WindowExpression":
        raise unreadable(window)
    function = window["f"]["windowFunction"]
    frame = _frame(reader, window["f"]["windowSpec"]["f"]["frameSpecification"], scope)
    column = reader.reading.column_of(tree)
    if function["e"] == "AggregateExpression":
        return s.WindowCall(column, aggregate_call(reader, function, scope), frame)
    call, has_frame = _call(reader, function, scope)
    return s.WindowCall(column, call, frame if has_frame else "")


def _call(reader: Expressions, tree: Tree, scope: Scope) -> tuple[s.Call, bool]:
    """A function that only windows have, and whether its frame is for the query to say."""
    kind, fields = tree["e"], tree["f"]
    if kind in _RANKING:
        return s.Call(_RANKING[kind], (), tree["t"], tree["n"]), False
    if kind == "NTile":
        buckets = reader.read(fields["buckets"], scope)
        return s.Call("ntile", (buckets,), tree["t"], tree["n"]), False
    if kind in _SHIFTING:
        return _shift(reader, tree, scope), False
    if kind == "NthValue":
        name = "nth_value" + (IGNORE_NULLS if fields["ignoreNulls"] else "")
        arguments = (reader.read(fields["input"], scope), reader.read(fields["offset"], scope))
        return s.Call(name, arguments, tree["t"], tree["n"]), True
    raise unreadable(tree)


def _shift(reader: Expressions, tree: Tree, scope: Scope) -> s.Call:
    fields = tree["f"]
    name = _SHIFTING[tree["e"]] + (IGNORE_NULLS if fields["ignoreNulls"] else "")
    offset = fields["inputOffset"] if tree["e"] == "Lag" else fields["offset"]
    arguments = [reader.read(fields["input"], scope), reader.read(offset, scope)]
    if not (fields["default"]["e"] == "Literal" and fields["default"]["v"] is None):
        arguments.append(reader.read(fields["default"], scope))
    return s.Call(name, tuple(arguments), tree["t"], tree["n"])


def _frame(reader: Expressions, tree: Tree, scope: Scope) -> str:
    if tree.get("e") != "SpecifiedWindowFrame":
        raise unreadable(tree)
    fields = tree["f"]
    lower = _bound(reader, fields["lower"], scope)
    upper = _bound(reader, fields["upper"], scope)
    return f"{_FRAMES[fields['frameType']]} BETWEEN {lower} AND {upper}"


def _bound(reader: Expressions, tree: Any, scope: Scope) -> str:
    if isinstance(tree, dict) and tree.get("e") in _BOUNDS:
        return _BOUNDS[tree["e"]]
    if not isinstance(tree, dict):
        raise unreadable({"e": "SpecifiedWindowFrame"})
    if tree.get("e") == "UnaryMinus":
        return f"{scalar_sql(reader.read(tree['f']['child'], scope))} PRECEDING"
    if tree.get("e") == "Literal" and isinstance(tree["v"], int):
        side = "PRECEDING" if tree["v"] < 0 else "FOLLOWING"
        magnitude = {**tree, "v": abs(tree["v"])}
        return f"{scalar_sql(reader.read(magnitude, scope))} {side}"
    return f"{scalar_sql(reader.read(tree, scope))} FOLLOWING"
