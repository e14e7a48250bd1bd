"""What is checked over a change says whether a foreign key that held before holds after."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from slacktide.engine.planning.foreign_key_check import Check, columns_of, null_keys, repeated_keys
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from tests.harness.memory import MemorySource, MemoryWorld
from tests.harness.referring import FOREIGN_KEYS, KEYS, TABLES, Rows, next_batch, places

SEEDS = range(150)
SCHEMAS: dict[str, list[dict[str, Any]]] = {
    name: [{"name": column, "type": "INT", "nullable": True} for column, _ in columns]
    for name, columns in TABLES.items()
}


def rows_of(operator: o.Operator, world: MemoryWorld) -> Bag:
    step = o.Save("states/check", operator, is_base=True)
    return list(run_program(o.Program((step,)), world).saved["states/check"].data)


def holds(foreign_key: ForeignKey, present: Rows) -> bool:
    ends, own = (
        places(foreign_key.target, foreign_key.key),
        places(foreign_key.source, foreign_key.columns),
    )
    keys = Counter(tuple(row[end] for end in ends) for row in present[foreign_key.target])
    refers = {tuple(row[place] for place in own) for row in present[foreign_key.source]}
    known = {key for key in refers if None not in key}
    is_key = not any(None in key for key in keys) and max(keys.values(), default=0) <= 1
    return is_key and known <= keys.keys()


def damaged(source: random.Random, batch: dict[str, Bag], present: Rows) -> None:
    """Insert, or delete, a row that nobody asked for."""
    name = source.choice(list(TABLES))
    if source.random() < 0.5 and present[name]:
        row = source.choice(present[name])
        present[name].remove(row)
        batch[name].append((row, -1))
    else:
        row = tuple(source.choice([*KEYS, None]) for _ in TABLES[name])
        present[name].append(row)
        batch[name].append((row, 1))


@pytest.mark.parametrize("foreign_key", FOREIGN_KEYS, ids=str)
def test_a_check_over_a_change_is_one_over_all(foreign_key: ForeignKey) -> None:
    seen = Counter[bool]()
    for seed in SEEDS:
        source = random.Random(seed)  # noqa: S311
        names = {name: tuple(column for column, _ in columns) for name, columns in TABLES.items()}
        world = MemoryWorld({name: MemorySource(columns) for name, columns in names.items()})
        present: Rows = {}
        for name, bag in next_batch(source, present).items():
            world.sources[name].arrivals.append(bag)
        batch = next_batch(source, present)
        if source.random() < 0.7:
            damaged(source, batch, present)
        for name, bag in batch.items():
            world.sources[name].arrivals.append(bag)
        world.start, world.end = dict.fromkeys(TABLES, 1), dict.fromkeys(TABLES, 2)
        check = Check(foreign_key, SCHEMAS)
        over_change = [
            check.came_unmet(),
            check.left_behind(),
            check.came_null(),
            check.came_again(),
        ]
        is_kept = not any(rows_of(operator, world) for operator in over_change)
        key = columns_of(SCHEMAS[foreign_key.target], foreign_key.key)
        over_all = [
            check.unmet(),
            null_keys(foreign_key.target, key),
            repeated_keys(foreign_key.target, key),
        ]
        is_whole = not any(rows_of(operator, world) for operator in over_all)
        assert is_kept == is_whole == holds(foreign_key, present), seed
        seen[is_kept] += 1
    assert min(seen[True], seen[False]) > 5
