"""Orders with their lines: new ones by the benchmark's rules, old ones changed and deleted.

Keys follow the benchmark: of each 32 numbers the base uses the first eight, the rest are holes.
Unlike in the benchmark, a customer without orders may get one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.errors import InvalidSettingError
from slacktide.workloads.tpch.feed import arrow_schema
from slacktide.workloads.tpch.schema import TABLES
from slacktide.workloads.tpch.values import (
    cents,
    day_number,
    days,
    integers,
    money,
    numbers,
)
from slacktide.workloads.tpch.world import World

if TYPE_CHECKING:
    import pyarrow as pa

    from slacktide.workloads.tpch.values import Numbers

PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_FIRST, _LAST = day_number("1992-01-01"), day_number("1998-08-02")
_TODAY = day_number("1995-06-17")
_NEW_CUSTOMERS = 0.25  # share of new orders that anybody may give, customers without orders too
_ROUNDS = 64


def keys_above(world: World, size: int) -> Numbers:
    """Give keys above all that ever were, in the benchmark's pattern."""
    import numpy as np

    waiting = world.waiting("orders", "o_orderkey")
    greatest = max(int(world.rows["orders"].every("o_orderkey").max()), *waiting, 0)
    first = ((greatest >> 5) + 1) << 3
    return _pattern(np.arange(first, first + size, dtype=np.int64))


def keys_in_holes(world: World, size: int) -> Numbers:
    """Give keys that the base leaves out and no batch has used.

    Raises:
        InvalidSettingError: the holes are used up.
    """
    import numpy as np

    rows = world.rows["orders"]
    used = np.concatenate([rows.every("o_orderkey"), world.waiting("orders", "o_orderkey")])
    found = np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        places = world.draw.between(1, world.base["orders"], 2 * size + 16)
        drawn = _pattern(places) | world.draw.between(1, 3, len(places)) << 3
        found = np.union1d(found, np.setdiff1d(drawn, used))
        if len(found) >= size:
            return np.sort(world.draw.shuffled(found)[:size])
    raise InvalidSettingError(
        "the key space has no holes left for new orders", hint="begin again with a new base"
    )


def insert_orders(world: World, keys: Numbers) -> None:
    """Insert orders with these keys, each with one to seven lines."""
    import numpy as np
    import pyarrow as pa

    size = len(keys)
    if not size:
        return
    draw = world.draw
    ordered = draw.between(_FIRST, _LAST, size)
    lines = draw.between(1, 7, size)
    of_order = np.repeat(np.arange(size, dtype=np.int64), lines)
    first = np.cumsum(lines) - lines
    line_numbers = np.arange(len(of_order), dtype=np.int64) - first[of_order] + 1
    items, open_lines, charges = _lines(world, keys[of_order], line_numbers, ordered[of_order])
    still_open = np.bincount(of_order, open_lines, size).astype(np.int64)
    status = np.where(still_open == 0, 0, np.where(still_open == lines, 1, 2))
    texts = world.picked("orders", ["o_clerk", "o_comment"], size)
    columns = {
        "o_orderkey": pa.array(keys),
        "o_custkey": pa.array(_customers(world, size)),
        "o_orderstatus": pa.array(["F", "O", "P"]).take(pa.array(status)),
        "o_totalprice": money(np.bincount(of_order, charges, size).astype(np.int64)),
        "o_orderdate": days(ordered),
        "o_orderpriority": draw.words(PRIORITIES, size),
        "o_clerk": texts.column("o_clerk"),
        "o_shippriority": integers(np.zeros(size, dtype=np.int64)),
        "o_comment": texts.column("o_comment"),
    }
    world.changes["orders"].insert(pa.table(columns, schema=arrow_schema(TABLES["orders"])))
    world.changes["lineitem"].insert(items)


def delete_orders(world: World, positions: Numbers) -> None:
    """Delete claimed orders with all their lines."""
    orders, lines = world.rows["orders"], world.rows["lineitem"]
    keys = numbers(orders.take(positions, ["o_orderkey"]).column("o_orderkey"))
    world.changes["orders"].delete(positions)
    world.changes["lineitem"].delete(lines.claim(lines.where("l_orderkey", keys)))


def oldest_orders(world: World, size: int) -> Numbers:
    """Choose and claim the orders with the smallest keys."""
    import numpy as np

    rows = world.rows["orders"]
    free = rows.free()
    keys = rows.every("o_orderkey")[free]
    chosen = free[np.argsort(keys, kind="stable")[:size]]
    return rows.claim(np.sort(chosen))


def update_orders(world: World, size: int) -> None:
    """Give orders another status or priority, and every third another date."""
    import numpy as np

    rows, draw = world.rows["orders"], world.draw
    chosen = rows.sample(draw, size)
    old = rows.take(chosen, ["o_orderstatus", "o_orderpriority", "o_orderdate"])
    moves = draw.between(-30, 30, len(chosen)) * draw.flags(1 / 3, len(chosen))
    dates = np.clip(numbers(old.column("o_orderdate")) + moves, _FIRST, _LAST)
    changed = {
        "o_orderstatus": draw.other_words(("F", "O", "P"), old.column("o_orderstatus")),
        "o_orderpriority": draw.other_words(PRIORITIES, old.column("o_orderpriority")),
        "o_orderdate": days(dates),
    }
    world.changes["orders"].update(chosen, changed)


def update_lines(world: World, size: int) -> None:
    """Give lines other quantities, prices, discounts, dates, flags and modes."""
    import numpy as np

    rows, draw = world.rows["lineitem"], world.draw
    chosen = rows.sample(draw, size)
    names = ["l_quantity", "l_extendedprice", "l_returnflag", "l_shipdate", "l_shipmode"]
    old = rows.take(chosen, names)
    quantity = cents(old.column("l_quantity")) // 100
    unit = cents(old.column("l_extendedprice")) // np.maximum(quantity, 1)
    quantity = (quantity - 1 + draw.between(1, 49, len(chosen))) % 50 + 1
    shipped = numbers(old.column("l_shipdate")) + draw.between(-10, 10, len(chosen))
    received = shipped + draw.between(1, 30, len(chosen))
    changed = {
        "l_quantity": money(100 * quantity),
        "l_extendedprice": money(unit * quantity),
        "l_discount": money(draw.between(0, 10, len(chosen))),
        "l_returnflag": draw.other_words(("A", "N", "R"), old.column("l_returnflag")),
        "l_shipdate": days(shipped),
        "l_receiptdate": days(received),
        "l_shipmode": draw.other_words(MODES, old.column("l_shipmode")),
    }
    world.changes["lineitem"].update(chosen, changed)


def _pattern(places: Numbers) -> Numbers:
    """Give the key of the n-th order as the benchmark counts: eight used, 24 left out."""
    return (places >> 3) << 5 | places & 7


def _customers(world: World, size: int) -> Numbers:
    """Draw who orders; mostly those who may in the benchmark, where every third never does."""
    import numpy as np

    drawn = numbers(world.picked("customer", ["c_custkey"], 4 * size + 16).column("c_custkey"))
    anybody, usual = drawn[:size], drawn[size:]
    usual = usual[usual % 3 != 0]
    if not len(usual):
        return anybody
    return np.where(world.draw.flags(_NEW_CUSTOMERS, size), anybody, np.resize(usual, size))


def _lines(
    world: World, keys: Numbers, line_numbers: Numbers, ordered: Numbers
) -> tuple[pa.Table, Numbers, Numbers]:
    """Make lines; give them, which are still open, and what each is charged."""
    import numpy as np
    import pyarrow as pa

    size, draw = len(keys), world.draw
    offers = world.picked("partsupp", ["ps_partkey", "ps_suppkey"], size)
    parts = numbers(offers.column("ps_partkey"))
    quantity, discount = draw.between(1, 50, size), draw.between(0, 10, size)
    tax = draw.between(0, 8, size)
    price = quantity * retail_price(parts)
    shipped = ordered + draw.between(1, 121, size)
    received = shipped + draw.between(1, 30, size)
    returned = np.where(received > _TODAY, 0, draw.between(1, 2, size))
    open_lines = (shipped > _TODAY).astype(np.int64)
    columns = {
        "l_orderkey": pa.array(keys),
        "l_partkey": offers.column("ps_partkey"),
        "l_suppkey": offers.column("ps_suppkey"),
        "l_linenumber": integers(line_numbers),
        "l_quantity": money(100 * quantity),
        "l_extendedprice": money(price),
        "l_discount": money(discount),
        "l_tax": money(tax),
        "l_returnflag": pa.array(["N", "A", "R"]).take(pa.array(returned)),
        "l_linestatus": pa.array(["F", "O"]).take(pa.array(open_lines)),
        "l_shipdate": days(shipped),
        "l_commitdate": days(ordered + draw.between(30, 90, size)),
        "l_receiptdate": days(received),
        "l_shipinstruct": draw.words(INSTRUCTIONS, size),
        "l_shipmode": draw.words(MODES, size),
        "l_comment": world.picked("lineitem", ["l_comment"], size).column("l_comment"),
    }
    charges = price * (100 + tax) * (100 - discount) // 10_000
    return pa.table(columns, schema=arrow_schema(TABLES["lineitem"])), open_lines, charges


def retail_price(parts: Numbers) -> Numbers:
    """Give the benchmark's price of parts, in hundredths."""
    return 90_000 + (parts // 10) % 20_001 + 100 * (parts % 1000)
