"""The tables that orders refer to: customers, suppliers, parts and what suppliers offer them for.

Only what nothing refers to is deleted: customers without orders, parts without lines (with their
offers), suppliers without offers. Nations and regions are few; they are renamed, by two of them
changing names, or get another comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.workloads.tpch.feed import arrow_schema
from slacktide.workloads.tpch.orders import retail_price
from slacktide.workloads.tpch.schema import TABLES
from slacktide.workloads.tpch.values import cents, integers, money, numbered, numbers
from slacktide.workloads.tpch.world import World

if TYPE_CHECKING:
    from slacktide.workloads.tpch.values import Numbers

SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
BRANDS = tuple(f"Brand#{maker}{line}" for maker in range(1, 6) for line in range(1, 6))
TYPES = tuple(
    f"{size} {finish} {metal}"
    for size in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
    for finish in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
    for metal in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
)
CONTAINERS = tuple(
    f"{size} {form}"
    for size in ("SM", "LG", "MED", "JUMBO", "WRAP")
    for form in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")
)
_OFFERS = 4


def insert_customers(world: World, size: int) -> None:
    """Insert customers with the next keys."""
    import pyarrow as pa

    keys, nations = _new_keys(world, "customer", size), _nations(world, size)
    texts = world.picked("customer", ["c_address", "c_comment"], size)
    columns = {
        "c_custkey": pa.array(keys),
        "c_name": numbered("Customer", keys),
        "c_address": texts.column("c_address"),
        "c_nationkey": pa.array(nations),
        "c_phone": world.draw.phones(nations),
        "c_acctbal": money(world.draw.between(-99_999, 999_999, size)),
        "c_mktsegment": world.draw.words(SEGMENTS, size),
        "c_comment": texts.column("c_comment"),
    }
    world.changes["customer"].insert(pa.table(columns, schema=arrow_schema(TABLES["customer"])))


def update_customers(world: World, size: int) -> None:
    """Give customers another balance, segment and telephone."""
    rows, draw = world.rows["customer"], world.draw
    chosen = rows.sample(draw, size)
    old = rows.take(chosen, ["c_nationkey", "c_mktsegment"])
    changed = {
        "c_acctbal": money(draw.between(-99_999, 999_999, len(chosen))),
        "c_mktsegment": draw.other_words(SEGMENTS, old.column("c_mktsegment")),
        "c_phone": draw.phones(numbers(old.column("c_nationkey"))),
    }
    world.changes["customer"].update(chosen, changed)


def delete_customers(world: World, size: int) -> None:
    """Delete customers without orders; fewer, where too few are met."""
    import numpy as np

    rows = world.rows["customer"]
    met = np.unique(rows.pick(world.draw, 8 * size))
    _delete_unreferenced(world, "customer", met, {"orders": "o_custkey"}, size)


def insert_suppliers(world: World, size: int) -> None:
    """Insert suppliers with the next keys; parts that come later may be theirs."""
    import pyarrow as pa

    keys, nations = _new_keys(world, "supplier", size), _nations(world, size)
    texts = world.picked("supplier", ["s_address", "s_comment"], size)
    columns = {
        "s_suppkey": pa.array(keys),
        "s_name": numbered("Supplier", keys),
        "s_address": texts.column("s_address"),
        "s_nationkey": pa.array(nations),
        "s_phone": world.draw.phones(nations),
        "s_acctbal": money(world.draw.between(-99_999, 999_999, size)),
        "s_comment": texts.column("s_comment"),
    }
    world.changes["supplier"].insert(pa.table(columns, schema=arrow_schema(TABLES["supplier"])))


def update_suppliers(world: World, size: int) -> None:
    """Give suppliers another balance and telephone."""
    rows, draw = world.rows["supplier"], world.draw
    chosen = rows.sample(draw, size)
    nations = numbers(rows.take(chosen, ["s_nationkey"]).column("s_nationkey"))
    changed = {
        "s_acctbal": money(draw.between(-99_999, 999_999, len(chosen))),
        "s_phone": draw.phones(nations),
    }
    world.changes["supplier"].update(chosen, changed)


def delete_suppliers(world: World, size: int) -> None:
    """Delete suppliers that came after the base and offer nothing."""
    referring = {"partsupp": "ps_suppkey", "lineitem": "l_suppkey"}
    _delete_unreferenced(world, "supplier", _after_base(world, "supplier"), referring, size)


def insert_parts(world: World, size: int) -> None:
    """Insert parts with the next keys, each offered by four suppliers."""
    import pyarrow as pa

    if not size:
        return
    draw, keys = world.draw, _new_keys(world, "part", size)
    brands = draw.between(0, len(BRANDS) - 1, size)
    makers = pa.array([f"Manufacturer#{maker}" for maker in range(1, 6)])
    texts = world.picked("part", ["p_name", "p_comment"], size)
    columns = {
        "p_partkey": pa.array(keys),
        "p_name": texts.column("p_name"),
        "p_mfgr": makers.take(pa.array(brands // 5)),
        "p_brand": pa.array(BRANDS).take(pa.array(brands)),
        "p_type": draw.words(TYPES, size),
        "p_size": integers(draw.between(1, 50, size)),
        "p_container": draw.words(CONTAINERS, size),
        "p_retailprice": money(retail_price(keys)),
        "p_comment": texts.column("p_comment"),
    }
    world.changes["part"].insert(pa.table(columns, schema=arrow_schema(TABLES["part"])))
    _insert_offers(world, keys)


def update_parts(world: World, size: int) -> None:
    """Give parts another type, size, container and price."""
    rows, draw = world.rows["part"], world.draw
    chosen = rows.sample(draw, size)
    old = rows.take(chosen, ["p_type", "p_container", "p_retailprice"])
    price = cents(old.column("p_retailprice")) + draw.between(-500, 500, len(chosen))
    changed = {
        "p_type": draw.other_words(TYPES, old.column("p_type")),
        "p_size": integers(draw.between(1, 50, len(chosen))),
        "p_container": draw.other_words(CONTAINERS, old.column("p_container")),
        "p_retailprice": money(price),
    }
    world.changes["part"].update(chosen, changed)


def delete_parts(world: World, size: int) -> None:
    """Delete parts that came after the base and have no lines, with their offers."""
    referring = {"lineitem": "l_partkey"}
    keys = _delete_unreferenced(world, "part", _after_base(world, "part"), referring, size)
    offers = world.rows["partsupp"]
    world.changes["partsupp"].delete(offers.claim(offers.where("ps_partkey", keys)))


def update_offers(world: World, size: int) -> None:
    """Give offers another cost and quantity."""
    rows, draw = world.rows["partsupp"], world.draw
    chosen = rows.sample(draw, size)
    changed = {
        "ps_supplycost": money(draw.between(100, 100_000, len(chosen))),
        "ps_availqty": integers(draw.between(1, 9999, len(chosen))),
    }
    world.changes["partsupp"].update(chosen, changed)


def update_places(world: World, table: str, *, rename: bool) -> None:
    """Let two nations or regions change names, or give one another comment."""
    import pyarrow as pa

    rows, letter = world.rows[table], table[0]
    column = f"{letter}_name" if rename else f"{letter}_comment"
    chosen = rows.sample(world.draw, 2 if rename else 1)
    old = rows.take(chosen, [column]).column(column).combine_chunks()
    texts = old.take(pa.array(range(len(old) - 1, -1, -1)))
    if not rename:
        texts = world.picked("orders", ["o_comment"], len(chosen)).column("o_comment")
    world.changes[table].update(chosen, {column: texts})


def _insert_offers(world: World, parts: Numbers) -> None:
    """Offer each part by different suppliers, spread as the benchmark spreads them."""
    import numpy as np
    import pyarrow as pa

    rows, draw = world.rows["supplier"], world.draw
    suppliers = rows.every("s_suppkey")[rows.free()]
    offers = min(_OFFERS, len(suppliers))
    step = max(1, len(suppliers) // _OFFERS)
    first = draw.between(0, len(suppliers) - 1, len(parts))
    places = (np.repeat(first, offers) + step * np.tile(np.arange(offers), len(parts))) % len(
        suppliers
    )
    size = len(places)
    columns = {
        "ps_partkey": pa.array(np.repeat(parts, offers)),
        "ps_suppkey": pa.array(suppliers[places]),
        "ps_availqty": integers(draw.between(1, 9999, size)),
        "ps_supplycost": money(draw.between(100, 100_000, size)),
        "ps_comment": world.picked("partsupp", ["ps_comment"], size).column("ps_comment"),
    }
    world.changes["partsupp"].insert(pa.table(columns, schema=arrow_schema(TABLES["partsupp"])))


def _delete_unreferenced(
    world: World, table: str, positions: Numbers, referring: dict[str, str], size: int
) -> Numbers:
    """Delete up to so many of the rows that nothing refers to; give their keys."""
    rows = world.rows[table]
    (column,) = rows.table.key
    keys = numbers(rows.take(positions, [column]).column(column))
    chosen = world.draw.shuffled(world.unreferenced(keys, referring))[:size]
    world.changes[table].delete(rows.claim(rows.where(column, chosen)))
    return chosen


def _after_base(world: World, table: str) -> Numbers:
    """Give the positions of rows that may be chosen and came after the base."""
    rows = world.rows[table]
    free = rows.free()
    (column,) = rows.table.key
    return free[rows.every(column)[free] > world.base[table]]


def _new_keys(world: World, table: str, size: int) -> Numbers:
    import numpy as np

    first = world.next_key(table)
    return np.arange(first, first + size, dtype=np.int64)


def _nations(world: World, size: int) -> Numbers:
    return numbers(world.picked("nation", ["n_nationkey"], size).column("n_nationkey"))
