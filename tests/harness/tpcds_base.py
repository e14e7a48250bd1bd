"""Rows of TPC-DS from DuckDB's dsdgen, small and dense: facts of scale 0.01, places of scale 0.5.

At scale 0.01 there is one store, one warehouse and one reason; most queries compare several. The tables
of places, pages, promotions and reasons therefore come from a greater scale, and facts name one of
them by a hash of their order. Days outside 1992 to 2004 and times within a minute are left out; sales
of such a time are of its whole minute. Values that queries compare by equality are fewer than the
benchmark's, so that each has rows: buyers and their demographics, managers, makers and colours of
items, and places of addresses. Every fourth order is of the same day and buyer in all channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.harness.tpcds import SCHEMAS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FACTS, _PLACES = 0.01, 0.5
_GREATER = {
    "call_center": 3,
    "promotion": 150,
    "reason": 17,
    "store": 6,
    "warehouse": 2,
    "web_page": 30,
    "web_site": 15,
}
_WHERE = {"date_dim": "d_year BETWEEN 1992 AND 2004", "time_dim": "t_second = 0"}
# Column -> the table that it names a row of, and what decides which: equal values, equal row.
_SPREAD = {
    "ss_store_sk": ("store", "ss_ticket_number"),
    "sr_store_sk": ("store", "sr_ticket_number"),
    "ss_promo_sk": ("promotion", "ss_ticket_number, ss_item_sk"),
    "cs_promo_sk": ("promotion", "cs_order_number, cs_item_sk"),
    "ws_promo_sk": ("promotion", "ws_order_number, ws_item_sk"),
    "cs_call_center_sk": ("call_center", "cs_order_number"),
    "cr_call_center_sk": ("call_center", "cr_order_number"),
    "cs_warehouse_sk": ("warehouse", "cs_order_number, cs_item_sk"),
    "cr_warehouse_sk": ("warehouse", "cr_order_number, cr_item_sk"),
    "ws_warehouse_sk": ("warehouse", "ws_order_number, ws_item_sk"),
    "inv_warehouse_sk": ("warehouse", "inv_date_sk, inv_item_sk"),
    "ws_web_site_sk": ("web_site", "ws_order_number"),
    "ws_web_page_sk": ("web_page", "ws_order_number, ws_item_sk"),
    "wr_web_page_sk": ("web_page", "wr_order_number, wr_item_sk"),
    "sr_reason_sk": ("reason", "sr_ticket_number, sr_item_sk"),
    "cr_reason_sk": ("reason", "cr_order_number, cr_item_sk"),
    "wr_reason_sk": ("reason", "wr_order_number, wr_item_sk"),
}
_TIMES = (
    "ss_sold_time_sk",
    "sr_return_time_sk",
    "cs_sold_time_sk",
    "cr_returned_time_sk",
    "ws_sold_time_sk",
    "wr_returned_time_sk",
)
# Columns -> how many values they have. Rows of the greater scale name items and customers of the small one.
BUYERS = 200
_FOLDED = {
    "c_current_cdemo_sk": 1400,
    "i_manager_id": 10,
    "i_manufact_id": 30,
    "p_item_sk": 180,
    "wp_customer_sk": 1000,
} | {
    f"{line}_{role}{name}_sk": size
    for line, roles in {
        "ss": ("",),
        "sr": ("",),
        "cs": ("bill_", "ship_"),
        "cr": ("refunded_", "returning_"),
        "ws": ("bill_", "ship_"),
        "wr": ("refunded_", "returning_"),
    }.items()
    for role in roles
    for name, size in (("customer", BUYERS), ("cdemo", 1400))
}
_COLOURS = [
    "orchid",
    "green",
    "powder",
    "bisque",
    "cyan",
    "light",
    "cream",
    "royal",
    "navy",
    "steel",
]
_PLACES_OF_ADDRESSES = 16
_PLACE = ("city", "county", "state", "zip", "country", "gmt_offset")


def generate(connection: DuckDBPyConnection) -> None:
    """Make the 24 tables in the main schema; always the same rows."""
    connection.execute("LOAD tpcds")
    for schema, scale in (("facts", _FACTS), ("places", _PLACES)):
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"CALL dsdgen(sf={scale}, schema='{schema}')")
    for table, columns in SCHEMAS.items():
        schema = "places" if table in _GREATER else "facts"
        values = ", ".join(f"{_value(str(c['name']))} AS {c['name']}" for c in columns)
        connection.execute(
            f"CREATE TABLE {table} AS SELECT {values} FROM {schema}.{table} "
            f"WHERE {_WHERE.get(table, 'true')}"
        )
    connection.execute(_gather_addresses())
    for sales, line in (("catalog_sales", "cs"), ("web_sales", "ws")):
        connection.execute(_same_day(sales, line))
    for schema in ("facts", "places"):
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


def _gather_addresses() -> str:
    """Move all addresses to a few places, the stores' own among them."""
    taken = ", ".join(f"ca_{name} = there.{name}" for name in _PLACE)
    moved = ", ".join(f"ca_{name} AS {name}" for name in _PLACE)
    stores = ", ".join(f"s_{name}" for name in _PLACE)
    return (
        f"UPDATE customer_address SET {taken} FROM "
        f"(SELECT ca_address_sk AS place, {moved} FROM facts.customer_address "
        f"WHERE ca_address_sk < {_PLACES_OF_ADDRESSES} UNION ALL "
        f"SELECT 0, {stores} FROM places.store WHERE s_store_sk = 1) there "
        f"WHERE ca_address_sk % {_PLACES_OF_ADDRESSES} = place"
    )


def _same_day(sales: str, line: str) -> str:
    """Give every fourth order the day and the buyer of the ticket with its number."""
    return (
        f"UPDATE {sales} SET {line}_bill_customer_sk = buyer, {line}_sold_date_sk = day, "
        f"{line}_ship_date_sk = {line}_ship_date_sk + day - {line}_sold_date_sk FROM "
        "(SELECT ss_ticket_number AS number, max(ss_customer_sk) AS buyer, "
        "max(ss_sold_date_sk) AS day FROM store_sales GROUP BY ss_ticket_number) "
        f"WHERE {line}_order_number = number AND number % 4 = 0"
    )


def _value(column: str) -> str:
    """Give the expression of a column; what is unknown stays so."""
    if column in _SPREAD:
        table, deciding = _SPREAD[column]
        place = f"CAST(1 + hash({deciding}) % {_GREATER[table]} AS INT)"
        return f"CASE WHEN {column} IS NOT NULL THEN {place} END"
    if column in _TIMES:
        return f"CAST({column} - {column} % 60 AS INT)"
    if column == "i_color":
        return f"list_extract({_COLOURS}, CAST(1 + hash(i_item_sk) % {len(_COLOURS)} AS INT))"
    if column in _FOLDED:
        return f"CAST(1 + {column} % {_FOLDED[column]} AS INT)"
    return column
