"""Puts the SQL of operators together: nested, those that are read twice as tables of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slacktide.algebra.sql import quoted
from slacktide.common.node import Node
from slacktide.errors import InvariantError
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_plain, is_rowable
from slacktide.program.operator import Operator, operator_inputs
from slacktide.spark.compile.fragments import names, positions, select_sql, typed
from slacktide.spark.compile.gathering import Gathered, read_hint
from slacktide.spark.tables.columns import name
from slacktide.spark.tables.leaves import Leaves
from slacktide.spark.tables.materialised import Held
from slacktide.spark.texts.bags import consolidate_sql, rows_sql, values_sql

Rules = Mapping[type[Operator], Callable[["Compiler", Any], str]]


class Compiler:
    """The text of one step.

    Args:
        leaves: what it stands on.
        rules: the SQL of each kind of operator.
        gathered: which rows are brought into one partition.
        may_work_out: whether a side of a join may be worked out before it is read.

    Attributes:
        names: of the rows of each operator that is defined, or the query that gives them.
    """

    def __init__(
        self, leaves: Leaves, rules: Rules, gathered: Gathered, *, may_work_out: bool
    ) -> None:
        self.leaves = leaves
        self.gathered = gathered
        self.may_work_out = may_work_out
        self.names: dict[Node, str] = {}
        self._rules = rules
        self._tables: list[str] = []

    def define(self, operator: Operator, *, is_shared: bool) -> None:
        """Name the rows of an operator; what is read once stands where it is read.

        Spark analyses a nested query several times faster than a common table expression per node.
        """
        body = self._body(operator)
        if not is_shared:
            self.names[operator] = f"(\n{body}\n)"
            return
        table = f"slacktide_o{len(self._tables)}"
        self.names[operator] = table
        self._tables.append(f"{table} AS (\n{body}\n)")

    def hold(self, operator: Operator) -> None:
        """Work the rows of an operator out now, and name them."""
        self.names[operator] = held_sql(operator, self.leaves.materialised(operator))

    def text(self, body: str) -> str:
        """A query together with the tables that it names."""
        return f"WITH {', '.join(self._tables)}\n{body}" if self._tables else body

    def _body(self, operator: Operator) -> str:
        rule = self._rules.get(type(operator))
        if rule is None:
            raise InvariantError(f"no SQL is known for {operator.tag}")
        return rule(self, operator)

    def occurring(self, operator: Operator) -> str:
        """The rows of a bag whose multiplicities do not add up to zero, as often as may be."""
        if is_rowable(operator):
            return self.rows(operator)
        return consolidate_sql(self.names[operator], typed(operator.columns))

    def rows(self, operator: Operator) -> str:
        """Plain rows: those that a source has, and what is linear over them, are not grouped."""
        if is_plain(operator):
            listed = ", ".join(names(operator.columns)) or "1"
            return f"SELECT {listed} FROM {self.names[operator]}"
        if not is_rowable(operator):
            return rows_sql(self.names[operator], typed(operator.columns))
        match operator:
            case o.ReadSnapshot():
                outputs = [f"{quoted(column.name)} AS {name(column)}" for column in operator.fields]
                table = self.leaves.rows(operator.source, operator.moment)
                hint = read_hint(operator, self.gathered)
                return f"SELECT {hint}{', '.join(outputs) or '1'} FROM {table}"
            case o.Add():
                return "\nUNION ALL\n".join(
                    f"SELECT {_renamed(child, operator)} FROM ({self.rows(child)})"
                    for child in operator.children
                )
            case _:
                return self._linear_rows(operator)

    def values(self, operator: Operator) -> str:
        """Plain rows, of which a bag has each value once."""
        if is_rowable(operator):
            return self.rows(operator)
        return values_sql(self.names[operator], typed(operator.columns))

    def _linear_rows(self, operator: Operator) -> str:
        """The text of a linear operator over plain rows, each with multiplicity one."""
        # What is worked out before is a bag, and plain rows are wanted here.
        inner = Compiler(self.leaves, self._rules, self.gathered, may_work_out=False)
        inner.names = dict(self.names)
        below = operator_inputs(operator)
        for child in below[:1] if isinstance(operator, o.SemiBags) else below:
            inner.names[child] = f"(SELECT *, 1L AS __m FROM ({self.rows(child)}))"
        listed = ", ".join(names(operator.columns)) or "1"
        return f"SELECT {listed} FROM ({inner._body(operator)})"


def held_sql(operator: Operator, held: Held) -> str:
    """The rows of an operator that were worked out."""
    listed = positions(operator.columns)
    return f"({select_sql(listed, held.table, is_state=operator.is_state)})"


def _renamed(child: Operator, operator: o.Add) -> str:
    pairs = zip(child.columns, operator.fields, strict=True)
    return ", ".join(f"{name(own)} AS {name(column)}" for own, column in pairs) or "1"
