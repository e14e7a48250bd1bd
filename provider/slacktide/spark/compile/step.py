"""The text of a step, and of the keys by which one reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

from slacktide.algebra.scalar import Scalar
from slacktide.algebra.sql import scalar_sql
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.materialising import worked_out_first
from slacktide.program.operator import Operator, operator_inputs
from slacktide.spark.compile import groups, joins, reading, rows
from slacktide.spark.compile.compiler import Compiler, Rules
from slacktide.spark.compile.fragments import select_sql
from slacktide.spark.compile.gathering import NOTHING, gathered
from slacktide.spark.tables.columns import stored
from slacktide.spark.tables.leaves import Leaves

RULES: Final[Rules] = {
    o.ReadChanges: reading.read_source,
    o.ReadSnapshot: reading.read_source,
    o.ReadBag: reading.read_chain,
    o.ReadState: reading.read_chain,
    o.ReadSegments: reading.read_segments,
    o.ReadSaved: reading.read_chain,
    o.Batch: reading.batch,
    o.Evaluate: reading.evaluate,
    o.Select: rows.select_rows,
    o.Map: rows.map_rows,
    o.ExpandBag: rows.expand,
    o.GenerateBag: rows.generate,
    o.Add: rows.add,
    o.Negate: rows.negate,
    o.First: rows.first,
    o.UpTo: rows.up_to,
    o.JoinBags: joins.join,
    o.SemiBags: joins.semi,
    o.Flips: joins.flips,
    o.Touched: joins.touched,
    o.Consolidate: groups.consolidate,
    o.ByBalance: groups.by_balance,
    o.Summarise: groups.summarise,
    o.Combine: groups.combine,
    o.Nonzero: groups.nonzero,
    o.Regroup: groups.regroup,
    o.Finish: groups.finish,
}


def step_sql(root: Operator, leaves: Leaves, *, is_light: bool) -> str:
    """Give the SQL text whose rows are those of an operator, columns ``c0``, ``c1``, … by position.

    The columns are followed by ``__m`` in the bag form.

    Args:
        root: the operator.
        leaves: what it stands on.
        is_light: whether it reads few rows, as `slacktide.spark.sessions.light` says.
    """
    compiler = _compiled(root, leaves, is_light=is_light)
    outputs = [stored(column, i) for i, column in enumerate(root.columns)]
    return compiler.text(select_sql(outputs, compiler.names[root], is_state=root.is_state))


def keys_sql(
    root: Operator, keys: Sequence[Scalar], leaves: Leaves, most: int | None, *, is_light: bool
) -> str:
    """Give the SQL text for the values of some keys over an operator.

    Args:
        root: the operator.
        keys: over its columns.
        leaves: what it stands on.
        most: how many distinct values at most; None for all of them, in one pass, with repetitions.
        is_light: as of `step_sql`.
    """
    compiler = _compiled(root, leaves, is_light=is_light)
    outputs = ", ".join(f"{scalar_sql(key)} AS k{i}" for i, key in enumerate(keys))
    source = compiler.names[root]
    if most is None:
        return compiler.text(f"SELECT {outputs} FROM {source}")
    return compiler.text(f"SELECT DISTINCT {outputs} FROM {source} LIMIT {most}")


def _compiled(root: Operator, leaves: Leaves, *, is_light: bool) -> Compiler:
    first = worked_out_first(root, leaves.most_changed, leaves.is_held)
    operators = _down_to(first, root)
    uses = Counter(below for one in operators if one not in first for below in operator_inputs(one))
    found = gathered(root, leaves.fits_one_task) if is_light else NOTHING
    compiler = Compiler(leaves, RULES, found, may_work_out=not is_light)
    for operator in operators:
        if operator in first:
            compiler.hold(operator)
        else:
            compiler.define(operator, is_shared=uses[operator] > 1)
    return compiler


def _down_to(first: Collection[Operator], root: Operator) -> list[Operator]:
    """The operators of a step, each after its inputs, but for those that stand below what is worked out first alone."""
    read, stack = {root}, [root]
    while stack:
        one = stack.pop()
        below = set() if one in first else set(operator_inputs(one)) - read
        read |= below
        stack += below
    return [one for one in of_type(root, Operator) if one in read]
