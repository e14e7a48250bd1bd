"""The SQL of operators that bring rows together: equal ones, and those of a group."""

from __future__ import annotations

from slacktide.algebra.literals import zero_sql
from slacktide.algebra.sql import scalar_sql
from slacktide.program import operator as o
from slacktide.program.balance import BALANCES
from slacktide.program.multiplicity import is_unit
from slacktide.program.operator import Operator
from slacktide.spark.compile.aggregate_delta import aggregate_delta_of, aggregate_delta_sql
from slacktide.spark.compile.compiler import Compiler
from slacktide.spark.compile.fragments import assigned, guarded, names, select_sql, typed
from slacktide.spark.tables.columns import name
from slacktide.spark.texts.bags import consolidate_sql, units_sql
from slacktide.spark.texts.partials import merged_sql, partial_sql


def consolidate(compiler: Compiler, operator: o.Consolidate) -> str:
    """Equal rows once."""
    found = aggregate_delta_of(operator)
    if found is not None and {found.old, found.change} <= compiler.names.keys():
        return aggregate_delta_sql(compiler, found)
    return consolidate_sql(compiler.names[operator.child], typed(operator.columns))


def by_balance(compiler: Compiler, operator: o.ByBalance) -> str:
    """The rows of keys whose multiplicities add up to what is asked for."""
    keys = ", ".join(names(operator.keys))
    balance = f"sum(__m) OVER (PARTITION BY {keys}) AS __b"
    child = compiler.names[operator.child]
    where = f" WHERE {BALANCES[operator.balance].sql('__b')}"
    table = f"(SELECT *, {balance} FROM {child})"
    return select_sql(names(operator.columns), table, is_state=False, rest=where)


def summarise(compiler: Compiler, operator: o.Summarise) -> str:
    """Partial aggregates of rows."""
    child = compiler.names[operator.child]
    has_sums = any(partial.function == "sum" for partial in operator.partials)
    if has_sums and not is_unit(operator.child):
        child = _units(child, operator.child)
    keyed = ", ".join(["*", *assigned(operator.keys)])
    keys = [name(key.column) for key in operator.keys]
    outputs = [*keys, *(partial_sql(partial) for partial in operator.partials)]
    return f"SELECT {', '.join(outputs)} FROM (SELECT {keyed} FROM {child}){_group(keys)}"


def combine(compiler: Compiler, operator: o.Combine) -> str:
    """Partial aggregates of a group as one."""
    keys = names(operator.keys)
    kept = {column.id for column in operator.keys}
    sums = [
        f"{merged_sql(column)} AS {name(column)}"
        for column in operator.columns
        if column.id not in kept
    ]
    return f"SELECT {', '.join([*keys, *sums])} FROM {compiler.names[operator.child]}{_group(keys)}"


def nonzero(compiler: Compiler, operator: o.Nonzero) -> str:
    """Partial aggregates of which one is not zero."""
    some = " OR ".join(f"{name(column)} <> {zero_sql(column.type)}" for column in operator.partials)
    outputs = names(operator.columns)
    where = f" WHERE {some or 'false'}"
    return select_sql(outputs, compiler.names[operator.child], is_state=True, rest=where)


def regroup(compiler: Compiler, operator: o.Regroup) -> str:
    """Partial aggregates under other keys, or some of them."""
    where = "" if operator.predicate is None else f" WHERE {scalar_sql(operator.predicate)}"
    child = compiler.names[operator.child]
    return select_sql(assigned(operator.outputs), child, is_state=True, rest=where)


def finish(compiler: Compiler, operator: o.Finish) -> str:
    """The aggregates of the groups that have rows."""
    outputs = [*assigned(operator.outputs), "1L AS __m"]
    count = f"c{operator.count}"
    where = guarded(count, "true" if operator.is_global else f"{count} > 0")
    return f"SELECT {', '.join(outputs)} FROM {compiler.names[operator.child]} WHERE {where}"


def _group(keys: list[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _units(table: str, operator: Operator) -> str:
    """Repeat rows whose multiplicity is greater than one: a value is never multiplied."""
    return f"({units_sql(table, names(operator.columns))})"
