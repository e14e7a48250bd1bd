"""Rows of a benchmark that arrive in a pattern, as those of tempura.md §7.2: instant by instant, by a hash of their keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Arriving:
    """How many of the parts are there at the first instant, and come at each later one.

    Attributes:
        parts: into which the rows of a table fall, by their key.
        first: parts of the first instant.
        later: parts of each later one.
        losing: tables of which an eighth of the first rows goes at each later instant.
        changing: tables to which rows come at later instants; None: all that have a key.
    """

    parts: int
    first: int
    later: int
    losing: frozenset[str] = frozenset()
    changing: frozenset[str] | None = None

    def rows(self, table: str, key: Collection[str], instant: int) -> str:
        """Select the rows that come at an instant, and those that go; nothing where there are none.

        Args:
            table: where they are.
            key: its columns; none where the table is there at once and never changes.
            instant: from 1 on.
        """
        come = f"FROM {table} SELECT *, 'insert' AS _change_type"
        if not key:
            return come if instant == 1 else ""
        if instant > 1 and self.changing is not None and table not in self.changing:
            return ""
        columns = ", ".join(key)
        part, eighth = f"hash({columns}) % {self.parts}", f"hash({columns}, 'gone') % 8"
        start = self.first + (instant - 2) * self.later
        low, high = (0, self.first) if instant == 1 else (start, start + self.later)
        come += f" WHERE {part} >= {low} AND {part} < {high}"
        if instant == 1 or table not in self.losing:
            return come
        gone = f"{part} < {self.first} AND {eighth} = {instant - 2}"
        return f"{come} UNION ALL FROM {table} SELECT *, 'delete' AS _change_type WHERE {gone}"


def write_histories(
    connection: DuckDBPyConnection,
    root: Path,
    patterns: Mapping[str, Arriving],
    keys: Mapping[str, Collection[str]],
    instants: int,
) -> None:
    """Write `<root>/<pattern>/<instant>/<table>.parquet`, where a table has rows that come or go.

    Args:
        connection: has the tables.
        root: of what is written.
        patterns: by name.
        keys: of each table; none where it never changes.
        instants: how many.
    """
    for pattern, table, before in product(patterns, keys, range(instants)):
        chosen = patterns[pattern].rows(table, keys[table], before + 1)
        if chosen:
            target = root / pattern / str(before + 1) / f"{table}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
            connection.execute(f"COPY ({chosen}) TO '{target}' (FORMAT parquet)")
