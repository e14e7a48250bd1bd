"""Scalar expressions over one row, with three-valued logic.

`compile_scalar` turns an expression into a function of a row. What is not needed is not
evaluated: the other branches of CASE, and what stands behind a FALSE in AND.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slacktide.algebra.nested import fields, is_array, part_types
from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import (
    Assignment,
    Call,
    Case,
    Cast,
    Lambda,
    Literal,
    Reference,
    Scalar,
    Subquery,
)
from slacktide.errors import DataError, InvariantError
from slacktide.program.reference import specials
from slacktide.program.reference.casts import cast_from, cast_value, try_cast_value
from slacktide.program.reference.functions import STRICT
from slacktide.program.reference.lambdas import HIGHER
from slacktide.program.reference.literals import literal_value
from slacktide.program.reference.ordering import Row

Evaluated = specials.Evaluated
Answers = Mapping[bytes, Sequence[Row]]


def compile_scalar(scalar: Scalar, columns: Columns, answers: Answers) -> Evaluated:
    """Make a function of a row of the columns.

    Args:
        scalar: the expression.
        columns: what the row holds, in order.
        answers: rows of the queries that stand inside expressions, by digest.

    Raises:
        InvariantError: the expression uses something that the reference does not know.
    """
    places = {column.id: place for place, column in enumerate(columns)}
    return _Compiler(places, answers, len(columns)).build(scalar)


class _Compiler:
    """Builds functions of one kind of row.

    Args:
        places: where the row holds the columns, by id.
        answers: rows of the queries that stand inside expressions, by digest.
        width: how long the row is.
    """

    def __init__(self, places: Mapping[int, int], answers: Answers, width: int) -> None:
        self.places = places
        self.answers = answers
        self.width = width

    def build(self, node: Scalar) -> Evaluated:
        """Make the function of an expression."""
        match node:
            case Reference():
                return _reference(node, self.places)
            case Literal():
                value = literal_value(node.sql, node.type)
                return lambda _row: value
            case Call():
                return _call(node, [self.build(argument) for argument in node.arguments])
            case Cast():
                return _cast(node, self.build(node.operand))
            case Case():
                branches = [(self.build(when), self.build(then)) for when, then in node.branches]
                return _case(branches, self.build(node.otherwise) if node.otherwise else None)
            case Subquery():
                return _subquery(self.answers[node.query.digest])
            case Lambda():
                return self._lambda(node)

    def _lambda(self, node: Lambda) -> Evaluated:
        """The function of a row that gives the function of the parameters, which stand behind it."""
        count = len(node.parameters)
        own = {column.id: self.width + place for place, column in enumerate(node.parameters)}
        inner = _Compiler({**self.places, **own}, self.answers, self.width + count)
        body = inner.build(node.body)
        return lambda row: lambda *values: body(row + values[:count])


def function_of(scalar: Scalar, columns: Columns) -> Evaluated:
    """A scalar without subqueries, as a function of rows."""
    return compile_scalar(scalar, columns, {})


def outputs_of(outputs: Sequence[Assignment], columns: Columns) -> Callable[[Row], Row]:
    """What is assigned, as a function from rows to rows."""
    functions = [function_of(output.value, columns) for output in outputs]
    return lambda row: tuple(function(row) for function in functions)


def _reference(node: Reference, places: Mapping[int, int]) -> Evaluated:
    place = places.get(node.column)
    if place is None:
        raise InvariantError(f"column #{node.column} is not among {sorted(places)}")
    return lambda row: row[place]


def _call(node: Call, arguments: Sequence[Evaluated]) -> Evaluated:
    special = specials.SPECIAL.get(node.function)
    if special is not None:
        return lambda row: special(row, arguments)
    if node.function == "field":
        return _field(node, arguments[0])
    higher = HIGHER.get(node.function)
    if higher is not None:
        return lambda row: _applied(higher, row, arguments)
    strict = STRICT.get(node.function)
    if strict is None:
        raise InvariantError(f"the reference does not know the function {node.function}")
    data_type = node.type

    def evaluate(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        return None if None in values else strict(data_type, *values)

    return evaluate


def _applied(higher: Callable[..., Any], row: Row, arguments: Sequence[Evaluated]) -> Any:
    array, *others = (argument(row) for argument in arguments)
    return None if array is None else higher(array, *others)


def _field(node: Call, operand: Evaluated) -> Evaluated:
    """A field of a struct, or that field of every element of an array."""
    owner, name = node.arguments
    in_array = is_array(owner.type)
    struct = part_types(owner.type)[0] if in_array else owner.type
    names = [own.lower() for own, _ in fields(struct)]
    if not isinstance(name, Literal):
        raise InvariantError("the name of a field is a constant")
    place = names.index(literal_value(name.sql, name.type).lower())

    def pick(value: Any) -> Any:
        return None if value is None else value[place]

    def evaluate(row: Row) -> Any:
        value = operand(row)
        if in_array:
            return None if value is None else tuple(map(pick, value))
        return pick(value)

    return evaluate


def _cast(node: Cast, operand: Evaluated) -> Evaluated:
    source, target = node.operand.type, node.type
    convert = cast_value if node.mode == "cast" else try_cast_value
    return lambda row: cast_from(source, operand(row), target, convert)


def _case(
    branches: Sequence[tuple[Evaluated, Evaluated]], otherwise: Evaluated | None
) -> Evaluated:
    def evaluate(row: Row) -> Any:
        for condition, value in branches:
            if condition(row) is True:
                return value(row)
        return otherwise(row) if otherwise else None

    return evaluate


def _subquery(rows: Sequence[Row]) -> Evaluated:
    if len(rows) > 1:
        raise DataError("a scalar subquery gives more than one row")
    value = rows[0][0] if rows else None
    return lambda _row: value
