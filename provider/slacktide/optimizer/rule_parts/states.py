"""The additive state of an aggregate: its columns, how it is made of a bag, and how results follow from it.

A sum of whole numbers is kept in ``DECIMAL(38,0)`` and checked at the end, as it would overflow in
``BIGINT`` or not with the order of addition; a sum of decimals in the type that Spark gives it. Every
state has the hidden row count ``__n``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import (
    AggregateCall,
    Assignment,
    Call,
    Case,
    Cast,
    Column,
    Literal,
    Reference,
    Scalar,
    SortKey,
    reference,
)
from slacktide.algebra.tree import canonical
from slacktide.algebra.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    WIDEST_INTEGER,
    DataType,
    decimal,
    decimal_of,
    is_averaged_in_doubles,
    is_integral,
)
from slacktide.common.chain_ids import state_id
from slacktide.common.digest import digest_of
from slacktide.program.operator import Additive, Finish, Operator, Partial, Summarise

Fresh = Callable[[str, DataType], Column]
Settings = Mapping[str, str]
_DEFAULTS: Settings = MappingProxyType({})
_COUNT_AS_DECIMAL = "DECIMAL(20,0)"


@dataclass(frozen=True, slots=True)
class AggregateState:
    """The layout of one state.

    Attributes:
        chain: id of the chain that holds it, a digest of what it means.
        keys: one column per group key.
        partials: the additive columns; the first is the hidden count.
        results: the measures of the aggregate, computed from merged partials.
    """

    chain: str
    keys: tuple[Column, ...]
    partials: tuple[Partial, ...]
    results: tuple[Assignment, ...]

    @property
    def count(self) -> Column:
        """The hidden row count of the group."""
        return self.partials[0].column

    @property
    def columns(self) -> tuple[Column, ...]:
        """Keys, then partials."""
        return self.keys + tuple(partial.column for partial in self.partials)


class _Partials:
    """Collects partials, each meaning once."""

    def __init__(self, fresh: Fresh) -> None:
        self._fresh = fresh
        self._found: dict[tuple[str, Scalar | None, Scalar | None], Partial] = {}

    def count(self, argument: Scalar | None, condition: Scalar | None) -> Reference:
        """A count of rows, or of non-NULL arguments."""
        never_null = argument is not None and not argument.nullable
        return self._partial("count", None if never_null else argument, condition, BIGINT)

    def sum(self, argument: Scalar, condition: Scalar | None, data_type: DataType) -> Reference:
        """A sum of arguments, zero where there are none."""
        return self._partial("sum", argument, condition, data_type)

    def _partial(
        self,
        function: Additive,
        argument: Scalar | None,
        condition: Scalar | None,
        data_type: DataType,
    ) -> Reference:
        key = (function, argument, condition)
        if key not in self._found:
            name = "__n" if key == ("count", None, None) else f"{function}{len(self._found)}"
            column = self._fresh(name, data_type)
            self._found[key] = Partial(column, function, argument, condition)
        return reference(self._found[key].column)

    def all(self) -> tuple[Partial, ...]:
        return tuple(self._found.values())


def state_of(rel: r.Aggregate, fresh: Fresh, conf: Settings = _DEFAULTS) -> AggregateState:
    """Give the state of an aggregate whose measures are all additive."""
    partials = _Partials(fresh)
    partials.count(None, None)
    results = tuple(
        Assignment(measure.column, _result(measure.call, partials)) for measure in rel.measures
    )
    keys = tuple(
        Column(fresh(key.column.name, key.column.type).id, *_rest(key.column)) for key in rel.keys
    )
    return AggregateState(chain_of(rel, conf), keys, partials.all(), results)


def summarised(rel: r.Aggregate, state: AggregateState, bag: Operator) -> Summarise:
    """The partial aggregates of a bag."""
    keys = tuple(
        Assignment(column, key.value) for column, key in zip(state.keys, rel.keys, strict=True)
    )
    return Summarise(bag, keys, state.partials)


def finished(rel: r.Aggregate, state: AggregateState, rows: Operator) -> Operator:
    """The rows of an aggregate from its merged partial aggregates."""
    keys: tuple[Assignment, ...] = tuple(
        Assignment(key.column, reference(column))
        for key, column in zip(rel.keys, state.keys, strict=True)
    )
    return Finish(rows, state.count.id, keys + state.results, is_global=not rel.keys)


def chain_of(rel: r.Aggregate, conf: Settings = _DEFAULTS) -> str:
    """The id of the state: two aggregates that mean the same share one.

    A time zone or the ANSI mode stands in no expression, and changes what expressions mean.
    """
    return _chain("state", rel, conf)


def bag_chain(rel: r.Rel, conf: Settings = _DEFAULTS) -> str:
    """The id of the state that holds the rows of a relation as a counted bag."""
    return _chain("bag", rel, conf)


def first_chain(
    rel: r.Rel, order: tuple[SortKey, ...], least: int, conf: Settings = _DEFAULTS
) -> str:
    """The id of the state that holds the first rows of a relation for a limit that needs so many."""
    return _chain("first", r.Limit(r.Sort(rel, order), least), conf)


def _chain(kind: str, rel: r.Rel, conf: Settings) -> str:
    meaning = digest_of(kind, canonical(rel), tuple(sorted(conf.items())))
    return state_id(meaning.hex())


def _rest(column: Column) -> tuple[str, DataType, bool]:
    return column.name, column.type, column.nullable


def _result(call: AggregateCall, partials: _Partials) -> Scalar:
    condition = call.filter
    argument = call.arguments[0] if call.arguments else None
    if call.function == "count" or argument is None:
        return partials.count(_counted(argument), condition)
    if call.function == "sum":
        return _if_any(partials.count(argument, condition), _sum(call, argument, partials))
    return _if_any(partials.count(argument, condition), _average(call, argument, partials))


def _counted(argument: Scalar | None) -> Scalar | None:
    """COUNT(1) counts rows, as COUNT(*) does."""
    return None if isinstance(argument, Literal) and not argument.nullable else argument


def _sum(call: AggregateCall, argument: Scalar, partials: _Partials) -> Scalar:
    total = _total(argument, call.filter, partials)
    return total if total.type == call.type else Cast(total, call.type, nullable=False)


def _average(call: AggregateCall, argument: Scalar, partials: _Partials) -> Scalar:
    total: Scalar = _total(argument, call.filter, partials)
    count = partials.count(argument, call.filter)
    if is_integral(argument.type):
        return _quotient_of_doubles(total, count)
    if is_averaged_in_doubles(call.type):
        return _average_of_units(call, total, count)
    divisor = Cast(count, _COUNT_AS_DECIMAL, nullable=False)
    quotient = Call("/", (total, divisor), quotient_type(total.type), nullable=True)
    return Cast(quotient, call.type, nullable=True)


def _average_of_units(call: AggregateCall, total: Scalar, count: Scalar) -> Scalar:
    """Count units of the last digit, as Spark does (its rule DecimalAggregates)."""
    precision, scale = decimal_of(total.type) or (38, 0)
    unit = 10**scale
    digits = Literal(f"{unit}BD", decimal(scale + 1, 0), nullable=False)
    product = decimal(precision + scale + 2, scale)
    units = Call("*", (total, digits), product, nullable=False)
    mean = _quotient_of_doubles(units, count)
    scaled = Call("/", (mean, Literal(f"{unit}.0D", DOUBLE, nullable=False)), DOUBLE, nullable=True)
    return Cast(scaled, call.type, nullable=True)


def _quotient_of_doubles(total: Scalar, count: Scalar) -> Scalar:
    sides = (Cast(total, DOUBLE, nullable=False), Cast(count, DOUBLE, nullable=False))
    return Call("/", sides, DOUBLE, nullable=True)


def _total(argument: Scalar, condition: Scalar | None, partials: _Partials) -> Reference:
    shape = decimal_of(argument.type)
    if shape is None:
        widened = Cast(argument, _COUNT_AS_DECIMAL, argument.nullable)
        return partials.sum(widened, condition, WIDEST_INTEGER)
    return partials.sum(argument, condition, sum_type(shape))


def _if_any(count: Reference, value: Scalar) -> Scalar:
    some = Call(">", (count, Literal("0L", BIGINT, nullable=False)), BOOLEAN, nullable=False)
    return Case(((some, value),), None, value.type, nullable=True)


def sum_type(shape: tuple[int, int]) -> DataType:
    """The type that Spark gives a sum of decimals: ten more digits."""
    precision, scale = shape
    return decimal(precision + 10, scale)


def quotient_type(total: DataType) -> DataType:
    """The type that Spark gives a decimal total divided by a count as ``DECIMAL(20,0)``."""
    precision, scale = decimal_of(total) or (38, 0)
    whole = precision - scale
    wanted = max(6, scale + 20 + 1)
    if whole + wanted <= 38:
        return decimal(whole + wanted, wanted)
    return decimal(38, max(38 - whole, min(wanted, 6)))
