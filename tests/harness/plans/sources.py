"""Sources of a random case: their columns, and the values that may stand there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.program.reference.bags import Bag

ARRAY = "ARRAY<INT>"
STRUCT = "STRUCT<p: INT, q: STRING>"
DOMAINS: dict[str, tuple[Any, ...]] = {
    "INT": (0, 1, 2),
    "BIGINT": (-1, 0, 7),
    "DECIMAL(7,2)": (Decimal("-0.50"), Decimal("1.00"), Decimal("2.25")),
    "DECIMAL(12,3)": (Decimal("0.001"), Decimal("10.500")),
    "DOUBLE": (0.5, -0.0, 0.0, math.nan),
    "STRING": ("", "a", "B'\\"),
    "DATE": (date(1998, 9, 2), date(1999, 1, 31)),
    "BOOLEAN": (False, True),
    ARRAY: ((1, 0), (), (None, 1, 1)),
    STRUCT: ((1, "a"), (None, ""), (1, None)),
}
TYPES = tuple(sorted(DOMAINS))


@dataclass(frozen=True)
class SourceShape:
    """The columns of a random source: name, type, whether NULL may stand there."""

    name: str
    columns: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of(cls, name: str, columns: Iterable[tuple[str, str]]) -> SourceShape:
        """A table with columns of which each may be NULL."""
        return cls(name, tuple((column, data_type, True) for column, data_type in columns))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.columns)

    def row(self, number: int) -> tuple[Any, ...]:
        """Decode a row from a number; every number is a row."""
        values = []
        for _, data_type, nullable in self.columns:
            domain = (None, *DOMAINS[data_type]) if nullable else DOMAINS[data_type]
            number, place = divmod(number, len(domain))
            values.append(domain[place])
        return tuple(values)


@dataclass
class Case:
    """A relation, the sources that it may read, and the batches that arrive one after another."""

    relation: r.Rel
    sources: tuple[SourceShape, ...]
    batches: list[dict[str, Bag]] = field(default_factory=list)


@st.composite
def shapes(draw: Any) -> tuple[SourceShape, ...]:
    """Two sources with a key that is an INT in both, and one to three other columns each."""
    return tuple(
        SourceShape(
            name,
            (
                (f"{name}_k", "INT", draw(st.booleans())),
                *(
                    (f"{name}_{place}", data_type, draw(st.booleans()))
                    for place, data_type in enumerate(draw(_OTHERS))
                ),
            ),
        )
        for name in ("left", "right")
    )


_OTHERS = st.lists(st.sampled_from(TYPES), min_size=1, max_size=3)
