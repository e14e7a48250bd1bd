"""Rows and batches of TPC-DS are as declared, and its queries say something about them.

DuckDB, which makes the rows, is asked here, so that no JVM has to run; three of the 103 texts are not of
its dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.tpcds_views import SEED, kinds
from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_base import generate
from tests.harness.tpcds_feed import KEYS, REFERENCES, advance
from tests.harness.tpcds_parameters import workable_queries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCHES = 8
OTHER_DIALECT = {"q58", "q72", "q77"}


@dataclass
class Seen:
    """What was seen after the base and after each batch."""

    answers: list[dict[str, list[str]]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    rows: list[dict[str, int]] = field(default_factory=list)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    import duckdb
    import pyarrow.parquet as pq

    root = tmp_path_factory.mktemp("tpcds")
    found = Seen()
    with duckdb.connect(config={"threads": 1}) as connection:
        generate(connection)
        look(connection, found)
        for number, kind in enumerate(kinds(BATCHES), start=1):
            advance(connection, root, seed=SEED, number=number, kind=kind)
            look(connection, found)
            files = (root / str(number)).glob("*.parquet")
            found.rows.append({file.stem: pq.read_metadata(file).num_rows for file in files})
        yield found


def look(connection: DuckDBPyConnection, found: Seen) -> None:
    found.answers.append(
        {
            name: sorted(map(repr, connection.execute(text.replace("`", '"')).fetchall()))
            for name, text in workable_queries().items()
            if name not in OTHER_DIALECT
        }
    )
    for table, references in REFERENCES.items():
        for column, target in references.items():
            other, key = target.split(".")
            if connection.execute(
                f"SELECT 1 FROM {table} ANTI JOIN {other} ON {column} = {key} "
                f"WHERE {column} IS NOT NULL LIMIT 1"
            ).fetchall():
                found.broken.append(f"{column} -> {target}")
        keys = ", ".join(KEYS[table])
        if connection.execute(
            f"SELECT 1 FROM {table} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"
        ).fetchall():
            found.broken.append(f"{table} ({keys})")


def is_void(rows: list[str]) -> bool:
    return not rows or (len(rows) == 1 and set(rows[0]) <= set("(None, 0)"))


@pytest.mark.timeout(600)
def test_keys_and_references_hold_after_every_batch(seen: Seen) -> None:
    assert seen.broken == []


@pytest.mark.timeout(600)
def test_every_batch_but_the_empty_one_changes_facts_and_masters(seen: Seen) -> None:
    for kind, rows in zip(kinds(BATCHES), seen.rows, strict=True):
        changed = {table for table, count in rows.items() if count}
        facts = {"store_sales", "catalog_returns", "web_sales", "inventory"}
        wanted = facts | {"item", "customer", "customer_address"}
        assert changed >= wanted if kind != "empty" else not changed
    assert set(seen.rows[3]) == set(SCHEMAS)


@pytest.mark.timeout(600)
def test_answers_are_not_empty_and_change_in_half_of_the_batches(seen: Seen) -> None:
    filled, lively = set(), set()
    for name in seen.answers[0]:
        history = [answers[name] for answers in seen.answers]
        if not any(map(is_void, history)):
            filled.add(name)
        moves = sum(new != old for old, new in zip(history, history[1:], strict=False))
        if moves >= BATCHES / 2:
            lively.add(name)
    assert len(filled) >= 98
    assert len(filled & lively) >= 93
