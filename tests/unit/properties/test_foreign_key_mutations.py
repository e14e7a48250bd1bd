"""Every sign and every balance in a program that goes by foreign keys matters: turned, it is caught."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.common.tree import graft, of_type
from slacktide.errors import DataError
from slacktide.program import operator as o
from slacktide.program.balance import Balance
from slacktide.program.reference.bags import Bag
from tests.harness.maintained import Maintained
from tests.harness.plans import Case
from tests.harness.referring import FOREIGN_KEYS, SHAPES, Rows, next_batch
from tests.unit.properties.test_mutations import mutants

SEEDS = range(60)
BALANCES: tuple[Balance, ...] = ("gone", "kept", "came")
BATCHES = 4
ORDERS = "scan o [ok#1:INT!, ck#2:INT, w#3:INT]"
LINES = "scan l [ok#4:INT, a#5:INT, b#6:INT, w#7:INT]"
CUSTOMERS = "scan c [ck#8:INT!, nk#9:INT, w#10:INT]"
SIGNED = f"join inner on (#4 = #1)\n  {LINES}\n  {ORDERS}"
CASES = {
    "of a scan": SIGNED,
    "from the right": f"join inner on (#1 = #4)\n  {ORDERS}\n  {LINES}",
    "of a filter": f"join inner on (#4 = #1)\n  {LINES}\n  filter (#3 > 1)\n    {ORDERS}",
    "of a join that goes by one": (
        "join inner on (#1 = #4)\n"
        f"  join inner on (#8 = #2)\n    {CUSTOMERS}\n    {ORDERS}\n  {LINES}"
    ),
    "of a join by other columns": (
        f"join inner on (#1 = #4)\n  join inner on (#3 < #10)\n    {ORDERS}\n    {CUSTOMERS}\n  {LINES}"
    ),
    "of a key of two columns": (
        f"join inner on ((#5 = #11) and (#6 = #12))\n  {LINES}\n  scan p [a#11:INT!, b#12:INT!, w#13:INT]"
    ),
    "of distinct keys": (
        "join inner on (#14 = #1)\n"
        f"  aggregate key=[k#14:INT := #4] [n#15:BIGINT! := count()]\n    {LINES}\n  {ORDERS}"
    ),
    "of itself": (
        "join inner on (#17 = #19)\n  scan e [ek#16:INT!, boss#17:INT, w#18:INT]\n"
        "  scan e [ek#19:INT!, boss#20:INT, w#21:INT]"
    ),
}


def turned(program: o.Program) -> list[o.Program]:
    """The program with one sign or one balance turned."""
    found = mutants(program)
    for node in of_type(program, o.ByBalance):
        for other in BALANCES:
            if other == node.balance:
                continue
            swapped = o.ByBalance(node.child, node.keys, other)
            found.append(graft(program, {node.digest: swapped}))
    return found


def fails(relation: r.Rel, number: int, seed: int) -> bool:
    source = random.Random(seed)  # noqa: S311
    shapes = tuple(SHAPES[name] for name in sources(relation))
    maintained = Maintained(Case(relation, shapes), foreign_keys=frozenset(FOREIGN_KEYS))
    present: Rows = {}
    for place in range(BATCHES):
        batch = next_batch(source, present)
        maintained.arrive({shape.name: batch[shape.name] for shape in shapes})
        plan = maintained.plan()
        if place and plan.program is not None:
            plan = replace(plan, program=turned(plan.program)[number])
        try:
            maintained.compare(plan)
        except (AssertionError, DataError):
            return True
    return False


def number_of_mutants(relation: r.Rel) -> int:
    shapes = tuple(SHAPES[name] for name in sources(relation))
    maintained = Maintained(Case(relation, shapes), foreign_keys=frozenset(FOREIGN_KEYS))
    nothing: dict[str, Bag] = {shape.name: [] for shape in shapes}
    maintained.arrive(nothing)
    maintained.refresh()
    maintained.arrive(nothing)
    program = maintained.plan().program
    assert program is not None
    assert any(of_type(program, o.ByBalance))
    return len(turned(program))


@pytest.mark.parametrize("name", CASES)
def test_what_is_turned_is_caught(name: str) -> None:
    relation = from_text(CASES[name] + "\n")
    count = number_of_mutants(relation)
    survived = [n for n in range(count) if not any(fails(relation, n, seed) for seed in SEEDS)]
    assert not survived
