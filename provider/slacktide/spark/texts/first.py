"""The first rows of an order in SQL: cutting off what lies behind a fence, and setting a fence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slacktide.algebra.scalar import SortKey
from slacktide.algebra.sql import scalar_sql, sort_key_sql
from slacktide.spark.texts.bags import Typed, consolidate_sql

Of = Callable[[int], str]


def first_sql(rows: str, columns: Typed, order: Sequence[SortKey], count: int) -> str:
    """The first of plain rows, those that tie with the last of them, and the fence, as a bag.

    The rank is the only thing that is asked of all rows, so that Spark drops what lies behind
    before it brings the rows together.

    Args:
        rows: the query that gives them.
        columns: of the rows; the last one marks fences.
        order: by which rows are first.
        count: how many rows are first.
    """
    names = [name for name, _ in columns]
    fence = names[-1]
    keys = ", ".join(sort_key_sql(key, scalar_sql(key.value)) for key in order)
    window = f"PARTITION BY {fence} ORDER BY {keys}"
    ranked = f"SELECT *, rank() OVER ({window}) AS __rank FROM ({rows})"
    kept = f"SELECT * FROM ({ranked}) WHERE __rank <= {count}"
    placed = (
        f"SELECT *, count_if(NOT {fence}) OVER () >= {count} AS __full,"
        f" row_number() OVER (PARTITION BY {fence} ORDER BY __rank DESC) AS __place FROM ({kept})"
    )
    # A row stays what it is; the last of enough rows is the fence as well, in place of former ones.
    marks = (
        f"CASE WHEN NOT __full THEN array({fence}) WHEN {fence} THEN CAST(array() AS ARRAY<BOOLEAN>)"
        " WHEN __place = 1 THEN array(false, true) ELSE array(false) END"
    )
    listed = ", ".join([*names[:-1], f"__fence AS {fence}", "1L AS __m"])
    told = f"SELECT {listed} FROM ({placed}) LATERAL VIEW explode({marks}) __fences AS __fence"
    return consolidate_sql(f"({told})", columns)


def after_sql(order: Sequence[SortKey], own: Of, other: Of) -> str:
    """The condition that a row comes after another one; NULL where not, sometimes.

    Args:
        order: of the rows.
        own: spells the columns of the row.
        other: spells those of the other.
    """
    condition = ""
    for key in reversed(order):
        left, right = scalar_sql(key.value, own), scalar_sql(key.value, other)
        sign = ">" if key.ascending else "<"
        later, earlier = (left, right) if key.nulls_first else (right, left)
        comes = f"{left} {sign} {right} OR ({later} IS NOT NULL AND {earlier} IS NULL)"
        tied = f" OR ({left} <=> {right} AND ({condition}))" if condition else ""
        condition = f"{comes}{tied}"
    return condition


def is_dry_sql(table: str, fence: int, least: int) -> str:
    """The question whether stored first rows are fewer than that, and there is a fence.

    Args:
        table: with columns by position and ``__m``.
        fence: place of the column that marks it.
        least: how many rows are enough.
    """
    rows = f"coalesce(sum(__m) FILTER (WHERE NOT c{fence}), 0)"
    return f"SELECT count_if(c{fence}) > 0 AND {rows} < {least} FROM {table}"
