"""Relations and scalars as Spark SQL: one text of nested queries.

Spark analyses nested queries about ten times faster than a common table expression per relation, so
only what is used twice, or stands too deep for its parser, gets a name. Columns are named by id (``c12``), so that the two sides of a join never collide. Types need no
help: what Catalyst made explicit in the plan stands in the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.functions import USERS, call_sql
from slacktide.algebra.literals import null_sql
from slacktide.algebra.tree import inputs, own_subqueries, relations
from slacktide.algebra.types import type_sql
from slacktide.common.tree import postorder
from slacktide.errors import InvariantError

_DEEPEST = 40
Namer = Callable[[int], str]
Subqueries = Callable[[s.Subquery], str]
_JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
}


def column_name(column: int) -> str:
    """The name that a column has in SQL texts."""
    return f"c{column}"


def quoted(identifier: str) -> str:
    """Write a name so that SQL takes it as it is."""
    return "`" + identifier.replace("`", "``") + "`"


def _no_subqueries(subquery: s.Subquery) -> str:
    raise InvariantError(f"no table is given for the query {subquery.digest.hex()} inside a scalar")


def scalar_sql(
    scalar: s.Scalar, name: Namer = column_name, subquery: Subqueries = _no_subqueries
) -> str:
    """Write a scalar.

    Args:
        scalar: the expression.
        name: gives the text for a reference to a column, by id.
        subquery: gives the text for a query inside the expression, with its brackets.
    """
    bound: set[int] = set()

    def write(node: s.Scalar) -> str:
        match node:
            case s.Reference():
                named = column_name if node.column in bound else name
                return named(node.column)
            case s.Literal():
                return node.sql
            case s.Call():
                return call_sql(node.function, [write(argument) for argument in node.arguments])
            case s.Cast():
                return f"{node.mode.upper()}({write(node.operand)} AS {type_sql(node.type)})"
            case s.Case():
                whens = "".join(f" WHEN {write(w)} THEN {write(t)}" for w, t in node.branches)
                last = f" ELSE {write(node.otherwise)}" if node.otherwise else ""
                return f"CASE{whens}{last} END"
            case s.Lambda():
                # A parameter is no column of a table, and must not be called one.
                bound.update(column.id for column in node.parameters)
                names = ", ".join(column_name(column.id) for column in node.parameters)
                listed = names if len(node.parameters) == 1 else f"({names})"
                return f"{listed} -> {write(node.body)}"
            case s.Subquery():
                return subquery(node)
            case _:
                assert_never(node)

    return write(scalar)


# By the name that they have here: the function, and the order of its first argument.
_WITHIN_GROUP = MappingProxyType(
    {
        "listagg ascending": ("listagg", ""),
        "listagg descending": ("listagg", " DESC"),
        "mode least": ("mode", ""),
        "mode greatest": ("mode", " DESC"),
        "percentile_cont descending": ("percentile_cont", " DESC"),
        "percentile_disc ascending": ("percentile_disc", ""),
        "percentile_disc descending": ("percentile_disc", " DESC"),
    }
)


def sort_key_sql(key: s.SortKey, value: str) -> str:
    """Give the SQL text of a sort key.

    Args:
        key: says which way, and where NULL is.
        value: the text of what is sorted by.
    """
    way = "ASC" if key.ascending else "DESC"
    return f"{value} {way} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def aggregate_sql(
    call: s.AggregateCall, name: Namer = column_name, subquery: Subqueries = _no_subqueries
) -> str:
    """Write an aggregate function."""
    arguments = [scalar_sql(argument, name, subquery) for argument in call.arguments]
    distinct = "DISTINCT " if call.distinct else ""
    listed = ", ".join(arguments) if arguments or call.function != "count" else "*"
    where = f" FILTER (WHERE {scalar_sql(call.filter, name, subquery)})" if call.filter else ""
    function, nulls = call.function, ""
    if function in _WITHIN_GROUP:
        written, order = _WITHIN_GROUP[function]
        inside = listed if written == "listagg" else ", ".join(arguments[1:])
        order = f"WITHIN GROUP (ORDER BY {arguments[0]}{order})"
        return f"{written}({distinct}{inside}) {order}{where}"
    if function == USERS:
        return f"{call_sql(function, [arguments[0], distinct + ', '.join(arguments[1:])])}{where}"
    if function.endswith(" ignore nulls"):
        function, nulls = function.removesuffix(" ignore nulls"), " IGNORE NULLS"
    return f"{function}({distinct}{listed}){where}{nulls}"


def relation_sql(relation: r.Rel, tables: Mapping[str, str]) -> str:
    """Write a relation as one query whose columns are named by id.

    Args:
        relation: what to compute.
        tables: for each source, what stands for it after FROM.
    """
    writer = _Writer(tables, _uses(relation))
    for node in relations(relation):
        writer.define(node)
    head = f"WITH {', '.join(writer.ctes)}\n" if writer.ctes else ""
    return f"{head}SELECT {_listed(relation.columns)} FROM {writer.names[relation]}"


def _uses(root: r.Rel) -> Counter[bytes]:
    """How often each relation is read; one used by shared text counts as often as the text."""
    return Counter(part.digest for node in postorder(root) for part in node.parts)


def _below(node: r.Rel) -> list[r.Rel]:
    """Relations whose text stands inside this one's, those of scalar subqueries too."""
    return [*inputs(node), *(subquery.query for subquery in own_subqueries(node))]


def _listed(columns: Sequence[s.Column]) -> str:
    return ", ".join(column_name(column.id) for column in columns) or "1 AS nothing"


class _Writer:
    def __init__(self, tables: Mapping[str, str], uses: Mapping[bytes, int]) -> None:
        self.names: dict[r.Rel, str] = {}
        self.ctes: list[str] = []
        self._tables = tables
        self._uses = uses
        self._depths: dict[r.Rel, int] = {}

    def define(self, node: r.Rel) -> None:
        """Make what stands for a relation after FROM: its query in brackets, or a name."""
        depth = 1 + max((self._depths[below] for below in _below(node)), default=0)
        body = self._body(node)
        if self._uses[node.digest] > 1 or depth > _DEEPEST:
            name = f"r{len(self.ctes)}"
            self.ctes.append(f"{name} AS (\n{body}\n)")
            self.names[node], self._depths[node] = name, 0
        else:
            self.names[node], self._depths[node] = f"(\n{body}\n)", depth

    def _body(self, node: r.Rel) -> str:
        match node:
            case r.Scan() | r.Values() | r.Range():
                return self._leaf(node)
            case r.Filter():
                where = self._scalar(node.predicate)
                return f"SELECT {_listed(node.columns)} FROM {self.names[node.child]} WHERE {where}"
            case r.Project():
                outputs = self._assigned(node.outputs) or ["1 AS nothing"]
                return f"SELECT {', '.join(outputs)} FROM {self._filtered(node.child)}"
            case r.Join():
                return self._join(node)
            case r.Aggregate():
                return self._aggregate(node)
            case r.Union():
                return "\nUNION ALL\n".join(self._branch(child, node) for child in node.children)
            case r.Sort():
                keys = self._keys(node.keys)
                return (
                    f"SELECT {_listed(node.columns)} FROM {self.names[node.child]} ORDER BY {keys}"
                )
            case r.Limit():
                return self._limit(node)
            case r.Window():
                return self._window(node)
            case r.Expand():
                return self._expand(node)
            case r.Generate():
                return self._generate(node)
            case _:
                assert_never(node)

    def _filtered(self, child: r.Rel) -> str:
        """What stands after FROM, with the WHERE of a filter that nobody else reads."""
        if isinstance(child, r.Filter) and self._uses[child.digest] == 1:
            return f"{self.names[child.child]} WHERE {self._scalar(child.predicate)}"
        return self.names[child]

    def _scalar(self, scalar: s.Scalar) -> str:
        return scalar_sql(scalar, column_name, self._subquery)

    def _subquery(self, subquery: s.Subquery) -> str:
        query = subquery.query
        return f"(SELECT {column_name(query.columns[0].id)} FROM {self.names[query]})"

    def _assigned(self, outputs: Sequence[s.Assignment]) -> list[str]:
        return [f"{self._scalar(o.value)} AS {column_name(o.column.id)}" for o in outputs]

    def _keys(self, keys: Sequence[s.SortKey]) -> str:
        values = (_not_ordinal(self._scalar(key.value), key.value) for key in keys)
        return ", ".join(map(sort_key_sql, keys, values))

    def _leaf(self, node: r.Scan | r.Values | r.Range) -> str:
        match node:
            case r.Scan():
                names = [f"{quoted(f.name)} AS {column_name(f.id)}" for f in node.fields]
                listed = ", ".join(names) or "1 AS nothing"
                return f"SELECT {listed} FROM {self._tables[node.source]}"
            case r.Range():
                bounds = f"range({node.start}L, {node.end}L, {node.step}L)"
                return f"SELECT id AS {column_name(node.field.id)} FROM {bounds}"
            case r.Values():
                return self._values(node)

    def _values(self, node: r.Values) -> str:
        names = [column_name(column.id) for column in node.fields]
        if not node.fields:
            return " UNION ALL ".join(["SELECT 1 AS nothing"] * len(node.rows)) or (
                "SELECT 1 AS nothing WHERE false"
            )
        if not node.rows:
            nulls = [
                f"{null_sql(column.type)} AS {name}"
                for column, name in zip(node.fields, names, strict=True)
            ]
            return f"SELECT {', '.join(nulls)} WHERE false"
        rows = ", ".join(f"({', '.join(self._scalar(v) for v in row)})" for row in node.rows)
        return f"SELECT * FROM VALUES {rows} AS t({', '.join(names)})"

    def _join(self, node: r.Join) -> str:
        left, right = self.names[node.left], self.names[node.right]
        condition = "true" if node.condition is None else self._scalar(node.condition)
        if node.marker is not None:
            exists = f"EXISTS (SELECT 1 FROM {right} WHERE {condition})"
            outputs = [column_name(column.id) for column in node.left.columns]
            outputs.append(f"{exists} AS {column_name(node.marker.id)}")
            return f"SELECT {', '.join(outputs)} FROM {left}"
        if node.kind == "inner" and node.condition is None:
            return f"SELECT {_listed(node.columns)} FROM {left} CROSS JOIN {right}"
        join = f"{left} {_JOINS[node.kind]} {right} ON {condition}"
        return f"SELECT {_listed(node.columns)} FROM {join}"

    def _aggregate(self, node: r.Aggregate) -> str:
        outputs = self._assigned(node.keys)
        outputs += [
            f"{aggregate_sql(m.call, column_name, self._subquery)} AS {column_name(m.column.id)}"
            for m in node.measures
        ]
        keys = [_not_ordinal(self._scalar(key.value), key.value) for key in node.keys]
        if not outputs:  # one row, whatever comes in
            return f"SELECT count(*) AS nothing FROM {self.names[node.child]}"
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(outputs)} FROM {self.names[node.child]}{group}"

    def _branch(self, child: r.Rel, node: r.Union) -> str:
        outputs = [
            f"{column_name(own.id)} AS {column_name(field.id)}"
            for own, field in zip(child.columns, node.fields, strict=True)
        ]
        return f"SELECT {', '.join(outputs) or '1 AS nothing'} FROM {self.names[child]}"

    def _limit(self, node: r.Limit) -> str:
        text = f"SELECT {_listed(node.columns)} FROM {self.names[node.child]}"
        if isinstance(node.child, r.Sort):
            below = node.child
            text = (
                f"SELECT {_listed(node.columns)} FROM {self.names[below.child]}"
                f" ORDER BY {self._keys(below.keys)}"
            )
        text += "" if node.count is None else f" LIMIT {node.count}"
        return text + (f" OFFSET {node.offset}" if node.offset else "")

    def _window(self, node: r.Window) -> str:
        outputs = [column_name(column.id) for column in node.child.columns]
        partition = ", ".join(self._scalar(value) for value in node.partition)
        parts = [f"PARTITION BY {partition}"] if partition else []
        if node.order:
            parts.append(f"ORDER BY {self._keys(node.order)}")
        for function in node.functions:
            over = " ".join([*parts, function.frame]).strip()
            call = function.call
            if isinstance(call, s.AggregateCall):
                text = aggregate_sql(call, column_name, self._subquery)
            else:
                text = _window_call_sql(call, [self._scalar(a) for a in call.arguments])
            outputs.append(f"{text} OVER ({over}) AS {column_name(function.column.id)}")
        return f"SELECT {', '.join(outputs)} FROM {self.names[node.child]}"

    def _expand(self, node: r.Expand) -> str:
        made = ", ".join(f"e.{column_name(column.id)}" for column in node.fields)
        view = expand_sql(node.projections, node.fields, self._scalar)
        return f"SELECT {made} FROM {self.names[node.child]} {view}"

    def _generate(self, node: r.Generate) -> str:
        view = generate_sql(self._scalar(node.generator), node.fields, outer=node.outer)
        return f"SELECT {_listed(node.columns)} FROM {self.names[node.child]} {view}"


def expand_sql(
    projections: Sequence[Sequence[s.Scalar]],
    fields: Sequence[s.Column],
    write: Callable[[s.Scalar], str],
) -> str:
    """Write what makes a row for every projection, to stand after FROM, as a table ``e``."""
    names = [column_name(column.id) for column in fields]
    structs = []
    for projection in projections:
        values = [
            f"'{name}', {_typed(write(value), value, column)}"
            for name, value, column in zip(names, projection, fields, strict=True)
        ]
        structs.append(f"named_struct({', '.join(values)})")
    return f"LATERAL VIEW inline(array({', '.join(structs)})) e AS {', '.join(names)}"


def generate_sql(generator: str, fields: Sequence[s.Column], *, outer: bool) -> str:
    """Write what makes rows by a generator, to stand after FROM, as a table ``g``."""
    made = ", ".join(column_name(column.id) for column in fields)
    return f"LATERAL VIEW {'OUTER ' if outer else ''}{generator} g AS {made}"


def _typed(text: str, value: s.Scalar, column: s.Column) -> str:
    return text if value.type == column.type else f"CAST({text} AS {type_sql(column.type)})"


def _not_ordinal(text: str, scalar: s.Scalar) -> str:
    """A bare number after GROUP BY or ORDER BY would be a position."""
    return f"CAST({text} AS {type_sql(scalar.type)})" if isinstance(scalar, s.Literal) else text


def _window_call_sql(call: s.Call, arguments: Sequence[str]) -> str:
    if call.function.endswith(" ignore nulls"):
        return f"{call_sql(call.function.removesuffix(' ignore nulls'), arguments)} IGNORE NULLS"
    return call_sql(call.function, arguments)
