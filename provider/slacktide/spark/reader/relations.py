"""Nodes of a plan as relations; columns come out in Catalyst's order, each with an id of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from slacktide.algebra import nested
from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.order import takes_as_they_come
from slacktide.algebra.tree import row_source
from slacktide.spark.reader.aggregates import read_aggregate
from slacktide.spark.reader.constants import literal
from slacktide.spark.reader.context import Reading, Scope, Tree, UnreadableError, unreadable
from slacktide.spark.reader.expressions import Expressions
from slacktide.spark.reader.windows import read_window

# Nodes that place rows, name columns or hint, and change no answer.
STRIPPED = frozenset(
    {
        "LocalLimit",
        "RebalancePartitions",
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
        "ReturnAnswer",
        "SubqueryAlias",
        "View",
    }
)
_IN_ORDER = frozenset(
    {
        "ArrowEvalPython",
        "BatchEvalPython",
        "Expand",
        "Filter",
        "Generate",
        "GlobalLimit",
        "Offset",
        "Project",
        "Window",
    }
)
"""Nodes that pass rows on as they come, or nearly: a window sorts them by keys of its own first."""
_JOINS: Mapping[str, r.JoinKind] = {
    "Inner": "inner",
    "Cross": "inner",
    "LeftOuter": "left",
    "RightOuter": "right",
    "FullOuter": "full",
    "LeftSemi": "semi",
    "LeftAnti": "anti",
}


_GENERATORS: Mapping[str, str] = {
    "Explode": "explode",
    "Inline": "inline",
    "JsonTuple": "json_tuple",
    "PosExplode": "posexplode",
    "Stack": "stack",
}


class Relations:
    """Reads plan nodes; `scope` of a relation gives its columns by Catalyst's ids."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.expressions = Expressions(reading, self.read)

    def read(self, tree: Tree) -> r.Rel:
        """Read a node and all below it.

        Raises:
            UnreadableError: a node or expression is not known.
        """
        kind = tree["p"]
        if kind in STRIPPED:
            return self.read(tree["f"]["child"])
        rule = RULES.get(kind)
        if rule is None:
            raise unreadable(tree)
        return rule(self, tree)

    def scope(self, tree: Tree, relation: r.Rel) -> Scope:
        """Catalyst's ids of a node's output as references to the relation's columns.

        Where Catalyst gives one column twice, both places hold the same value.
        """
        scope: dict[int, s.Reference] = {}
        for attribute, column in zip(tree["o"], relation.columns, strict=False):
            if attribute["t"] != column.type:
                raise UnreadableError("UNREADABLE_NODE", f"{tree['p']} with {column.name}")
            scope.setdefault(attribute["id"], s.Reference(column.id, column.type, attribute["n"]))
        return scope

    def child(self, tree: Tree) -> tuple[r.Rel, Scope]:
        """The relation below a node, and its scope."""
        below = tree["f"]["child"]
        relation = self.read(below)
        return relation, self.scope(below, relation)

    def assignments(self, trees: list[Tree], scope: Scope) -> tuple[s.Assignment, ...]:
        """Named expressions as assignments; a column passed through keeps its id, once."""
        passed: set[int] = set()
        outputs = []
        for tree in trees:
            value = self.expressions.read(tree, scope)
            is_passed = tree["e"] == "AttributeReference" and isinstance(value, s.Reference)
            if is_passed and isinstance(value, s.Reference) and value.column not in passed:
                passed.add(value.column)
                column = s.Column(value.column, tree["name"], value.type, value.nullable)
            else:
                column = self.reading.column_of(tree)
            outputs.append(s.Assignment(column, value))
        return tuple(outputs)


def _refuse_local_order(tree: Tree) -> None:
    """Refuse an operator that takes rows as they come, where that is the order of a SORT BY.

    Elsewhere it changes no answer, and is not read.
    """
    if _is_sorted_by(tree["f"]["child"]):
        above = f"{tree['p'].lower()} that goes by the SORT BY of a query below it"
        raise UnreadableError("OPERATOR_NOT_INCREMENTAL", above)


def _is_sorted_by(below: Tree) -> bool:
    """Whether rows come in the order of a SORT BY, in one branch of a union at least."""
    while below["p"] in STRIPPED | _IN_ORDER:
        below = below["f"]["child"]
    if below["p"] == "Union":
        return any(map(_is_sorted_by, below["f"]["children"]))
    return below["p"] == "Sort" and not below["f"]["global"]


def _rdd(reader: Relations, tree: Tree) -> r.Rel:
    source = reader.reading.sources.get(tree["f"]["rdd"]["rdd"])
    if source is None or tree["f"]["isStreaming"]:
        raise unreadable(tree)
    return r.Scan(source, tuple(reader.reading.column_of(field) for field in tree["o"]))


def _one_row(_: Relations, __: Tree) -> r.Rel:
    return r.Values((), ((),))


def _local(reader: Relations, tree: Tree) -> r.Rel:
    fields = tuple(reader.reading.column_of(field) for field in tree["o"])
    if not tree["rows"]:
        # SQL has no way to say of a constant that is nowhere that it is not NULL.
        fields = tuple(replace(field, nullable=True) for field in fields)
    rows = tuple(tuple(literal(value) for value in row) for row in tree["rows"])
    return r.Values(fields, rows)


def _range(reader: Relations, tree: Tree) -> r.Rel:
    fields = tree["f"]
    column = reader.reading.column_of(tree["o"][0])
    return r.Range(fields["start"], fields["end"], fields["step"], column)


def _filter(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    return r.Filter(child, reader.expressions.read(tree["f"]["condition"], scope))


def _project(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    return r.Project(child, reader.assignments(tree["f"]["projectList"], scope))


def _called(reader: Relations, tree: Tree) -> r.Rel:
    """Functions of users, which Spark calls beside its own plan and adds to the rows as columns."""
    child, scope = reader.child(tree)
    made = tuple(
        s.Assignment(reader.reading.column_of(field), reader.expressions.read(call, scope))
        for field, call in zip(tree["f"]["resultAttrs"], tree["f"]["udfs"], strict=True)
    )
    return r.Project(child, (*map(s.identity, child.columns), *made))


def _join(reader: Relations, tree: Tree) -> r.Rel:
    fields = tree["f"]
    left, right = reader.read(fields["left"]), reader.read(fields["right"])
    scope = {**reader.scope(fields["left"], left), **reader.scope(fields["right"], right)}
    condition = fields["condition"]
    predicate = None if condition is None else reader.expressions.read(condition, scope)
    kind = fields["joinType"]
    if isinstance(kind, dict) and kind.get("k") == "ExistenceJoin":
        marker = reader.reading.column_of(kind["f"]["exists"])
        return r.Join(left, right, "existence", predicate, marker)
    if kind not in _JOINS:
        raise unreadable(tree, f" {kind}")
    return r.Join(left, right, _JOINS[kind], predicate)


def _aggregate(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    found = read_aggregate(reader.expressions, tree, child, scope)
    relation = row_source(found)
    if isinstance(relation, r.Aggregate) and takes_as_they_come(relation):
        _refuse_local_order(tree)
    return found


def _union(reader: Relations, tree: Tree) -> r.Rel:
    if tree["f"]["byName"]:
        raise unreadable(tree, " by name")
    fields = tuple(reader.reading.column_of(field) for field in tree["o"])
    branches = (reader.read(child) for child in tree["f"]["children"])
    return r.Union(tuple(_named_as(reader.reading, fields, one) for one in branches), fields)


def _named_as(reading: Reading, fields: r.Columns, branch: r.Rel) -> r.Rel:
    """A branch whose structs name their fields as the union does: that goes by position, and what reads files by name."""
    outputs = []
    for column, field in zip(branch.columns, fields, strict=True):
        output = s.identity(column)
        if not nested.are_alike(column.type, field.type):
            named = reading.column(column.name, field.type, nullable=column.nullable)
            output = s.Assignment(named, s.Cast(output.value, field.type, column.nullable))
        outputs.append(output)
    is_as_it_is = all(
        one.column.id == own.id for one, own in zip(outputs, branch.columns, strict=True)
    )
    return branch if is_as_it_is else r.Project(branch, tuple(outputs))


def sort_keys(reader: Expressions, trees: list[Tree], scope: Scope) -> tuple[s.SortKey, ...]:
    """Sort orders as keys."""
    keys = []
    for tree in trees:
        if tree.get("e") != "SortOrder":
            raise unreadable(tree)
        fields = tree["f"]
        value = reader.read(fields["child"], scope)
        is_up, is_first = fields["direction"] == "Ascending", fields["nullOrdering"] == "NullsFirst"
        keys.append(s.SortKey(value, is_up, is_first))
    return tuple(keys)


def _sort(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    if not tree["f"]["global"]:
        return child
    return r.Sort(child, sort_keys(reader.expressions, tree["f"]["order"], scope))


def _limit(reader: Relations, tree: Tree) -> r.Rel:
    return limited(tree, reader.read(tree["f"]["child"]))


def limited(tree: Tree, child: r.Rel) -> r.Rel:
    """Put a limit or an offset over what it stands over."""
    if tree["p"] == "Offset":
        return r.Limit(child, None, _number(tree, tree["f"]["offsetExpr"]))
    return r.Limit(child, _number(tree, tree["f"]["limitExpr"]))


def _number(tree: Tree, value: Tree) -> int:
    if value.get("e") != "Literal" or not isinstance(value["v"], int):
        raise unreadable(tree, " of an expression")
    return int(value["v"])


def _expand(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    projections = tuple(
        tuple(reader.expressions.read(value, scope) for value in projection)
        for projection in tree["f"]["projections"]
    )
    return r.Expand(child, projections, tuple(reader.reading.column_of(f) for f in tree["o"]))


def _generate(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    fields = tree["f"]
    if fields["generator"]["e"] == "ReplicateRows":
        return _replicate(reader, tree, child, scope)
    name = _GENERATORS.get(fields["generator"]["e"])
    if name is None:
        raise unreadable(fields["generator"])
    generator = reader.expressions.call(fields["generator"], scope, name)
    unrequired = set(fields["unrequiredChildIndex"])
    kept = tuple(
        s.reference(column) for place, column in enumerate(child.columns) if place not in unrequired
    )
    made = tuple(reader.reading.column_of(field) for field in fields["generatorOutput"])
    if fields["outer"]:  # a row that makes none has NULL there, which the generator does not say
        made = r.optional(made)
    return r.Generate(child, generator, fields["outer"], kept, made)


def _replicate(reader: Relations, tree: Tree, child: r.Rel, scope: Scope) -> r.Rel:
    """EXCEPT ALL and INTERSECT ALL repeat a row as often as its count says."""
    fields = tree["f"]
    count, *values = (
        reader.expressions.read(item, scope) for item in fields["generator"]["f"]["children"]
    )
    one = s.Literal("1L", "BIGINT", nullable=False)
    numbers = s.Call("sequence", (one, count), "ARRAY<BIGINT>", count.nullable)
    generator = s.Call("explode", (numbers,), "ARRAY<STRUCT<col: BIGINT>>", nullable=False)
    number = reader.reading.column("", "BIGINT", nullable=False)
    kept = tuple(s.reference(column) for column in child.columns)
    repeated = r.Generate(child, generator, outer=False, kept=kept, fields=(number,))
    unrequired = set(fields["unrequiredChildIndex"])
    outputs = [
        s.identity(column) for place, column in enumerate(child.columns) if place not in unrequired
    ]
    outputs += [
        s.Assignment(reader.reading.column_of(field), value)
        for field, value in zip(fields["generatorOutput"], values, strict=True)
    ]
    return r.Project(repeated, tuple(outputs))


def _window(reader: Relations, tree: Tree) -> r.Rel:
    child, scope = reader.child(tree)
    fields = tree["f"]
    partition = tuple(reader.expressions.read(item, scope) for item in fields["partitionSpec"])
    order = sort_keys(reader.expressions, fields["orderSpec"], scope)
    calls: list[Any] = fields["windowExpressions"]
    functions = tuple(read_window(reader.expressions, item, scope) for item in calls)
    found = r.Window(child, partition, order, functions)
    if takes_as_they_come(found):
        _refuse_local_order(tree)
    return found


RULES: Mapping[str, Callable[[Relations, Tree], r.Rel]] = {
    "Aggregate": _aggregate,
    "ArrowEvalPython": _called,
    "BatchEvalPython": _called,
    "Expand": _expand,
    "Filter": _filter,
    "Generate": _generate,
    "GlobalLimit": _limit,
    "Join": _join,
    "LocalRelation": _local,
    "LogicalRDD": _rdd,
    "Offset": _limit,
    "OneRowRelation": _one_row,
    "Project": _project,
    "Range": _range,
    "Sort": _sort,
    "Union": _union,
    "Window": _window,
}
