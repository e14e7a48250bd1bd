"""Random aggregates, each one that does not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import aggregate_type
from tests.harness.plans.scalars import FALSE, Scalars, call, one_zero, text
from tests.harness.plans.sources import ARRAY

PLAIN = ("count", "sum", "avg", "count", "sum", "avg", "min", "max")
BITWISE = ("bit_and", "bit_or", "bit_xor")
OF_DOUBLE = ("std", "var_pop", "skewness", "kurtosis", "stddev_pop", "var_samp")
OF_DOUBLES = ("covar_pop", "covar_samp", "regr_slope", "regr_r2", "regr_intercept", "regr_sxy")
OF_KEY = ("first", "last", "first ignore nulls", "any_value", "listagg")
COLLECTED = ("INT", "BIGINT", "STRING", "DECIMAL(7,2)", "DATE")
PERCENT = s.Literal("0.5D", "DOUBLE", nullable=False)
ONE = s.Literal("1L", "BIGINT", nullable=False)
SHARES = s.Literal("array(0.0D, 0.5D, 1.0D)", "ARRAY<DOUBLE>", nullable=False)
ACCURACY = s.Literal("10000", "INT", nullable=False)


class Aggregates(Scalars):
    """Draws measures over a relation.

    Args:
        draw: given by hypothesis.
        is_exact: leave out what Spark rounds at every row, and lists, whose order is free.
    """

    def __init__(self, draw, *, is_exact: bool) -> None:
        super().__init__(draw)
        self.is_exact = is_exact

    def measures(self, rel: r.Rel, keys: Sequence[s.Assignment], count: int) -> list[s.Measure]:
        return [self.measure(rel, keys) for _ in range(count)]

    def measure(self, rel: r.Rel, keys: Sequence[s.Assignment] = ()) -> s.Measure:
        """A column and its aggregate."""
        made = self.pick(FAMILIES)(self, rel, keys) or self.of_any(rel, keys)
        condition = self.predicate(rel.columns) if self.chance(5) else None
        aggregate = s.AggregateCall(
            made.function, made.arguments, made.distinct, condition, made.type, made.nullable
        )
        return s.Measure(self.column("m", made.type, made.nullable), aggregate)

    def of_any(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall:
        function = self.pick(PLAIN)
        if function == "count" and self.chance(2):
            return aggregate_call("count")
        value = self.any(rel) if function in {"count", "min", "max"} else self.number(rel)
        return aggregate_call("count" if value is None else function, *([value] if value else []))

    def of_distinct(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall:
        function = self.pick(("count", "count", "sum", "avg"))
        value = self.any(rel) if function == "count" else self.number(rel)
        if value is None:
            function, value = "count", self.any(rel)
        arguments = (value, self.any(rel)) if function == "count" and self.chance(3) else (value,)
        return aggregate_call(function, *arguments, distinct=True)

    def of_order(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall:
        return aggregate_call(self.pick(("min", "max")), self.any(rel))

    def of_array(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall | None:
        function, value = self.pick(("array_agg", "collect_set")), self.of(rel, COLLECTED)
        if self.is_exact or value is None:
            return None
        return typed(function, (value,), f"ARRAY<{value.type}>", nullable=False)

    def of_rank(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall:
        """The value is part of the rank, so that there are no ties that differ."""
        function = self.pick(("min_by", "max_by"))
        value, rank = one_zero(self.any(rel)), one_zero(self.any(rel))
        named = (text("r"), rank, text("v"), value)
        struct = f"STRUCT<r: {rank.type}, v: {value.type}>"
        both = s.Call("named_struct", named, struct, nullable=False)
        return typed(function, (value, both), value.type)

    def of_share(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall | None:
        value = self.number(rel)
        if value is None:
            return None
        value = one_zero(value)
        if self.chance(2):
            return typed("percentile", (value, PERCENT, ONE), "DOUBLE")
        return typed("approx_percentile", (value, SHARES, ACCURACY), f"ARRAY<{value.type}>")

    def of_bits(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall | None:
        value = self.of(rel, ("INT", "BIGINT"))
        return None if value is None else typed(self.pick(BITWISE), (value,), value.type)

    def of_doubles(self, rel: r.Rel, _: Sequence[s.Assignment]) -> s.AggregateCall | None:
        one, other = self.number(rel), self.number(rel)
        if self.is_exact or one is None or other is None:
            return None
        if self.chance(2):
            return typed(self.pick(OF_DOUBLE), (double(one),), "DOUBLE")
        return typed(self.pick(OF_DOUBLES), (double(one), double(other)), "DOUBLE")

    def of_key(self, _: r.Rel, keys: Sequence[s.Assignment]) -> s.AggregateCall | None:
        """The first of values that are all the same: those of a key."""
        fitting = [key.value for key in keys if key.column.type not in {"DOUBLE", ARRAY}]
        if not fitting:
            return None
        value, function = self.pick(fitting), self.pick(OF_KEY)
        if function != "listagg":
            return typed(function, (value,), value.type)
        if value.type != "STRING":
            return None
        return typed(function, (value, text("-")), "STRING")


FAMILIES = (
    Aggregates.of_any,
    Aggregates.of_any,
    Aggregates.of_order,
    Aggregates.of_distinct,
    Aggregates.of_rank,
    Aggregates.of_array,
    Aggregates.of_share,
    Aggregates.of_bits,
    Aggregates.of_doubles,
    Aggregates.of_key,
)


def double(value: s.Scalar) -> s.Scalar:
    return value if value.type == "DOUBLE" else s.Cast(value, "DOUBLE", value.nullable)


def typed(
    function: str, arguments: Sequence[s.Scalar], data_type: str, *, nullable: bool = True
) -> s.AggregateCall:
    return s.AggregateCall(
        function, tuple(arguments), distinct=False, filter=None, type=data_type, nullable=nullable
    )


def aggregate_call(function: str, *arguments: s.Scalar, distinct: bool = False) -> s.AggregateCall:
    """An aggregate with the type that Spark gives it."""
    if function in {"min", "max"}:
        arguments = tuple(map(one_zero, arguments))
    result = aggregate_type(function, arguments)
    assert result is not None, (function, arguments)
    return s.AggregateCall(function, arguments, distinct, None, *result)


def ordered(column: s.Column) -> s.Scalar:
    """A column; an array that was collected in no order is sorted."""
    value = s.reference(column)
    return s.Call("sort_array", (value, call("not", FALSE)), column.type, column.nullable)
