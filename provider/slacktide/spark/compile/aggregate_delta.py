"""The delta of an aggregate in one pass: what groups were and what they have become, side by side.

`Final(S + Δ) − Final(S)` (`optimizer/rules/aggregate.py`) names the old state twice, and Spark would read,
merge and shuffle it twice, and bring the two results together once more. Where each group is told by its
keys, one pass over `S + Δ` adds up both sums, and only groups that differ give rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment, Reference
from slacktide.algebra.sql import scalar_sql
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.spark.compile.compiler import Compiler
from slacktide.spark.compile.fragments import guarded, names
from slacktide.spark.tables.columns import name
from slacktide.spark.texts.bags import image_sql
from slacktide.spark.texts.partials import merged_sql


@dataclass(frozen=True, slots=True)
class AggregateDelta:
    """The groups of an aggregate before and after a change.

    Attributes:
        old: their partial aggregates before.
        change: those that are added.
        keys: by which groups are told apart.
        finish: how partial aggregates become rows.
    """

    old: Operator
    change: Operator
    keys: Columns
    finish: o.Finish


def aggregate_delta_of(operator: o.Consolidate) -> AggregateDelta | None:
    """What is consolidated, where it is the delta of an aggregate whose keys tell groups to the bit."""
    match operator.child:
        case o.Add((o.Finish(o.Combine(o.Add((old, change)) as new, keys)) as finish, former)):
            is_delta = (
                former == o.Negate(replace(finish, child=o.Combine(old, keys)))
                and new.fields == old.columns == change.columns
                and operator.columns == finish.columns
            )
            if is_delta and not finish.is_global and _are_shown_exactly(keys, finish):
                return AggregateDelta(old, change, keys, finish)
        case _:
            pass
    return None


def _are_shown_exactly(keys: Columns, finish: o.Finish) -> bool:
    """Whether rows of different groups differ, and those of one group have the same keys to the bit."""
    shown = {item.value.column for item in finish.outputs if isinstance(item.value, Reference)}
    is_exact = all(image_sql(name(key), key.type) == name(key) for key in keys)
    return bool(keys) and is_exact and shown.issuperset(key.id for key in keys)


def aggregate_delta_sql(compiler: Compiler, found: AggregateDelta) -> str:
    """The rows that groups have become, and with opposite multiplicity those that they were."""
    keyed = {key.id for key in found.keys}
    sums = [column for column in found.old.columns if column.id not in keyed]
    results = [i for i in found.finish.outputs if not _is_key(i, keyed)]
    keys, was = ", ".join(names(found.keys)), {column.id: f"{name(column)}_was" for column in sums}
    totals = [
        f"{merged_sql(column, condition)} AS {named}"
        for column in sums
        for condition, named in (
            ("", name(column)),
            (" FILTER (WHERE __is_old)", was[column.id]),
        )
    ]
    rows = "\nUNION ALL\n".join(
        f"SELECT {', '.join(names(found.old.columns))}, {is_old} AS __is_old FROM {compiler.names[part]}"
        for part, is_old in ((found.old, "true"), (found.change, "false"))
    )
    merged = f"SELECT {', '.join([keys, *totals])} FROM ({rows}) GROUP BY {keys}"
    now = _finished(found.finish.count, results, {})
    before = _finished(found.finish.count, results, was)
    both = f"SELECT {keys}, {now} AS __now, {before} AS __was FROM ({merged})"
    shown = ", ".join(
        f"{scalar_sql(item.value)} AS {name(item.column)}"
        if _is_key(item, keyed)
        else f"__row.{name(item.column)}"
        for item in found.finish.outputs
    )
    signed = "LATERAL VIEW stack(2, 1L, __now, -1L, __was) __signed AS __m, __row"
    return (
        f"SELECT {shown}, __m FROM (SELECT * FROM ({both}) WHERE NOT (__now <=> __was)) {signed}"
        " WHERE __row IS NOT NULL"
    )


def _is_key(item: Assignment, keyed: set[int]) -> bool:
    return isinstance(item.value, Reference) and item.value.column in keyed


def _finished(count: int, results: list[Assignment], was: dict[int, str]) -> str:
    """The results of a group as one value, NULL where it has no rows.

    They are sums, counts and quotients of them (`optimizer/rule_parts/additive.py`): no zero with a sign, no text
    and no map is among them, so that `<=>` tells them apart.
    """

    def named(column: int) -> str:
        return was.get(column, f"c{column}")

    values = [f"{scalar_sql(item.value, named)} AS {name(item.column)}" for item in results]
    alive = f"struct({', '.join(values) or '1'})"
    number = named(count)
    return guarded(number, f"CASE WHEN {number} > 0 THEN {alive} END")
