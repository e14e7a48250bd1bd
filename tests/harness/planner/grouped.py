"""Random groupings of groupings, and what is chosen and told by the keys of a grouping."""

from __future__ import annotations

import random

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from tests.harness.histories import shapes_of
from tests.harness.plans import SourceShape

SALES = "scan sales [o#1:INT, cat#2:STRING, price#3:INT, cost#4:DECIMAL(7,2)]"
JOINED = f"join inner on (#1 = #5)\n      {SALES}\n      scan returns [o#5:INT, w#6:INT]"
LONELY = f"join left on (#1 = #5)\n      {SALES}\n      scan returns [o#5:INT, w#6:INT]"
MEASURES = (
    ("sum(#3)", "BIGINT", "BIGINT"),
    ("sum(#4)", "DECIMAL(17,2)", "DECIMAL(27,2)"),
    ("sum(#3 where (#1 > 0))", "BIGINT", "BIGINT"),
    ("count()", "BIGINT!", "BIGINT"),
    ("count(#3)", "BIGINT!", "BIGINT"),
    ("count(#3 where (#1 > 0))", "BIGINT!", "BIGINT"),
)
CHOSEN = ("(#12 > 0)", "isnull(#12)", "(isnotnull(#11) and (#12 < 2))")


def random_grouping(source: random.Random) -> tuple[Rel, tuple[SourceShape, ...]]:
    """A sum over groups, or a choice among them."""
    first, second = source.choices(MEASURES, k=2)
    inner = (
        "aggregate key=[cat#11:STRING := #2, o#12:INT := #1] "
        f"[a#13:{first[1]} := {first[0]}, b#14:{second[1]} := {second[0]}]\n"
        f"    {source.choice((SALES, SALES, JOINED, LONELY))}"
    )
    lines = [f"filter {source.choice(CHOSEN)}"] if source.random() < 0.5 else []
    if source.random() < 0.7:
        key = source.choice(("cat#21:STRING := #11", "o#21:INT := #12", ""))
        sums = f"a#22:{first[2]} := sum(#13), b#23:{second[2]} := sum(#14)"
        lines.insert(0, f"aggregate key=[{key}] [{sums}]")
    elif not lines or source.random() < 0.5:
        lines.insert(0, "project [#11, #12, next#24:INT := (#12 + 1):INT, #14]")
    text = "\n".join(f"{'  ' * depth}{line}" for depth, line in enumerate((*lines, inner)))
    relation = from_text(indented(text) + "\n")
    return relation, shapes_of(relation)


def indented(text: str) -> str:
    """Lines of a plan, each below what reads it."""
    found = []
    open_at = [0]  # how deep each input that is still to come stands
    for line in map(str.strip, text.splitlines()):
        depth = open_at.pop()
        found.append("  " * depth + line)
        inputs = 2 if line.startswith("join") else 1
        open_at += [depth + 1] * (0 if line.startswith("scan") else inputs)
    return "\n".join(found)
