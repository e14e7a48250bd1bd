"""The SQL of operators that take each row by itself, or rows in an order."""

from __future__ import annotations

from slacktide.algebra.sql import expand_sql, generate_sql, scalar_sql
from slacktide.program import operator as o
from slacktide.spark.compile.compiler import Compiler
from slacktide.spark.compile.fragments import assigned, names, of_table, select_sql, typed
from slacktide.spark.tables.columns import name
from slacktide.spark.texts.first import after_sql, first_sql


def select_rows(compiler: Compiler, operator: o.Select) -> str:
    """The rows for which a predicate is true."""
    child = operator.child
    where = f" WHERE {scalar_sql(operator.predicate)}"
    return select_sql(names(child.columns), compiler.names[child], is_state=False, rest=where)


def map_rows(compiler: Compiler, operator: o.Map) -> str:
    """Values of each row."""
    return select_sql(assigned(operator.outputs), compiler.names[operator.child], is_state=False)


def add(compiler: Compiler, operator: o.Add) -> str:
    """The rows of several operators."""
    return "\nUNION ALL\n".join(
        select_sql(
            [
                f"{name(own)} AS {name(column)}"
                for own, column in zip(child.columns, operator.fields, strict=True)
            ],
            compiler.names[child],
            is_state=child.is_state,
        )
        for child in operator.children
    )


def negate(compiler: Compiler, operator: o.Negate) -> str:
    """Rows with opposite multiplicities."""
    outputs = [*names(operator.columns), "-__m AS __m"]
    return f"SELECT {', '.join(outputs)} FROM {compiler.names[operator.child]}"


def expand(compiler: Compiler, operator: o.ExpandBag) -> str:
    """Several rows of each row."""
    made = [f"e.{column}" for column in names(operator.fields)]
    view = expand_sql(operator.projections, operator.fields, scalar_sql)
    child = compiler.names[operator.child]
    return f"SELECT {', '.join([*made, o.MULTIPLICITY])} FROM {child} {view}"


def generate(compiler: Compiler, operator: o.GenerateBag) -> str:
    """Each row with those that a generator makes of it."""
    view = generate_sql(scalar_sql(operator.generator), operator.fields, outer=operator.outer)
    return select_sql(
        names(operator.columns), compiler.names[operator.child], is_state=False, rest=f" {view}"
    )


def first(compiler: Compiler, operator: o.First) -> str:
    """The first rows in an order."""
    return first_sql(
        compiler.rows(operator.child), typed(operator.columns), operator.order, operator.count
    )


def up_to(compiler: Compiler, operator: o.UpTo) -> str:
    """The rows up to a fence in an order."""
    child, fence = compiler.names[operator.child], compiler.names[operator.fence]
    outputs = [f"l.{column}" for column in [*names(operator.columns), o.MULTIPLICITY]]
    after = after_sql(operator.order, of_table("l"), of_table("f"))
    return f"SELECT {', '.join(outputs)} FROM {child} l LEFT ANTI JOIN {fence} f ON {after}"
