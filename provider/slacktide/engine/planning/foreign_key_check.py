"""What would break a foreign key, as bags that are empty where it holds (ADR 0006).

Over whole sources, for a check from nothing; and over what a run changes, which with a foreign key that
held before says whether it holds after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from slacktide.algebra.equalities import conjunction
from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Call, Column, Scalar, reference
from slacktide.algebra.types import BOOLEAN
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program import operator as o
from slacktide.program.balance import Balance
from slacktide.program.operator import Operator

Schema = Sequence[Mapping[str, Any]]


def columns_of(schema: Schema, names: Sequence[str], first: int = 0) -> Columns:
    """Columns of a source as those of an operator, with ids from one on."""
    known = {field["name"]: field for field in schema}
    return tuple(
        Column(first + place, name, known[name]["type"], bool(known[name]["nullable"]))
        for place, name in enumerate(names)
    )


def repeated_keys(source: str, key: Columns) -> Operator:
    """The keys that several rows of a source have."""
    rows = o.Consolidate(o.ReadSnapshot(source, key, "after"))
    return o.ByBalance(rows, key, "repeated")


def null_keys(source: str, key: Columns) -> Operator:
    """The keys of which a column is NULL."""
    return o.Consolidate(_unknown(o.ReadSnapshot(source, key, "after"), key))


class Check:
    """What would break one foreign key.

    Args:
        foreign_key: this one.
        schemas: of both sources, by name.
    """

    def __init__(self, foreign_key: ForeignKey, schemas: Mapping[str, Schema]) -> None:
        self._foreign_key = foreign_key
        self._own = columns_of(schemas[foreign_key.source], foreign_key.columns)
        self._key = columns_of(
            schemas[foreign_key.target], foreign_key.key, len(foreign_key.columns)
        )

    def unmet(self) -> Operator:
        """Keys to which rows refer and which are not there."""
        there = o.ReadSnapshot(self._foreign_key.target, self._key, "after")
        rows = o.ReadSnapshot(self._foreign_key.source, self._own, "after")
        return o.Consolidate(self._without(rows, there))

    def came_unmet(self) -> Operator:
        """Keys to which more rows refer than before, and which are not there."""
        changes = o.ReadChanges(self._foreign_key.source, self._own)
        came = o.ByBalance(changes, self._own, "came")
        pairs = tuple(
            o.Pair(reference(key), reference(own))
            for own, key in zip(self._own, self._key, strict=True)
        )
        there = o.Touched(o.ReadSnapshot(self._foreign_key.target, self._key, "after"), came, pairs)
        return self._without(came, there)

    def left_behind(self) -> Operator:
        """Rows that refer to keys which are gone."""
        gone = self._target("gone")
        pairs = tuple(
            o.Pair(reference(own), reference(key))
            for own, key in zip(self._own, self._key, strict=True)
        )
        rows = o.ReadSnapshot(self._foreign_key.source, self._own, "after")
        return o.Consolidate(o.Touched(rows, gone, pairs))

    def came_null(self) -> Operator:
        """Keys that came and of which a column is NULL."""
        return _unknown(self._target("came"), self._key)

    def came_again(self) -> Operator:
        """Keys that came and that several rows have now."""
        pairs = tuple(o.Pair(reference(key), reference(key)) for key in self._key)
        rows = o.ReadSnapshot(self._foreign_key.target, self._key, "after")
        there = o.Consolidate(o.Touched(rows, self._target("came"), pairs))
        return o.ByBalance(there, self._key, "repeated")

    def _target(self, balance: Balance) -> Operator:
        return o.ByBalance(o.ReadChanges(self._foreign_key.target, self._key), self._key, balance)

    def _without(self, rows: Operator, there: Operator) -> Operator:
        equal = conjunction(
            Call("=", (reference(own), reference(key)), BOOLEAN, own.nullable or key.nullable)
            for own, key in zip(self._own, self._key, strict=True)
        )
        return o.SemiBags(o.Select(rows, _known(self._own)), there, equal, negated=True)


def _unknown(rows: Operator, key: Columns) -> Operator:
    """Rows of which a column of the key is NULL."""
    null = Call("not", (_known(key),), BOOLEAN, nullable=False)
    return o.Select(rows, null)


def _known(columns: Columns) -> Scalar:
    """That no column is NULL."""
    first, *rest = (
        Call("isnotnull", (reference(column),), BOOLEAN, nullable=False) for column in columns
    )
    return reduce(
        lambda one, other: Call("and", (one, other), BOOLEAN, nullable=False), rest, first
    )
