"""Outer joins over what is read in part, below joins that ask for few keys: NULL may stand for no row."""

from __future__ import annotations

import random
from itertools import product

import pytest

from slacktide.algebra.textual import from_text
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case

HISTORIES = 12
BATCHES = 4
A = "scan a [i#1:INT, j#2:INT]"
B = "scan b [l#3:INT, k#4:INT, v#5:INT]"
C = "scan c [c#6:INT, w#7:INT]"
D = "scan d [d#8:INT, x#9:INT]"


def over(head: str, *inputs: str) -> str:
    return "\n".join([head, *(f"  {line}" for text in inputs for line in text.splitlines())])


RESIDUAL = "((#4 = #6) and (#5 < #7))"
PADDED = {
    "semi": over(f"join semi on {RESIDUAL}", B, C),
    "anti": over(f"join anti on {RESIDUAL}", B, C),
    "existence": over(f"join existence e#10:BOOLEAN! on {RESIDUAL}", B, C),
    "groups": over("aggregate key=[l#3 := #13, k#4 := #14] [n#5 := count()]", B.replace("#", "#1")),
}
ASKING = {
    "inner": "join inner on (#4 <=> #8)",
    "semi": "join semi on ((#4 <=> #8) and (#1 < #9))",
    "anti": "join anti on ((#4 = #8) and (#1 < #9))",
    "keys": "join semi on (#4 <=> #8)",
}
CASES = list(product(ASKING, ("left", "right", "full"), PADDED))


@pytest.mark.parametrize(("asking", "kind", "padded"), CASES)
def test_what_is_missing_is_not_padded(asking: str, kind: str, padded: str) -> None:
    sides = (PADDED[padded], A) if kind == "right" else (A, PADDED[padded])
    outer = over(f"join {kind} on (#2 = #3)", *sides)
    relation = from_text(over(ASKING[asking], outer, D) + "\n")
    shapes = shapes_of(relation)
    for seed in range(HISTORIES):
        source = random.Random(seed)  # noqa: S311
        maintained = Maintained(Case(relation, shapes))
        present: dict[str, list] = {shape.name: [] for shape in shapes}
        for _ in range(BATCHES):
            maintained.arrive({s.name: next_changes(source, s, present[s.name]) for s in shapes})
            maintained.refresh()
