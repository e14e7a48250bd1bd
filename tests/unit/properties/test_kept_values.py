"""What is kept of the values of a group: each value once with its number, however many rows have it."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra.textual import from_text
from slacktide.program.reference.bags import Bag, consolidate
from tests.harness.histories import shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case

INPUT = "scan l [k#1:INT, g#2:STRING, v#3:INT]\n"
GROUPS = ("a", "b", None)
SEEDS = range(6)
BATCHES = 5
ROWS = 60


def aggregated(call: str) -> str:
    return f"aggregate key=[#2] [n#8 := {call}]\n  {INPUT}"


BOOLEANS = {
    "bool_and": aggregated("bool_and((#3 > 0)):BOOLEAN"),
    "bool_or": aggregated("bool_or((#3 > 0)):BOOLEAN"),
    "every": aggregated("every((#3 > 0)):BOOLEAN"),
    "over all rows": f"aggregate key=[] [n#8 := bool_or((#3 > 0)):BOOLEAN]\n  {INPUT}",
}


def changes(dice: random.Random, present: list[tuple[object, ...]], number: int) -> Bag:
    """Many rows come, all of them different, and some go."""
    gone = [present.pop(dice.randrange(len(present))) for _ in range(len(present) // 3)]
    new = [
        (number * ROWS + i, dice.choice(GROUPS), dice.choice((None, i, -i))) for i in range(ROWS)
    ]
    present += new
    return [(row, -1) for row in gone] + [(row, 1) for row in new]


def kept(maintained: Maintained) -> Bag:
    """The one bag that is kept of the input, its pieces added up."""
    (chain,) = [chain for chain in maintained.world.bags if chain.startswith("states/")]
    return consolidate(maintained.world.bags[chain])


@pytest.mark.parametrize("name", BOOLEANS)
def test_a_boolean_has_at_most_three_rows_a_group(name: str) -> None:
    """Booleans are minima and maxima of three values: what is kept of them is three counts."""
    relation = from_text(BOOLEANS[name])
    shapes = shapes_of(relation)
    for seed in SEEDS:
        dice = random.Random(seed)  # noqa: S311 - rows, not secrets
        maintained = Maintained(Case(relation, shapes))
        present: list[tuple[object, ...]] = []
        for number in range(BATCHES):
            maintained.arrive({"l": changes(dice, present, number)})
            plan = maintained.refresh()
            assert plan.method == ("incremental" if number else "full")
            groups = {row[1] for row in present} if "key=[#2]" in BOOLEANS[name] else {None}
            rows = kept(maintained)
            assert sum(count for _, count in rows) == len(present)
            assert len(groups) < len(rows) <= 3 * len(groups)
