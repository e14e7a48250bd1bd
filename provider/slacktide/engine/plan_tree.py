"""The program of a view as a tree: what each node is expected to give and take, and what its steps took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.program.textual import program_lines

Cells = tuple[str, ...]
_Steps = Mapping[tuple[str, bool], Mapping[str, Any]]
_NONE: Cells = ("", "")
GUESS = "?"
"""After rows that follow from something that nobody has counted or declared."""
_LEGEND = f"  {GUESS} follows from what nobody has counted"


def plan_tree(plan: ViewPlan, actual: Mapping[str, Any] | None = None) -> list[str]:
    """Draw the program of a plan, a line for each node, after its rows and seconds of CPU.

    An operator that is read in several places has the seconds of all. Rows with `GUESS` after them are less certain.

    Args:
        plan: what is drawn; nothing is where it has no program.
        actual: what a run that executed it says that it cost; see `slacktide.spark.cost.Cost`.
    """
    if plan.program is None:
        return []
    nodes = program_lines(plan.program)
    rows: list[Cells] = [() for _ in nodes]
    heads: Cells = ()
    if plan.estimates.nodes:
        heads += ("rows expected", "CPU s")
        rows = [(*row, *_expected(plan, node)) for row, (node, _) in zip(rows, nodes, strict=True)]
    taken = (actual or {}).get("steps", ())
    steps = {(step["chain"], step["form"] == "refilled"): step for step in taken}
    if steps:
        heads += ("rows found", "CPU s")
        rows = [(*row, *_found(steps, node)) for row, (node, _) in zip(rows, nodes, strict=True)]
    drawn = _aligned(heads, rows, [line for _, line in nodes])
    is_guessed = any(one.is_guess for one in plan.estimates.nodes.values())
    return [*drawn, _LEGEND] if is_guessed else drawn


def _expected(plan: ViewPlan, node: o.Operator | o.Step | None) -> Cells:
    expected = None if node is None else plan.estimates.of(node)
    if expected is None:
        return _NONE
    return f"{expected.rows:,}{GUESS if expected.is_guess else ''}", f"{expected.seconds:.3f}"


def _found(steps: _Steps, node: o.Operator | o.Step | None) -> Cells:
    if node is None or isinstance(node, o.Operator):
        return _NONE
    step = steps.get((o.target(node), isinstance(node, o.Refill)))
    return _NONE if step is None else (f"{step['rows']:,}", f"{step['cpu_seconds']:.3f}")


def _aligned(heads: Cells, rows: Sequence[Cells], lines: Sequence[str]) -> list[str]:
    """Set figures to the right of their columns, and lines after them."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def spelled(cells: Cells, line: str) -> str:
        figures = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        return "  ".join(["", *figures, line]).rstrip()

    drawn = [spelled(*each) for each in zip(rows, lines, strict=True)]
    return [spelled(heads, ""), *drawn] if heads else drawn
