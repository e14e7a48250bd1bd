"""Generators: the rows that one row is made into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from slacktide.algebra.relation import Generate
from slacktide.errors import InvariantError
from slacktide.program.reference.ordering import Row
from slacktide.program.reference.scalars import Evaluated

Generator = Callable[[int, Row], Iterable[Row]]


def generated(rel: Generate, arguments: Iterable[Evaluated], rows: Iterable[Row]) -> list[Row]:
    """Give each row's kept values with what the generator makes of it.

    Args:
        rel: says the generator, what is kept, and whether a row that gives nothing stays.
        arguments: the generator's arguments.
        rows: those of the child.

    Raises:
        InvariantError: the reference does not know the generator.
    """
    generator = GENERATORS.get(rel.generator.function)
    if generator is None:
        raise InvariantError(f"the reference does not know generate {rel.generator.function}")
    places = {column.id: place for place, column in enumerate(rel.child.columns)}
    kept = [places[reference.column] for reference in rel.kept]
    functions = list(arguments)
    width = len(rel.fields)
    nothing = [(None,) * width] if rel.outer else []
    found: list[Row] = []
    for row in rows:
        made = list(generator(width, tuple(function(row) for function in functions)))
        head = tuple(row[place] for place in kept)
        found.extend(head + values for values in made or nothing)
    return found


def _items(value: Any) -> Iterable[Row]:
    """Elements as rows of one column, entries of a map as rows of two."""
    if isinstance(value, dict):
        return value.items()
    return ((item,) for item in value or ())


def _explode(_: int, arguments: Row) -> Iterable[Row]:
    return _items(arguments[0])


def _posexplode(_: int, arguments: Row) -> Iterable[Row]:
    return ((place, *item) for place, item in enumerate(_items(arguments[0])))


def _inline(width: int, arguments: Row) -> Iterable[Row]:
    return ((None,) * width if item is None else item for item in arguments[0] or ())


def _stack(width: int, arguments: Row) -> Iterable[Row]:
    """A number of rows of the values in order; NULL where these do not reach."""
    count, *values = arguments
    values += [None] * (count * width - len(values))
    return (tuple(values[place * width : (place + 1) * width]) for place in range(count))


GENERATORS: Final[Mapping[str, Generator]] = {
    "explode": _explode,
    "posexplode": _posexplode,
    "inline": _inline,
    "stack": _stack,
}
