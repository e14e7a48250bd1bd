"""Scalar expressions over one row, with three-valued logic.

`compile_scalar` turns an expression into a function of a row. What is not needed is not
evaluated: the other branches of CASE, and what stands behind a FALSE in AND.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import (
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
from slacktide.program.reference.casts import cast_value
from slacktide.program.reference.functions import STRICT
from slacktide.program.reference.literals import literal_value
from slacktide.program.reference.ordering import Row, compare, is_same

Evaluated = Callable[[Row], Any]
Answers = Mapping[bytes, Sequence[Row]]
Special = Callable[[Row, Sequence[Evaluated]], Any]


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

    def build(node: Scalar) -> Evaluated:
        match node:
            case Reference():
                return _reference(node, places)
            case Literal():
                value = literal_value(node.sql, node.type)
                return lambda _row: value
            case Call():
                return _call(node, [build(argument) for argument in node.arguments])
            case Cast():
                return _cast(node, build(node.operand))
            case Case():
                branches = [(build(when), build(then)) for when, then in node.branches]
                return _case(branches, build(node.otherwise) if node.otherwise else None)
            case Subquery():
                return _subquery(answers[node.query.digest])
            case Lambda():
                raise InvariantError("the reference does not know lambda")

    return build(scalar)


def _reference(node: Reference, places: Mapping[int, int]) -> Evaluated:
    place = places.get(node.column)
    if place is None:
        raise InvariantError(f"column #{node.column} is not among {sorted(places)}")
    return lambda row: row[place]


def _call(node: Call, arguments: Sequence[Evaluated]) -> Evaluated:
    special = SPECIAL.get(node.function)
    if special is not None:
        return lambda row: special(row, arguments)
    strict = STRICT.get(node.function)
    if strict is None:
        raise InvariantError(f"the reference does not know the function {node.function}")
    data_type = node.type

    def evaluate(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        return None if None in values else strict(data_type, *values)

    return evaluate


def _cast(node: Cast, operand: Evaluated) -> Evaluated:
    target = node.type
    if node.mode == "cast":
        return lambda row: cast_value(operand(row), target)

    def attempt(row: Row) -> Any:
        try:
            return cast_value(operand(row), target)
        except DataError:
            return None

    return attempt


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


def _and(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    unknown = False
    for argument in arguments:
        value = argument(row)
        if value is False:
            return False
        unknown = unknown or value is None
    return None if unknown else True


def _or(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    unknown = False
    for argument in arguments:
        value = argument(row)
        if value is True:
            return True
        unknown = unknown or value is None
    return None if unknown else False


def _in(row: Row, arguments: Sequence[Evaluated]) -> bool | None:
    value, *others = (argument(row) for argument in arguments)
    if value is None:
        return None
    if any(other is not None and compare(value, other) == 0 for other in others):
        return True
    return None if None in others else False


def _coalesce(row: Row, arguments: Sequence[Evaluated]) -> Any:
    for argument in arguments:
        value = argument(row)
        if value is not None:
            return value
    return None


def _if(row: Row, arguments: Sequence[Evaluated]) -> Any:
    condition, then, otherwise = arguments
    return then(row) if condition(row) is True else otherwise(row)


def _extreme(sign: int) -> Special:
    def evaluate(row: Row, arguments: Sequence[Evaluated]) -> Any:
        best: Any = None
        for argument in arguments:
            value = argument(row)
            if value is not None and (best is None or sign * compare(value, best) > 0):
                best = value
        return best

    return evaluate


SPECIAL: Final[Mapping[str, Special]] = {
    "and": _and,
    "or": _or,
    "in": _in,
    "inset": _in,
    "coalesce": _coalesce,
    "if": _if,
    "<=>": lambda row, arguments: is_same(arguments[0](row), arguments[1](row)),
    "isnull": lambda row, arguments: arguments[0](row) is None,
    "isnotnull": lambda row, arguments: arguments[0](row) is not None,
    "greatest": _extreme(1),
    "least": _extreme(-1),
}
