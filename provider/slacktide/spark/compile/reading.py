"""The SQL of operators that read sources, chains and texts."""

from __future__ import annotations

from slacktide.algebra.sql import quoted, relation_sql
from slacktide.program import operator as o
from slacktide.program.multiplicity import ignores_copies
from slacktide.spark.compile.compiler import Compiler
from slacktide.spark.compile.fragments import names, positions, select_sql
from slacktide.spark.compile.gathering import read_hint
from slacktide.spark.tables.columns import name


def read_source(compiler: Compiler, operator: o.ReadChanges | o.ReadSnapshot) -> str:
    """The changes or a snapshot of a source."""
    if isinstance(operator, o.ReadChanges):
        table = compiler.leaves.changes(operator.source)
    else:
        table = compiler.leaves.snapshot(operator.source, operator.moment)
    outputs = [f"{quoted(column.name)} AS {name(column)}" for column in operator.fields]
    hint = read_hint(operator, compiler.gathered)
    return select_sql(outputs, table, is_state=False, hint=hint)


def read_segments(compiler: Compiler, operator: o.ReadSegments) -> str:
    """A chain from one of its segments on."""
    table = compiler.leaves.pieces(
        operator.chain, operator.fields, operator.first, is_bag=operator.is_bag
    )
    hint = read_hint(operator, compiler.gathered)
    return select_sql(positions(operator.fields), table, is_state=not operator.is_bag, hint=hint)


def read_chain(compiler: Compiler, operator: o.ReadBag | o.ReadState | o.ReadSaved) -> str:
    """A chain as it is stored, or as this run wrote it."""
    if isinstance(operator, o.ReadSaved):
        is_bag = operator.is_bag
        table = compiler.leaves.saved(operator.chain, operator.fields, is_bag=is_bag)
    else:
        is_bag = not operator.is_state
        table = compiler.leaves.stored(operator.chain, operator.fields, is_bag=is_bag)
    hint = read_hint(operator, compiler.gathered)
    return select_sql(positions(operator.fields), table, is_state=not is_bag, hint=hint)


def batch(compiler: Compiler, operator: o.Batch) -> str:
    """The text of a view."""
    table = compiler.leaves.batch(operator.view)
    return f"SELECT {', '.join(positions(operator.fields))}, 1L AS __m FROM {table}"


def evaluate(compiler: Compiler, operator: o.Evaluate) -> str:
    """A relation over the rows of operators; over their values where it does not matter how often each is there."""
    rows_of = compiler.values if ignores_copies(operator.query) else compiler.rows
    tables = {item.name: f"({rows_of(item.operator)})" for item in operator.inputs}
    outputs = ", ".join([*names(operator.columns), "1L AS __m"])
    hint = read_hint(operator, compiler.gathered)
    return f"SELECT {hint}{outputs} FROM ({relation_sql(operator.query, tables)})"
