"""Random expressions over the columns of a relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import call_type
from slacktide.algebra.types import decimal_of
from tests.harness.plans.sources import ARRAY, STRUCT

T = TypeVar("T")
NUMBERS = ("INT", "BIGINT", "DECIMAL(7,2)", "DECIMAL(12,3)", "DOUBLE")
MAX_DIGITS = 25
LITERALS: dict[str, tuple[str, ...]] = {
    "INT": ("0", "1"),
    "BIGINT": ("0L", "-1L"),
    "DECIMAL(7,2)": ("1.00BD", "0.50BD"),
    "DOUBLE": ("0.5D", "0.0D", "CAST('NaN' AS DOUBLE)"),
    "STRING": ("'a'", "'B\\'\\\\'"),
    "DATE": ("DATE '1998-12-01'",),
    "BOOLEAN": ("true",),
}
COMPARISONS = ("=", "<=>", "<", "<=", ">", ">=")
TRUE = s.Literal("true", "BOOLEAN", nullable=False)
FALSE = s.Literal("false", "BOOLEAN", nullable=False)


def is_number(data_type: str) -> bool:
    """Whether sums of sums of the type still have room."""
    shape = decimal_of(data_type)
    return data_type in NUMBERS or (shape is not None and shape[0] <= MAX_DIGITS)


def call(function: str, *arguments: s.Scalar) -> s.Call:
    """A call with the type that Spark gives it."""
    result = call_type(function, arguments)
    assert result is not None, (function, arguments)
    return s.Call(function, arguments, *result)


def null(data_type: str) -> s.Literal:
    """NULL of a type."""
    return s.Literal(f"CAST(NULL AS {data_type})", data_type, nullable=True)


def whole(number: int, data_type: str = "INT") -> s.Literal:
    """A whole number."""
    return s.Literal(f"{number}{'L' if data_type == 'BIGINT' else ''}", data_type, nullable=False)


def text(value: str) -> s.Literal:
    """A plain text."""
    return s.Literal(f"'{value}'", "STRING", nullable=False)


def one_zero(value: s.Scalar) -> s.Scalar:
    """The value, for a double with one zero only: which of two zeros an order puts first is open."""
    if value.type != "DOUBLE":
        return value
    return call("+", value, s.Literal("0.0D", "DOUBLE", nullable=False))


def total_order(columns: r.Columns, ascending: Sequence[bool]) -> tuple[s.SortKey, ...]:
    """Sort keys that tell all rows apart, the two zeros of a double too."""
    keys = []
    for column, is_up in zip(columns, ascending, strict=False):
        value: s.Scalar = s.reference(column)
        keys.append(s.SortKey(value, is_up, is_up))
        if column.type == "DOUBLE":
            keys.append(s.SortKey(s.Cast(value, "STRING", column.nullable), is_up, is_up))
    return tuple(keys)


class Scalars:
    """Draws columns and expressions; every column gets an id of its own."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.next_id = 0

    def pick(self, items: Sequence[T]) -> T:
        return items[self.draw(st.integers(0, len(items) - 1))] if len(items) > 1 else items[0]

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(0, one_in - 1)) == one_in - 1)

    def column(self, name: str, data_type: str, nullable: bool) -> s.Column:
        self.next_id += 1
        return s.Column(self.next_id, name, data_type, nullable)

    def of(self, rel: r.Rel, types: Sequence[str]) -> s.Reference | None:
        """One of the columns of some types."""
        fitting = [column for column in rel.columns if column.type in types]
        return s.reference(self.pick(fitting)) if fitting else None

    def any(self, rel: r.Rel) -> s.Reference:
        return s.reference(self.pick(rel.columns))

    def number(self, rel: r.Rel) -> s.Scalar | None:
        """A number, sometimes computed."""
        fitting = [column for column in rel.columns if is_number(column.type)]
        if not fitting:
            return None
        value: s.Scalar = s.reference(self.pick(fitting))
        if value.type in NUMBERS and self.chance(3):
            other = self.of(rel, (value.type,)) or value
            value = call(self.pick(("+", "-", "*")), value, other)
        return value

    def predicate(self, columns: r.Columns) -> s.Scalar:
        value = s.reference(self.pick(columns))
        same = [column for column in columns if column.type == value.type]
        if self.chance(4) or (value.type not in LITERALS and len(same) == 1):
            test: s.Scalar = call(self.pick(("isnull", "isnotnull")), value)
        elif value.type not in LITERALS or self.chance(2):
            test = call(self.pick(COMPARISONS), value, s.reference(self.pick(same)))
        else:
            test = call(self.pick(COMPARISONS), value, self.literal(value.type))
        if self.chance(5):
            return call("not", test)
        if self.chance(5):
            return call(self.pick(("and", "or")), test, self.predicate(columns))
        return test

    def literal(self, data_type: str) -> s.Scalar:
        sql = self.pick(LITERALS[data_type])
        if data_type.startswith("DECIMAL"):
            return s.Cast(s.Literal(sql, "DECIMAL(3,2)", nullable=False), data_type, nullable=False)
        return s.Literal(sql, data_type, nullable=False)

    def expression(self, rel: r.Rel) -> s.Scalar:
        value = self.any(rel)
        kind = self.draw(st.integers(0, 4))
        if kind == 0:
            return self.number(rel) or value
        if kind == 1 and value.type in LITERALS:
            return call("coalesce", value, self.literal(value.type))
        if kind == 2:
            other = self.of(rel, (value.type,)) or value
            test = self.predicate(rel.columns)
            return s.Case(((test, value),), other, value.type, value.nullable or other.nullable)
        if kind == 3:
            return self.part(value)
        return self.made(rel) if kind == 4 and self.chance(2) else value

    def part(self, value: s.Reference) -> s.Scalar:
        """A part of a value, where the value has any."""
        match value.type:
            case "DATE":
                return call("year", value)
            case "INT":
                return s.Cast(value, "DOUBLE", value.nullable)
            case type_ if type_ == STRUCT:
                name, data_type = self.pick((("p", "INT"), ("q", "STRING")))
                return s.Call("field", (value, text(name)), data_type, nullable=True)
            case type_ if type_ == ARRAY:
                if self.chance(2):
                    return s.Call("size", (value,), "INT", value.nullable)
                return s.Call("get", (value, whole(0)), "INT", nullable=True)
            case _:
                return value

    def made(self, rel: r.Rel) -> s.Scalar:
        """A new value with parts."""
        number = self.of(rel, ("INT",))
        word = self.of(rel, ("STRING",))
        if number is not None and word is not None and self.chance(2):
            parts = (text("p"), number, text("q"), word)
            return s.Call("named_struct", parts, STRUCT, nullable=False)
        if number is not None:
            items = (number, self.of(rel, ("INT",)) or number)
            return s.Call("array", items, ARRAY, nullable=False)
        return self.any(rel)
