"""The proof that a relation was read well: written as SQL again, Spark reads the same.

The whole must come out with the types of the query. A call that is spelled by a name of the function
registry alone is written over columns of its arguments' types and read back: name, order of
arguments and every hidden parameter must be the same, or the expression counts as not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from pyspark.errors import PySparkException

from slacktide.algebra.relation import Rel
from slacktide.algebra.scalar import Call, Column, Lambda, Literal, Reference, Scalar
from slacktide.algebra.sql import column_name, quoted, relation_sql, scalar_sql
from slacktide.algebra.tree import sources
from slacktide.common.node import Node
from slacktide.common.tree import rewrite
from slacktide.spark.reader.aggregates import aggregate_call
from slacktide.spark.reader.bridge import quiet
from slacktide.spark.reader.context import Reading, Scope, Tree, UnreadableError
from slacktide.spark.reader.expressions import Expressions
from slacktide.spark.reader.workshop import Workshop

_PROBES = 1_000_000  # ids of probe columns begin above all of a plan
_Read = Callable[[Reading, Tree, Scope], Scalar | None]


def differences(workshop: Workshop, relation: Rel, outputs: tuple[Column, ...]) -> str:
    """Analyse the rebuilt text; tell the first difference, or nothing when there is none."""
    text = relation_sql(relation, {name: quoted(name) for name in sources(relation)})
    bridge = workshop.bridge
    try:
        fields = bridge.facts(_executed(workshop, text).analyzed())["output"]
    except PySparkException as error:
        return str(error).strip().partition("\n")[0]
    for own, field, said in zip(relation.columns, fields, outputs, strict=False):
        if field["t"] != said.type or own.type != said.type:
            return f"{said.name} is {field['t']} instead of {said.type}"
        # Spark itself may know less of NULL in the plan that was read than in the query.
        if field["n"] and not (said.nullable or own.nullable):
            return f"{said.name} may be NULL"
    return ""


def _executed(workshop: Workshop, text: str) -> Any:
    execution = workshop.bridge.execution(workshop.bridge.parse(text))
    with quiet():
        execution.assertAnalyzed()
    return execution


def prove_names(workshop: Workshop, reading: Reading) -> None:
    """Prove the spelling of calls by name.

    Raises:
        UnreadableError: one of them does not read back as it was.
    """
    for calls, reader in (
        (reading.named, _read_scalar),
        (reading.aggregates, _read_aggregate),
    ):
        for call in sorted(calls, key=lambda item: item.digest):
            _prove(workshop, call, reader)


def _prove(workshop: Workshop, call: Call, reader: _Read) -> None:
    columns: list[Column] = []
    shape = Call(
        call.function,
        tuple(_shaped(argument, columns) for argument in call.arguments),
        call.type,
        call.nullable,
    )
    text = f"SELECT {scalar_sql(shape)} AS probe FROM {workshop.probe_table(columns)}"
    try:
        execution = _executed(workshop, text)
        for plan in (execution.optimizedPlan(), execution.analyzed()):
            found = _read_back(workshop, plan, columns, reader)
            if found is not None and _plain(found) == _plain(shape):
                return
    except PySparkException as error:
        reason = str(error).strip().partition("\n")[0]
        raise UnreadableError("UNREADABLE_EXPRESSION", f"{call.function}: {reason}") from error
    raise UnreadableError("UNREADABLE_EXPRESSION", call.function)


def _shaped(argument: Scalar, columns: list[Column]) -> Scalar:
    """An argument as a column of its type; constants and lambdas stay, as functions look at them."""

    def place(data_type: str, *, nullable: bool) -> Reference:
        column = Column(_PROBES + len(columns), "", data_type, nullable)
        columns.append(column)
        return Reference(column.id, data_type, nullable)

    if isinstance(argument, Literal):
        return argument
    if not isinstance(argument, Lambda):
        return place(argument.type, nullable=argument.nullable)
    own = {column.id for column in _parameters(argument)}

    def free(node: Node) -> Node | None:
        if isinstance(node, Reference) and node.column not in own:
            return place(node.type, nullable=node.nullable)
        return None

    return rewrite(argument, free)


def _parameters(scalar: Lambda) -> Iterable[Column]:
    found = list(scalar.parameters)

    def collect(node: Node) -> None:
        if isinstance(node, Lambda):
            found.extend(node.parameters)

    rewrite(scalar, collect)
    return found


def _read_back(
    workshop: Workshop, plan: Any, columns: list[Column], reader: _Read
) -> Scalar | None:
    tree = workshop.bridge.tree(plan)
    by_name = {column_name(column.id): column for column in columns}
    scope: dict[int, Reference] = {}
    for attribute in _attributes(tree):
        column = by_name.get(attribute["name"])
        if column is not None:
            scope[attribute["id"]] = Reference(column.id, column.type, column.nullable)
    try:
        found: Scalar | None = reader(workshop.reading(), tree, scope)
    except UnreadableError:
        return None
    return found


def _attributes(tree: Tree) -> Iterable[Tree]:
    while True:
        yield from tree.get("o", ())
        child = tree.get("f", {}).get("child")
        if not isinstance(child, dict) or "p" not in child:
            return
        tree = child


def _no_relation(_: Tree) -> Rel:
    raise UnreadableError("UNREADABLE_NODE", "a query inside a probe")


def _read_scalar(reading: Reading, tree: Tree, scope: Scope) -> Scalar | None:
    if tree["p"] != "Project":
        return None
    return Expressions(reading, _no_relation).read(tree["f"]["projectList"][0], scope)


def _read_aggregate(reading: Reading, tree: Tree, scope: Scope) -> Scalar | None:
    if tree["p"] != "Aggregate":
        return None
    value = tree["f"]["aggregateExpressions"][0]["f"]["child"]
    if value["e"] != "AggregateExpression":
        return None
    call = aggregate_call(Expressions(reading, _no_relation), value, scope)
    return Call(call.function, call.arguments, call.type, call.nullable)


def _plain(scalar: Scalar) -> Scalar:
    """The same with nothing said of NULL and parameters of lambdas counted anew."""
    numbers: dict[int, int] = {}
    counter = count()

    def plain(node: Node) -> Node | None:
        match node:
            case Column():
                number = numbers.setdefault(node.id, next(counter))
                return Column(number, "", node.type, nullable=True)
            case Reference():
                number = node.column
                if number < _PROBES:
                    number = numbers.setdefault(node.column, next(counter))
                return Reference(number, node.type, nullable=True)
            case Call():
                return Call(node.function, node.arguments, node.type, nullable=True)
            case _:
                return None

    return rewrite(scalar, plain)
