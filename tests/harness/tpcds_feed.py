"""Keys and references of TPC-DS, and its tables as files of change feeds.

The history of all batches is made at once in a folder beside the lake, with plain SQL on the rows
in memory; the changes of a table are how it differs, by its key, from what it was. `arrive` then
copies the files of a batch to the lake.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_base import generate
from tests.harness.tpcds_changes import changed_tables, statements

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

KEYS = {table: (str(columns[0]["name"]),) for table, columns in SCHEMAS.items()} | {
    "catalog_returns": ("cr_item_sk", "cr_order_number"),
    "catalog_sales": ("cs_item_sk", "cs_order_number"),
    "inventory": ("inv_date_sk", "inv_item_sk", "inv_warehouse_sk"),
    "store_returns": ("sr_item_sk", "sr_ticket_number"),
    "store_sales": ("ss_item_sk", "ss_ticket_number"),
    "web_returns": ("wr_item_sk", "wr_order_number"),
    "web_sales": ("ws_item_sk", "ws_order_number"),
}
# How the name of a column ends -> what it refers to.
_TARGETS = {
    "_date_sk": "date_dim.d_date_sk",
    "_time_sk": "time_dim.t_time_sk",
    "_item_sk": "item.i_item_sk",
    "_customer_sk": "customer.c_customer_sk",
    "_cdemo_sk": "customer_demographics.cd_demo_sk",
    "_hdemo_sk": "household_demographics.hd_demo_sk",
    "_addr_sk": "customer_address.ca_address_sk",
    "_income_band_sk": "income_band.ib_income_band_sk",
    "_store_sk": "store.s_store_sk",
    "_promo_sk": "promotion.p_promo_sk",
    "_reason_sk": "reason.r_reason_sk",
    "_warehouse_sk": "warehouse.w_warehouse_sk",
    "_call_center_sk": "call_center.cc_call_center_sk",
    "_catalog_page_sk": "catalog_page.cp_catalog_page_sk",
    "_ship_mode_sk": "ship_mode.sm_ship_mode_sk",
    "_web_page_sk": "web_page.wp_web_page_sk",
    "_web_site_sk": "web_site.web_site_sk",
}
REFERENCES = {
    table: {
        name: target
        for name in (str(column["name"]) for column in columns)
        for ending, target in _TARGETS.items()
        if name.endswith(ending) and name != target.partition(".")[2]
    }
    for table, columns in SCHEMAS.items()
}


def generate_history(root: Path, *, seed: int, kinds: list[str]) -> None:
    """Write base and batches to ``<root>/<number>/<table>.parquet``; the base is number 0.

    Args:
        root: a directory that is not there yet.
        seed: the same seed gives the same files.
        kinds: of each batch "plain", "empty" or "late": lines of new orders come one batch later
            than the rest of the order and than their returns.
    """
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    generate(connection)
    for table in SCHEMAS:
        _write(connection, root, 0, table, f"SELECT *, 'insert' AS _change_type FROM {table}")
    for number, kind in enumerate(kinds, start=1):
        advance(connection, root, seed=seed, number=number, kind=kind)
    connection.close()


def advance(
    connection: DuckDBPyConnection, root: Path, *, seed: int, number: int, kind: str
) -> None:
    """Change the rows in memory as a batch says, and write how each table differs."""
    tables = changed_tables(number)
    for table in tables:
        connection.execute(f"CREATE TABLE before_{table} AS FROM {table}")
    for statement in statements(seed, number, kind):
        connection.execute(statement)
    for table in tables:
        _write(connection, root, number, table, _difference(table))
        connection.execute(f"DROP TABLE before_{table}")


def arrive(root: Path, lake: Path, number: int) -> None:
    """Copy the files of a batch to ``<lake>/<table>/``; those that are there stay as they are."""
    for file in sorted((root / str(number)).glob("*.parquet")):
        target = lake / file.stem / f"batch-{number:03d}.parquet"
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = target.with_name(f".{target.name}")
        shutil.copyfile(file, hidden)
        hidden.replace(target)


def write_plain(lake: Path, plain: Path) -> dict[str, str]:
    """Write the rows that the files of the lake add up to; give a directory for each table."""
    import duckdb
    import pyarrow.parquet as pq

    connection = duckdb.connect(config={"threads": 1})
    for table, columns in SCHEMAS.items():
        names = ", ".join(str(column["name"]) for column in columns)
        arrived = f"SELECT {names} FROM '{lake / table}/*.parquet' WHERE _change_type"
        rows = connection.execute(
            f"{arrived} IN ('insert', 'update_postimage')"
            f" EXCEPT ALL {arrived} IN ('delete', 'update_preimage')"
        ).fetch_arrow_table()
        (plain / table).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, plain / table / "rows.parquet")
    connection.close()
    return {table: str(plain / table) for table in SCHEMAS}


def _difference(table: str) -> str:
    before, keys = f"before_{table}", ", ".join(KEYS[table])
    both = f"FROM {before} old JOIN {table} new USING ({keys}) WHERE old IS DISTINCT FROM new"
    return (
        f"SELECT *, 'delete' AS _change_type FROM {before} ANTI JOIN {table} USING ({keys})"
        f" UNION ALL SELECT old.*, 'update_preimage' {both}"
        f" UNION ALL SELECT new.*, 'update_postimage' {both}"
        f" UNION ALL SELECT *, 'insert' FROM {table} ANTI JOIN {before} USING ({keys})"
    )


def _write(connection: DuckDBPyConnection, root: Path, number: int, table: str, sql: str) -> None:
    import pyarrow.parquet as pq

    order = ", ".join((*KEYS[table], "_change_type DESC"))
    rows = connection.execute(f"SELECT * FROM ({sql}) ORDER BY {order}").fetch_arrow_table()
    target = root / str(number) / f"{table}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows.cast(_arrow_schema(rows.schema, table)), target)


def _arrow_schema(schema: pa.Schema, table: str) -> pa.Schema:
    """Give the same columns; those of the key and the kind of change are never null."""
    import pyarrow as pa

    present = {*KEYS[table], "_change_type"}
    return pa.schema([field.with_nullable(field.name not in present) for field in schema])
