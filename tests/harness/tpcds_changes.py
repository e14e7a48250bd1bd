"""What a batch does to the tables of TPC-DS, as SQL statements.

Orders leave with their returns, are copied under new numbers for other customers, and lines get another
quantity; lines are returned later. Rows of the small tables change here and there. What is picked
follows from a hash of seed, batch, purpose and key, so it does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.harness.tpcds import SCHEMAS
from tests.harness.tpcds_base import BUYERS
from tests.harness.tpcds_channels import CHANNELS, Channel

_CALM = frozenset({"date_dim", "time_dim", "income_band", "ship_mode"})
_CUSTOMERS = 1000  # those of the base


def changed_tables(number: int) -> list[str]:
    """Give the tables that a batch has a file of: the calm ones only sometimes, and without rows."""
    return [table for table in SCHEMAS if table not in _CALM or number % 4 == 0]


def statements(seed: int, number: int, kind: str) -> Iterator[str]:
    """Give the statements of a batch, one after the other."""
    if kind == "empty":
        return
    draw = _Draw(seed, number)
    for channel in CHANNELS:
        yield from _held_back(channel)
        yield from _orders(channel, draw)
        if kind == "late":
            yield from _hold_back(channel, draw)
        yield from _returns(channel, draw)
    yield from _masters(draw)


class _Draw:
    """Conditions and numbers that follow from a hash."""

    def __init__(self, seed: int, number: int) -> None:
        self._seed = f"{seed}, {number}"

    def some(self, share: float, purpose: str, *keys: str) -> str:
        """Give the condition that holds for a share of the keys."""
        return f"{self.number(1_000_000, purpose, *keys)} < {round(share * 1_000_000)}"

    def number(self, below: int, purpose: str, *keys: str) -> str:
        """Give a whole number from 0."""
        return f"CAST(hash({self._seed}, '{purpose}', {', '.join(keys)}) % {below} AS INT)"


def _orders(channel: Channel, draw: _Draw) -> Iterator[str]:
    """Orders leave whole, new ones come, and lines get another quantity."""
    sales, line = channel.sales, channel.line
    order, item = f"{line}_{channel.order}", f"{line}_item_sk"
    back = f"{channel.back}_{channel.order}"
    yield f"DELETE FROM {sales} WHERE {draw.some(0.012, 'gone', order)}"
    yield f"DELETE FROM {channel.returns} WHERE {draw.some(0.012, 'gone', back)}"
    yield f"CREATE TEMP TABLE last AS SELECT max({order}) AS number FROM {sales}"
    buyer = f"{line}_bill_customer_sk" if channel.ships else f"{line}_customer_sk"
    yield (
        "CREATE TEMP TABLE buyers AS SELECT list(c_customer_sk ORDER BY c_customer_sk) AS them "
        f"FROM customer WHERE c_customer_sk <= {BUYERS} OR c_customer_sk > {_CUSTOMERS}"
    )
    place = f"1 + {draw.number(BUYERS, 'buyer', order)}"
    other = f"(SELECT list_extract(list_reverse(them), {place}) FROM buyers)"
    replaced = f"CASE WHEN {order} % 2 = 0 THEN {buyer} ELSE {other} END AS {buyer}"
    yield (
        f"INSERT INTO {sales} SELECT * REPLACE ({replaced}, CAST((SELECT number FROM last) "
        f"+ dense_rank() OVER (ORDER BY {order}) AS INT) AS {order}) "
        f"FROM {sales} WHERE {draw.some(0.02, 'copied', order)}"
    )
    chosen = f"({draw.some(0.012, 'quantity', order, item)} OR {order} > (SELECT number FROM last))"
    quantity = f"1 + {draw.number(100, 'how many', order, item)}"
    yield f"UPDATE {sales} SET {line}_quantity = {quantity} WHERE {chosen}"
    extended = {
        "ext_discount_amt": f"({line}_list_price - {line}_sales_price)",
        "ext_sales_price": f"{line}_sales_price",
        "ext_wholesale_cost": f"{line}_wholesale_cost",
        "ext_list_price": f"{line}_list_price",
    }
    yield _update(sales, line, {n: f"{p} * {line}_quantity" for n, p in extended.items()}, chosen)
    paid = f"({line}_ext_sales_price - {line}_coupon_amt)"
    net = {
        "net_paid": paid,
        "net_paid_inc_tax": f"{paid} + {line}_ext_tax",
        "net_profit": f"{paid} - {line}_ext_wholesale_cost",
    }
    if channel.ships:
        net["net_paid_inc_ship"] = f"{paid} + {line}_ext_ship_cost"
        net["net_paid_inc_ship_tax"] = f"{paid} + {line}_ext_ship_cost + {line}_ext_tax"
    yield _update(sales, line, net, chosen)


def _hold_back(channel: Channel, draw: _Draw) -> Iterator[str]:
    """Take some lines of new orders out; what is returned of them may come before them."""
    order, item = f"{channel.line}_{channel.order}", f"{channel.line}_item_sk"
    chosen = f"{order} > (SELECT number FROM last) AND {draw.some(0.3, 'late', order, item)}"
    yield f"INSERT INTO late_{channel.sales} FROM {channel.sales} WHERE {chosen}"
    yield f"DELETE FROM {channel.sales} WHERE {chosen}"
    yield _return(channel, f"late_{channel.sales}", draw.some(0.5, "early", order, item))


def _held_back(channel: Channel) -> Iterator[str]:
    """Give back what an earlier batch held back."""
    late = f"late_{channel.sales}"
    yield f"CREATE TABLE IF NOT EXISTS {late} AS FROM {channel.sales} LIMIT 0"
    yield f"INSERT INTO {channel.sales} FROM {late}"
    yield f"DELETE FROM {late}"


def _returns(channel: Channel, draw: _Draw) -> Iterator[str]:
    """Lines are returned; some returns were wrong, or were of another amount."""
    line, back = channel.line, channel.back
    order, item = f"{line}_{channel.order}", f"{line}_item_sk"
    own = (f"{back}_{channel.order}", f"{back}_item_sk")
    yield _return(channel, channel.sales, draw.some(0.004, "returned", order, item))
    yield f"DELETE FROM {channel.returns} WHERE {draw.some(0.008, 'kept', *own)}"
    amounts = {
        "return_quantity": f"{back}_return_quantity + 1",
        "net_loss": f"{back}_net_loss + 3.50",
        "refunded_cash": f"{back}_refunded_cash + 1.75",
    }
    yield _update(channel.returns, back, amounts, draw.some(0.02, "amount", *own))
    yield "DROP TABLE last"
    yield "DROP TABLE buyers"


def _return(channel: Channel, lines: str, chosen: str) -> str:
    """Return some lines of a table that are sold and not returned yet."""
    line, back = channel.line, channel.back
    columns = [str(column["name"]) for column in SCHEMAS[channel.returns]]
    values = ", ".join(channel.returned[name.removeprefix(f"{back}_")] for name in columns)
    same = f"{back}_item_sk = {line}_item_sk AND {back}_{channel.order} = {line}_{channel.order}"
    return (
        f"INSERT INTO {channel.returns} SELECT {values} FROM {lines} WHERE {chosen} "
        f"AND {line}_sold_date_sk IS NOT NULL AND {line}_quantity IS NOT NULL "
        f"AND NOT EXISTS (SELECT 1 FROM {channel.returns} WHERE {same})"
    )


def _masters(draw: _Draw) -> Iterator[str]:
    """Change rows of the small tables, and let customers come and go."""

    def update(table: str, share: float, **columns: str) -> str:
        key = str(SCHEMAS[table][0]["name"])
        prefix = key.partition("_")[0]
        return _update(table, prefix, columns, draw.some(share, "master", key))

    def swap(table: str, share: float, *columns: str) -> str:
        """Let neighbours change some values with each other, so that these stay as frequent."""
        key = str(SCHEMAS[table][0]["name"])
        taken = ", ".join(f"{name} = other.{name}" for name in columns)
        pair = draw.some(share, "swap " + columns[0], f"(old.{key} + 1) // 2")
        return (
            f"UPDATE {table} old SET {taken} FROM "
            f"(SELECT {key} AS place, {', '.join(columns)} FROM {table}) other "
            f"WHERE {pair} AND other.place = old.{key} - 1 + 2 * (old.{key} % 2)"
        )

    address = ["city", "county", "state", "zip", "country", "gmt_offset", "location_type"]
    yield update("item", 0.06, current_price="i_current_price + 0.25")
    yield update("item", 0.03, manager_id="1 + i_manager_id % 100")
    yield swap("item", 0.05, "i_category", "i_category_id", "i_class", "i_class_id")
    yield swap("item", 0.05, "i_color", "i_size", "i_units", "i_manufact_id", "i_manufact")
    yield swap("customer_address", 0.04, *(f"ca_{name}" for name in address))
    yield swap("customer", 0.04, "c_current_addr_sk", "c_birth_country", "c_birth_month")
    yield swap("customer", 0.04, "c_current_cdemo_sk", "c_current_hdemo_sk")
    yield swap("customer", 0.02, "c_last_name", "c_preferred_cust_flag")
    yield from _people(draw)
    yield swap("customer_demographics", 0.01, "cd_marital_status", "cd_education_status")
    yield update("customer_demographics", 0.01, purchase_estimate="cd_purchase_estimate + 500")
    yield swap("household_demographics", 0.01, "hd_buy_potential", "hd_vehicle_count")
    yield swap("household_demographics", 0.01, "hd_dep_count", "hd_income_band_sk")
    yield swap("promotion", 0.05, "p_channel_email", "p_channel_event", "p_channel_dmail")
    yield update("promotion", 0.03, cost="p_cost + 10")
    yield update("store", 0.15, number_employees="s_number_employees + 5")
    yield update("store", 0.1, floor_space="s_floor_space + 100")
    yield update("call_center", 0.2, employees="cc_employees + 1")
    yield update("warehouse", 0.3, warehouse_sq_ft="w_warehouse_sq_ft + 10")
    yield update("web_page", 0.1, char_count="wp_char_count + 20")
    yield update("web_site", 0.1, manager="web_manager || '.'")
    yield update("reason", 0.1, reason_id="lower(r_reason_id) || '.'")
    yield update("catalog_page", 0.002, catalog_number="cp_catalog_number + 1")
    kept = ("inv_date_sk", "inv_item_sk", "inv_warehouse_sk")
    on_hand = {"quantity_on_hand": draw.number(1000, "on hand", *kept)}
    yield _update("inventory", "inv", on_hand, draw.some(0.04, "counted", *kept))
    yield f"DELETE FROM inventory WHERE {draw.some(0.002, 'lost', *kept)}"


def _people(draw: _Draw) -> Iterator[str]:
    """New customers come; of these, who buys nothing leaves again."""
    key = "c_customer_sk"
    new = f"(SELECT max({key}) FROM customer) + row_number() OVER (ORDER BY {key})"
    yield (
        f"INSERT INTO customer SELECT * REPLACE (CAST({new} AS INT) AS {key}, "
        f"'N' || lpad(CAST({new} AS VARCHAR), 15, '0') AS c_customer_id) "
        f"FROM customer WHERE {draw.some(0.006, 'joins', key)}"
    )
    places = {
        f"{name} FROM {prefix}{table}"
        for table, columns in SCHEMAS.items()
        for name in (str(column["name"]) for column in columns)
        for prefix in ("", "late_")
        if name.endswith("_customer_sk") and table != "customer"
        if not prefix or table in {channel.sales for channel in CHANNELS}
    }
    used = " UNION ".join(f"SELECT {place}" for place in sorted(places))
    yield (
        f"DELETE FROM customer WHERE {key} > {_CUSTOMERS} AND {draw.some(0.4, 'leaves', key)} "
        f"AND NOT EXISTS (SELECT 1 FROM ({used}) AS u(sk) WHERE sk = {key})"
    )


def _update(table: str, prefix: str, columns: dict[str, str], where: str) -> str:
    taken = ", ".join(f"{prefix}_{name} = {value}" for name, value in columns.items())
    return f"UPDATE {table} SET {taken} WHERE {where}"
