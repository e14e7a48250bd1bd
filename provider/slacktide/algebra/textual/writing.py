"""Writing relations and scalars as text, by loops: they may be deeper than Python's stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import aggregate_type, call_type
from slacktide.algebra.textual.vocabulary import (
    DEEPEST,
    INDENT,
    INFIX,
    annotation,
    literal_type,
    quote,
    spell_function,
    spell_name,
    spell_type,
)
from slacktide.algebra.tree import inputs, relations

Piece = str | s.Scalar


def to_text(root: r.Rel) -> str:
    """Write a relation; `from_text` gives it back."""
    shared = _shared(root)
    labels: dict[bytes, int] = {}
    lines: list[str] = []
    stack: list[tuple[r.Rel, int]] = [(root, 0)]
    while stack:
        rel, depth = stack.pop()
        indent = " " * (INDENT * min(depth, DEEPEST))
        if rel.digest in labels:
            lines.append(f"{indent}%{labels[rel.digest]}")
            continue
        label = ""
        if rel.digest in shared:
            labels[rel.digest] = len(labels) + 1
            label = f"%{labels[rel.digest]} = "
        head, queries = head_of(rel)
        lines.append(f"{indent}{label}{head}")
        stack.extend((below, depth + 1) for below in reversed((*inputs(rel), *queries)))
    return "\n".join(lines) + "\n"


def _shared(root: r.Rel) -> frozenset[bytes]:
    """The relations with inputs that are read more than once."""
    reads: Counter[bytes] = Counter()
    for rel in relations(root):
        reads.update(below.digest for below in (*inputs(rel), *head_of(rel)[1]))
    return frozenset(rel.digest for rel in relations(root) if reads[rel.digest] > 1 and inputs(rel))


def head_of(rel: r.Rel) -> tuple[str, tuple[r.Rel, ...]]:
    """Write a relation without its inputs; give the queries of its scalar subqueries too."""
    below = [column for child in inputs(rel) for column in child.columns]
    pen = Pen(below)
    head = _HEADS[type(rel)](rel, pen)
    return head, tuple(pen.queries)


class Pen:
    """Writes what stands in one line.

    Args:
        columns: the columns that references may leave untyped.
    """

    def __init__(self, columns: Iterable[s.Column]) -> None:
        self.queries: list[r.Rel] = []
        self._known = {column.id: (column.type, column.nullable) for column in columns}
        self._columns = {column.id: column for column in columns}

    def scalar(self, root: s.Scalar) -> str:
        """Write an expression."""
        written: list[str] = []
        stack: list[Piece] = [root]
        while stack:
            piece = stack.pop()
            if isinstance(piece, str):
                written.append(piece)
            else:
                stack.extend(reversed(self._pieces(piece)))
        return "".join(written)

    def scalars(self, values: Iterable[s.Scalar]) -> str:
        """Write expressions with commas between them."""
        return ", ".join(self.scalar(value) for value in values)

    def _pieces(self, node: s.Scalar) -> list[Piece]:
        match node:
            case s.Reference():
                known = self._known.get(node.column) == (node.type, node.nullable)
                return [f"#{node.column}", "" if known else _typed(node)]
            case s.Literal():
                if literal_type(node.sql) == (node.type, node.nullable):
                    return [node.sql]
                return [quote(node.sql), _typed(node)]
            case s.Call():
                return _call(node)
            case s.Cast():
                return _cast(node)
            case s.Case():
                return _case(node)
            case s.Lambda():
                columns = ", ".join(spell_column(column) for column in node.parameters)
                return [f"lambda([{columns}], ", node.body, ")", _typed(node)]
            case s.Subquery():
                self.queries.append(node.query)
                return [f"query({len(self.queries)})", _typed(node)]

    def assignment(self, item: s.Assignment) -> str:
        """Write a new column and its value; only the id where a column passes through."""
        column, value = item.column, item.value
        if self._columns.get(column.id) == column and value == s.reference(column):
            return f"#{column.id}"
        same = (column.type, column.nullable) == (value.type, value.nullable)
        typed = "" if same else annotation(column.type, nullable=column.nullable)
        return f"{spell_name(column.name)}#{column.id}{typed} := {self.scalar(value)}"

    def assignments(self, items: Iterable[s.Assignment]) -> str:
        """Write assignments in brackets."""
        return f"[{', '.join(self.assignment(item) for item in items)}]"

    def measure(self, column: s.Column, call: s.AggregateCall) -> str:
        """Write a new column and its aggregate."""
        same = (column.type, column.nullable) == (call.type, call.nullable)
        typed = "" if same else annotation(column.type, nullable=column.nullable)
        return f"{spell_name(column.name)}#{column.id}{typed} := {self.aggregate_call(call)}"

    def aggregate_call(self, call: s.AggregateCall) -> str:
        """Write an aggregate over its arguments."""
        distinct = "distinct " if call.distinct else ""
        where = f" where {self.scalar(call.filter)}" if call.filter else ""
        known = aggregate_type(call.function, call.arguments) == (call.type, call.nullable)
        typed = "" if known else annotation(call.type, nullable=call.nullable)
        name = spell_function(call.function)
        return f"{name}({distinct}{self.scalars(call.arguments)}{where}){typed}"

    def sort_keys(self, keys: Iterable[s.SortKey]) -> str:
        """Write an order in brackets."""
        written = [
            f"{self.scalar(key.value)} {'asc' if key.ascending else 'desc'}"
            f" nulls {'first' if key.nulls_first else 'last'}"
            for key in keys
        ]
        return f"[{', '.join(written)}]"

    def window_call(self, item: s.WindowCall) -> str:
        """Write a new column, its window function and its frame."""
        column = spell_column(item.column)
        if isinstance(item.call, s.AggregateCall):
            call = f"aggregate {self.aggregate_call(item.call)}"
        else:
            call = self.scalar(item.call)
        return f"{column} := {call} over {quote(item.frame)}"


def spell_column(column: s.Column) -> str:
    """Write the definition of a column."""
    typed = annotation(column.type, nullable=column.nullable)
    return f"{spell_name(column.name)}#{column.id}{typed}"


def spell_columns(columns: Iterable[s.Column]) -> str:
    """Write definitions of columns in brackets."""
    return f"[{', '.join(spell_column(column) for column in columns)}]"


def _typed(node: s.Scalar) -> str:
    return annotation(node.type, nullable=node.nullable)


def _separated(values: Iterable[s.Scalar], separator: str) -> list[Piece]:
    pieces: list[Piece] = []
    for value in values:
        if pieces:
            pieces.append(separator)
        pieces.append(value)
    return pieces


def _call(node: s.Call) -> list[Piece]:
    known = call_type(node.function, node.arguments) == (node.type, node.nullable)
    if node.function in INFIX and len(node.arguments) > 1:
        head, separator = "(", f" {node.function} "
    else:
        head, separator = f"{spell_function(node.function)}(", ", "
    typed = "" if known else _typed(node)
    return [head, *_separated(node.arguments, separator), ")", typed]


def _cast(node: s.Cast) -> list[Piece]:
    usual = node.operand.nullable or node.mode == "try_cast"
    mark = "" if node.nullable == usual else "?" if node.nullable else "!"
    return [f"{node.mode}(", node.operand, f" as {spell_type(node.type)})", mark]


def _case(node: s.Case) -> list[Piece]:
    pieces: list[Piece] = ["case("]
    for condition, value in node.branches:
        pieces += ["when ", condition, " then ", value, " "]
    if node.otherwise is not None:
        pieces += ["else ", node.otherwise, " "]
    pieces[-1] = ")"
    return [*pieces, _typed(node)]


def _rows(rows: Iterable[tuple[s.Scalar, ...]], pen: Pen) -> str:
    return "".join(f" [{pen.scalars(row)}]" for row in rows)


def _join(rel: r.Join, pen: Pen) -> str:
    marker = f" {spell_column(rel.marker)}" if rel.marker else ""
    condition = f" on {pen.scalar(rel.condition)}" if rel.condition else ""
    return f"join {rel.kind}{marker}{condition}"


def _aggregate(rel: r.Aggregate, pen: Pen) -> str:
    measures = ", ".join(pen.measure(item.column, item.call) for item in rel.measures)
    return f"aggregate key={pen.assignments(rel.keys)} [{measures}]"


def _limit(rel: r.Limit, _: Pen) -> str:
    return f"limit {'all' if rel.count is None else rel.count} offset {rel.offset}"


def _window(rel: r.Window, pen: Pen) -> str:
    partition, order = pen.scalars(rel.partition), pen.sort_keys(rel.order)
    functions = ", ".join(pen.window_call(item) for item in rel.functions)
    return f"window key=[{partition}] order={order} [{functions}]"


def _generate(rel: r.Generate, pen: Pen) -> str:
    outer = "outer " if rel.outer else ""
    kept, fields = pen.scalars(rel.kept), spell_columns(rel.fields)
    return f"generate {outer}{pen.scalar(rel.generator)} keep=[{kept}] {fields}"


_HEADS: Final[Mapping[type[r.Relation], Callable[[Any, Pen], str]]] = {
    r.Scan: lambda rel, _: f"scan {spell_name(rel.source)} {spell_columns(rel.fields)}",
    r.Values: lambda rel, pen: f"values {spell_columns(rel.fields)}{_rows(rel.rows, pen)}",
    r.Range: lambda rel, _: f"range {rel.start} {rel.end} {rel.step} {spell_column(rel.field)}",
    r.Filter: lambda rel, pen: f"filter {pen.scalar(rel.predicate)}",
    r.Project: lambda rel, pen: f"project {pen.assignments(rel.outputs)}",
    r.Join: _join,
    r.Aggregate: _aggregate,
    r.Union: lambda rel, _: f"union {len(rel.children)} {spell_columns(rel.fields)}",
    r.Sort: lambda rel, pen: f"sort {pen.sort_keys(rel.keys)}",
    r.Limit: _limit,
    r.Window: _window,
    r.Expand: lambda rel, pen: f"expand {spell_columns(rel.fields)}{_rows(rel.projections, pen)}",
    r.Generate: _generate,
}
