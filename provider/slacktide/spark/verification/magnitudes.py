"""How large the numbers are that a floating-point result was made of.

Which result the rounding of an addition gives depends on the order, and by how much on the numbers
that were added, not on what is left of them: they may have cancelled to nothing. Two answers are equal
where they agree within 1e-9 of that size. `magnified` adds it to the relation of a view, for the
aggregates that add and for no others: a minimum or a median is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.tree import fresh_ids
from slacktide.algebra.types import DOUBLE, is_floating


@dataclass(frozen=True, slots=True)
class Magnified:
    """A view's relation with the magnitudes of its doubles.

    Attributes:
        relation: the columns of the view, and others.
        magnitudes: for each column of the view the one that holds the size of what it was made of, or
            None where no rounding is allowed for but that of the number itself.
    """

    relation: r.Rel
    magnitudes: tuple[s.Column | None, ...]


def magnified(relation: r.Rel) -> Magnified | None:
    """Add the magnitudes, where an aggregate is the last that adds; None where none is."""
    found = _magnified(relation, fresh_ids(relation))
    if found is None:
        return None
    larger, known = found
    return Magnified(larger, tuple(known.get(column.id) for column in relation.columns))


_Found = tuple[r.Rel, dict[int, s.Column]]


def _magnified(relation: r.Rel, ids: Iterator[int]) -> _Found | None:
    match relation:
        case r.Aggregate():
            return _summed(relation, ids)
        case r.Filter() | r.Sort() | r.Limit():
            below = _magnified(relation.child, ids)
            return below and (replace(relation, child=below[0]), below[1])
        case r.Project():
            below = _magnified(relation.child, ids)
            return below and _projected(relation, *below, ids)
        case _:
            return None


def _summed(relation: r.Aggregate, ids: Iterator[int]) -> _Found | None:
    chooses = any(measure.call.function in _CHOICES for measure in relation.measures)
    below = _magnified(relation.child, ids) if chooses else None
    child, known_below = below or (relation.child, {})
    measures: list[s.Measure] = []
    sizes: dict[int, s.Scalar] = {}
    for measure in relation.measures:
        sized = _sized(measure, known_below)
        if sized is None:
            continue
        size, arguments = sized
        parts = []
        for function, argument in size.parts(arguments):
            column = s.Column(next(ids), "part", DOUBLE, nullable=True)
            total = replace(
                measure.call, function=function, arguments=(argument,), type=DOUBLE, nullable=True
            )
            measures.append(s.Measure(column, total))
            parts.append(s.reference(column))
        sizes[measure.column.id] = size.of(*parts)
    if not sizes:
        return None
    larger = replace(relation, child=child, measures=(*relation.measures, *measures))
    known = {i: s.Column(next(ids), "magnitude", DOUBLE, nullable=True) for i in sizes}
    outputs = [s.identity(column) for column in larger.columns]
    outputs += [s.Assignment(known[i], size) for i, size in sizes.items()]
    return r.Project(larger, tuple(outputs)), known


def _sized(
    measure: s.Measure, below: dict[int, s.Column]
) -> tuple[_Size, Sequence[s.Scalar]] | None:
    """The size behind a measure, and of what; several DISTINCT aggregates have it below, and choose it."""
    if not is_floating(measure.column.type):
        return None
    call = measure.call
    match call.arguments:
        case (s.Reference(column=column),) if call.function in _CHOICES and column in below:
            return _Size((call.function,), _self), (s.reference(below[column]),)
        case arguments:
            size = _SIZES.get(call.function)
            return None if size is None else (size, arguments)


def _projected(
    relation: r.Project, child: r.Rel, known: dict[int, s.Column], ids: Iterator[int]
) -> _Found:
    outputs, above = [], {}
    for output in relation.outputs:
        size = _through(output.value, known)
        if size is not None:
            column = s.Column(next(ids), "magnitude", DOUBLE, nullable=True)
            outputs.append(s.Assignment(column, size))
            above[output.column.id] = column
    return replace(relation, child=child, outputs=(*relation.outputs, *outputs)), above


def _through(value: s.Scalar, known: dict[int, s.Column]) -> s.Scalar | None:
    """The size behind an expression that keeps it: a column, a sum or a difference of two."""
    match value:
        case s.Reference():
            return s.reference(known[value.column]) if value.column in known else None
        case s.Call(function="+" | "-", arguments=(left, right)) if is_floating(value.type):
            sizes = [_through(part, known) for part in (left, right)]
            there = [size for size in sizes if size is not None]
            return _call("+", *there) if len(there) == len(sizes) else None
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Size:
    """How the size behind an aggregate is computed.

    Attributes:
        functions: aggregates over its arguments, in turns: deviations of the numbers, others of their sizes.
        of: the size, of what these give.
    """

    functions: tuple[str, ...]
    of: Callable[..., s.Scalar]

    def parts(self, arguments: Sequence[s.Scalar]) -> Iterator[tuple[str, s.Scalar]]:
        for function, argument in zip(self.functions, cycle(arguments), strict=False):
            number = s.Cast(argument, DOUBLE, argument.nullable)
            yield function, number if function == _DEVIATION else _call("abs", number)


def _call(function: str, *arguments: s.Scalar) -> s.Scalar:
    return s.Call(function, arguments, DOUBLE, nullable=True)


def _one(*_: s.Scalar) -> s.Scalar:
    return s.Literal("1.0D", DOUBLE, nullable=False)


def _self(size: s.Scalar) -> s.Scalar:
    return size


def _product(one: s.Scalar, other: s.Scalar) -> s.Scalar:
    return _call("*", one, other)


def _ratio(of_y: s.Scalar, of_x: s.Scalar) -> s.Scalar:
    return _call("try_divide", of_y, of_x)


_DEVIATION = "stddev_pop"
_CHOICES = frozenset({"first", "first ignore nulls"})
_SUM = _Size(("sum",), _self)
_MEAN = _Size(("avg",), _self)
_UNIT = _Size((), _one)
_SQUARE = _Size(("avg",), lambda size: _product(size, size))
_PRODUCT = _Size((_DEVIATION, _DEVIATION), _product)
_PRODUCTS = _Size(("sum", "avg"), _product)
_SLOPE = _Size((_DEVIATION, _DEVIATION), _ratio)
_INTERCEPT = _Size(
    ("avg", "avg", _DEVIATION, _DEVIATION),
    lambda y, x, of_y, of_x: _call("+", y, _product(x, _ratio(of_y, of_x))),
)
_SIZES = {
    "sum": _SUM,
    "try_sum": _SUM,
    "avg": _MEAN,
    "try_avg": _MEAN,
    "std": _MEAN,
    "stddev": _MEAN,
    "stddev_samp": _MEAN,
    "stddev_pop": _MEAN,
    "variance": _SQUARE,
    "var_samp": _SQUARE,
    "var_pop": _SQUARE,
    "covar_pop": _PRODUCT,
    "covar_samp": _PRODUCT,
    "corr": _UNIT,
    "skewness": _UNIT,
    "kurtosis": _UNIT,
    "regr_r2": _UNIT,
    "regr_slope": _SLOPE,
    "regr_intercept": _INTERCEPT,
    "regr_sxx": _PRODUCTS,
    "regr_sxy": _PRODUCTS,
}
