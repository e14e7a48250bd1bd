"""The three natures of change: what one batch does to the tables.

A batch changes about its share of the rows of each table that its nature touches: half inserts
and half deletes for orders that come and go; for scattered changes three fifths updates, one
fifth inserts and one fifth deletes.
"""

from __future__ import annotations

from slacktide.workloads.tpch import masters, orders
from slacktide.workloads.tpch.world import World

_UPDATED, _INSERTED, _DELETED = 0.6, 0.2, 0.2


def clustered(world: World) -> None:
    """Insert orders above the greatest key and delete the oldest, as feeds of growing ids do."""
    size = world.draw.count(world.size("orders", 0.5))
    orders.delete_orders(world, orders.oldest_orders(world, size))
    orders.insert_orders(world, orders.keys_above(world, max(1, size)))


def gaps(world: World) -> None:
    """Insert orders into holes of the key space and delete scattered ones.

    As the benchmark's refresh functions do.
    """
    size = world.draw.count(world.size("orders", 0.5))
    orders.delete_orders(world, world.rows["orders"].sample(world.draw, size))
    orders.insert_orders(world, orders.keys_in_holes(world, max(1, size)))


def scattered(world: World) -> None:
    """Change rows of all tables; regions every fourth batch, nations every second."""
    _scattered_masters(world)
    draw = world.draw
    deleted = world.rows["orders"].sample(draw, draw.count(world.size("orders", _DELETED)))
    orders.delete_orders(world, deleted)
    orders.update_orders(world, _at_least_one(world, "orders"))
    orders.update_lines(world, _at_least_one(world, "lineitem"))
    size = max(1, draw.count(world.size("orders", _INSERTED)))
    orders.insert_orders(world, orders.keys_in_holes(world, size))


def growing_masters(world: World) -> None:
    """Insert customers, suppliers and parts with their offers, with growing keys."""
    draw = world.draw
    masters.insert_customers(world, draw.count(world.size("customer", 1)))
    masters.insert_suppliers(world, draw.count(world.size("supplier", 1)))
    masters.insert_parts(world, draw.count(world.size("part", 1)))


def _scattered_masters(world: World) -> None:
    draw = world.draw
    masters.delete_customers(world, draw.count(world.size("customer", _DELETED)))
    masters.delete_parts(world, draw.count(world.size("part", _DELETED)))
    masters.delete_suppliers(world, draw.count(world.size("supplier", _DELETED)))
    masters.update_customers(world, _at_least_one(world, "customer"))
    masters.update_parts(world, _at_least_one(world, "part"))
    masters.update_suppliers(world, _at_least_one(world, "supplier"))
    masters.update_offers(world, _at_least_one(world, "partsupp"))
    masters.insert_customers(world, draw.count(world.size("customer", _INSERTED)))
    masters.insert_parts(world, draw.count(world.size("part", _INSERTED)))
    masters.insert_suppliers(world, draw.count(world.size("supplier", _INSERTED)))
    if world.number % 2 == 0:
        masters.update_places(world, "nation", rename=world.number % 4 == 2)
    if world.number % 4 == 0:
        masters.update_places(world, "region", rename=world.number % 8 == 4)


def _at_least_one(world: World, table: str) -> int:
    return max(1, world.draw.count(world.size(table, _UPDATED)))
