"""Questions to the rows in memory: what holds of them, and what the queries answer, asked of DuckDB.

DuckDB answers in seconds what takes Spark an hour, which is what parameters are chosen by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.harness.tpcds_feed import KEYS, REFERENCES
from tests.harness.tpcds_parameters import workable_queries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Names that DuckDB finds ambiguous or reserved, and Spark does not.
_DIALECT = {
    "q58": ("order by item_id", "order by ss_items.item_id"),
    "q72": ("w_warehouse_name, d_week_seq", "w_warehouse_name, d1.d_week_seq"),
    "q77": ("returns", '"returns"'),
}


def answers(connection: DuckDBPyConnection) -> dict[str, list[str]]:
    """Give the rows of every answer, sorted as texts."""
    found = {}
    for name, text in workable_queries().items():
        asked = text.replace("`", '"')
        if name in _DIALECT:
            asked = asked.replace("_returns", "_RETURNS").replace(*_DIALECT[name])
        found[name] = sorted(map(repr, connection.execute(asked).fetchall()))
    return found


def is_void(rows: list[str]) -> bool:
    """Whether an answer has no rows, or only the one row of totals over nothing."""
    return not rows or (len(rows) == 1 and set(rows[0]) <= set("(None, 0)"))


def broken(connection: DuckDBPyConnection) -> Iterator[str]:
    """Give the keys that occur twice, and the references to rows that are not there."""
    for table, references in REFERENCES.items():
        for column, target in references.items():
            other, key = target.split(".")
            lost = (
                f"SELECT 1 FROM {table} ANTI JOIN {other} ON {column} = {key} "
                f"WHERE {column} IS NOT NULL LIMIT 1"
            )
            if connection.execute(lost).fetchall():
                yield f"{column} -> {target}"
        keys = ", ".join(KEYS[table])
        twice = f"SELECT 1 FROM {table} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"
        if connection.execute(twice).fetchall():
            yield f"{table} ({keys})"
