"""The sources that random views read: small domains, so that keys meet and groups fill.

What matters to the one who writes a view is the *sort* of a column. Some sorts are doubles: `double`
holds multiples of a quarter, whose sums are exact in any order, and seldom NaN; `signed` holds -0.0 and
infinities too, which may be compared, grouped and shown but not added. Two more are made by
expressions: a `quotient` is the same in every run, of an `inexact` number only the first digits are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

Row = tuple[Any, ...]
Maker = Callable[[random.Random], Any]
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a source.

    Attributes:
        type: as Spark DDL.
        sort: what it is to expressions; see above.
        domain: columns of one domain hold the same values, see `KNOWN` and `MEETING`.
        make: makes a value.
    """

    name: str
    type: str
    sort: str
    domain: str
    make: Maker


@dataclass(frozen=True, slots=True)
class Table:
    """A source.

    Attributes:
        key: columns that identify a row; empty where equal rows may occur.
        size: rows of the initial load.
    """

    name: str
    fields: tuple[Field, ...]
    key: tuple[str, ...]
    size: int

    @property
    def ddl(self) -> str:
        """The columns as Spark DDL."""
        return ", ".join(f"{field.name} {field.type}" for field in self.fields)

    def place(self, name: str) -> int:
        """The position of a column."""
        return [field.name for field in self.fields].index(name)

    def row(self, dice: random.Random, number: int) -> Row:
        """A new row.

        Args:
            dice: where the values come from.
            number: the value of the key; of no use without one.
        """
        values = [
            number if (field.name,) == self.key else field.make(dice) for field in self.fields
        ]
        return tuple(values)


def one_of(*values: Any, nulls: float = 0.1) -> Maker:
    """One of some values, and NULL now and then."""
    return lambda dice: None if dice.random() < nulls else dice.choice(values)


def many_of(most: int, make: Maker) -> Maker:
    """A list of values, which may be empty, and NULL now and then."""

    def made(dice: random.Random) -> Any:
        length = dice.randrange(-1, most + 1)
        return None if length < 0 else [make(dice) for _ in range(length)]

    return made


def entries_of(keys: Sequence[str], make: Maker) -> Maker:
    """A map, as pairs in the order of its keys."""

    def made(dice: random.Random) -> Any:
        kept = [key for key in keys if dice.random() < 0.5]
        return None if dice.random() < 0.1 else [(key, make(dice)) for key in kept]

    return made


def struct_of(**makers: Maker) -> Maker:
    """A struct, and NULL now and then."""

    def made(dice: random.Random) -> Any:
        values = {name: make(dice) for name, make in makers.items()}
        return None if dice.random() < 0.1 else values

    return made


def money(scale: int, most: int) -> Maker:
    """Decimals of a scale, below a bound, of either sign."""

    def made(dice: random.Random) -> Any:
        if dice.random() < 0.1:
            return None
        return Decimal(dice.randrange(-most, 3 * most)).scaleb(-scale)

    return made


# The keys that facts and others have; a dimension may have more.
KEYS = range(8)
K = one_of(*KEYS)
G = one_of("a", "b", "c", "B ", "", "aB")
DAY = one_of(*(date(2026, 1, 1) + timedelta(days=5 * n) for n in range(12)))
AT = one_of(*(EPOCH + timedelta(hours=7 * n, microseconds=n % 2) for n in range(40)))
QUARTERS = one_of(*[0.25, 0.5, 1.25, -2.75, 3.0, 8.5, 0.0] * 5, float("nan"))
SIGNED = one_of(0.0, -0.0, 1.5, -1.5, float("inf"), float("nan"))
OK = one_of(True, False)
SMALL = one_of(*range(10))

# Domains on which relations are joined and sets are made: many of their values occur on both sides.
MEETING = frozenset({"k", "g", "day", "id"})
# Values that columns of a domain hold, or lie between where they hold too many, as literals, the least
# first: what a condition compares a column with, so that some rows meet it and others do not.
KNOWN: Mapping[str, Sequence[str]] = {
    "id": ("2", "5", "9", "40", "60", "90"),
    "k": tuple(map(str, KEYS)),
    "g": ("''", "'B '", "'a'", "'aB'", "'b'", "'c'"),
    "day": tuple(f"DATE '{date(2026, 1, 1) + timedelta(days=5 * n)}'" for n in range(12)),
    "small": tuple(map(str, range(10))),
    "price": ("-8.50", "0.00", "5.25", "20.00", "32.50", "48.00"),
    "rate": ("-0.1250", "0.0000", "0.2000", "0.4500", "0.7500"),
    "weight": ("-1.500", "0.000", "2.250", "5.000", "8.125"),
    "at": tuple(
        f"TIMESTAMP '{(EPOCH + timedelta(days=n)):%Y-%m-%d %H:%M:%S}'" for n in range(2, 11)
    ),
    "quarter": ("-2.75D", "0.0D", "0.25D", "0.5D", "1.25D", "3.0D", "8.5D"),
    "signed": ("-1.5D", "-0.0D", "0.0D", "1.5D"),
    "few": ("-7", "1", "2", "3", "100"),
}
# Domains of which not each value is known: to be in a list of them is rare.
WIDE = frozenset({"id", "price", "rate", "weight", "at"})

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        Table(
            "facts",
            (
                Field("id", "BIGINT NOT NULL", "integer", "id", SMALL),
                Field("k", "INT", "integer", "k", K),
                Field("g", "STRING", "string", "g", G),
                Field("q", "INT", "integer", "small", SMALL),
                Field("price", "DECIMAL(12,2)", "decimal", "price", money(2, 2000)),
                Field("rate", "DECIMAL(5,4)", "decimal", "rate", money(4, 3000)),
                Field("at", "TIMESTAMP", "timestamp", "at", AT),
                Field("day", "DATE", "date", "day", DAY),
                Field("ok", "BOOLEAN", "boolean", "", OK),
                Field("d", "DOUBLE", "double", "quarter", QUARTERS),
            ),
            ("id",),
            30,
        ),
        Table(
            "dim",
            (
                Field("k", "INT NOT NULL", "integer", "k", K),
                Field("name", "STRING", "string", "g", G),
                Field("parent", "INT", "integer", "k", K),
                Field("since", "DATE", "date", "day", DAY),
                Field(
                    "info",
                    "STRUCT<a: INT, b: STRING, w: DECIMAL(8,3)>",
                    "struct",
                    "",
                    struct_of(a=SMALL, b=G, w=money(3, 4000)),
                ),
            ),
            ("k",),
            6,
        ),
        Table(
            "loose",
            (
                Field("k", "INT", "integer", "k", K),
                Field("g", "STRING", "string", "g", one_of("a", "b", "c")),
                Field("v", "BIGINT NOT NULL", "integer", "few", one_of(1, 2, 3, 100, -7, nulls=0)),
                Field("z", "DOUBLE", "signed", "signed", SIGNED),
            ),
            (),
            26,
        ),
        Table(
            "nested",
            (
                Field("id", "BIGINT NOT NULL", "integer", "id", SMALL),
                Field("k", "INT", "integer", "k", K),
                Field("nums", "ARRAY<INT>", "numbers", "", many_of(3, SMALL)),
                Field("tags", "ARRAY<STRING>", "texts", "", many_of(2, G)),
                Field("attrs", "MAP<STRING, INT>", "map", "", entries_of("abc", SMALL)),
                Field(
                    "items",
                    "ARRAY<STRUCT<code: STRING, qty: INT>>",
                    "items",
                    "",
                    many_of(2, lambda dice: {"code": G(dice), "qty": SMALL(dice)}),
                ),
            ),
            ("id",),
            18,
        ),
    )
}
