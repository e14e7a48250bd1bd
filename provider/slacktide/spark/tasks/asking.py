"""Questions over the tables of a task, whose answers the driver holds; nothing is written."""

from __future__ import annotations

from typing import Any

from slacktide.algebra.relation import Rel, Scan
from slacktide.algebra.sql import quoted
from slacktide.common.tree import of_type
from slacktide.program.balance import Balance, balances_of, clamped_sql
from slacktide.program.lightness import MOST_READ
from slacktide.program.operator import ByBalance, Consolidate, Operator, ReadChanges
from slacktide.spark.compile import step_sql
from slacktide.spark.tasks.run_context import RunContext
from slacktide.spark.tasks.task import Task
from slacktide.spark.tasks.task_leaves import TaskLeaves
from slacktide.spark.texts.overflow import overflowing_sql

Row = tuple[Any, ...]


def asked(leaves: TaskLeaves, outputs: str, operator: Operator, rest: str = "") -> list[Row]:
    """What a query over an operator gives.

    Args:
        leaves: of the task.
        outputs: what is selected, as SQL.
        operator: over the versions of the task.
        rest: of the query, after FROM.
    """
    is_light = leaves.is_light(operator)
    text = step_sql(operator, leaves, is_light=is_light)
    frame = leaves.shelf.query(f"SELECT {outputs} FROM (\n{text}\n){rest}", is_light=is_light)
    return [tuple(row) for row in frame.collect()]


def is_empty(
    context: RunContext, task: Task, leaves: TaskLeaves, changes: ReadChanges, part: Consolidate
) -> bool:
    """Whether nothing is left of the change of a source, or of the keys of a balance in it; asked once for all tasks of a run.

    False, and not asked, where it reads more than a light query does.
    """
    source, kept = changes.source, part.child
    read = frozenset(column.name for column in changes.columns)
    keys = (*(c.name for c in kept.keys), kept.balance) if isinstance(kept, ByBalance) else ()
    known = (source, read, keys, task.start.get(source, 0), task.end[source])
    if known not in context.empty:
        found = leaves.is_light(part) and not asked(leaves, "1", part, " LIMIT 1")
        context.empty[known] = found
    return context.empty[known]


def balances(
    context: RunContext, task: Task, leaves: TaskLeaves, source: str, key: tuple[str, ...]
) -> frozenset[Balance]:
    """What became of the keys of a source that changed; asked once for all tasks of a run."""
    known = (source, key, task.start.get(source, 0), task.end[source])
    if known not in context.balances:
        context.balances[known] = _balances(leaves, source, key)
    return context.balances[known]


def _balances(leaves: TaskLeaves, source: str, key: tuple[str, ...]) -> frozenset[Balance]:
    keys = ", ".join(map(quoted, key))
    balance = f"SELECT {clamped_sql('sum(__m)')} AS b FROM {leaves.changes(source)} GROUP BY {keys}"
    changed = leaves.tables.rows_changed()
    is_light = changed is not None and changed <= MOST_READ
    rows = leaves.shelf.query(f"SELECT DISTINCT b FROM ({balance})", is_light=is_light)
    return frozenset(one for row in rows.collect() for one in balances_of(int(row[0])))


def overflowing(leaves: TaskLeaves, relation: Rel) -> list[str]:
    """The keys of groups of a relation in which a sum overflows at the end of the run."""
    scanned = {scan.source: leaves.rows(scan.source, "after") for scan in of_type(relation, Scan)}
    sql = overflowing_sql(relation, scanned)
    return [] if sql is None else [str(row[0]) for row in leaves.shelf.session.sql(sql).collect()]
