"""The program of a view as a tree: what each node is expected to give and take, and what its reads gave and steps took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.common.tree import of_type
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.program.textual import program_lines

Cells = tuple[str, ...]
_NONE: Cells = ("", "")
GUESS = "?"
"""After rows that follow from something that nobody has counted or declared."""
_LEGEND = f"  {GUESS} follows from what nobody has counted"


def plan_tree(plan: ViewPlan, actual: Mapping[str, Any] | None = None) -> list[str]:
    """Draw the program of a plan, a line for each node, after its rows and seconds of CPU.

    An operator that is read in several places has the seconds of all. Rows with `GUESS` after them are less certain.
    Rows that a run has read are told at the first node that reads the same: Spark scans for all of them together.

    Args:
        plan: what is drawn; nothing is where it has no program.
        actual: what a run that executed it says that it cost; see `slacktide.spark.measures.cost.Cost`.
    """
    if plan.program is None:
        return []
    nodes = program_lines(plan.program)
    rows: list[Cells] = [() for _ in nodes]
    heads: Cells = ()
    if plan.estimates.nodes:
        heads += ("rows expected", "CPU s")
        rows = [(*row, *_expected(plan, node)) for row, (node, _) in zip(rows, nodes, strict=True)]
    if (actual or {}).get("steps"):
        found = _Found(plan.program, actual or {})
        heads += ("rows found", "CPU s")
        rows = [(*row, *found.of(node)) for row, (node, _) in zip(rows, nodes, strict=True)]
    drawn = _aligned(heads, rows, [line for _, line in nodes])
    is_guessed = any(one.is_guess for one in plan.estimates.nodes.values())
    return [*drawn, _LEGEND] if is_guessed else drawn


def _expected(plan: ViewPlan, node: o.Operator | o.Step | None) -> Cells:
    expected = None if node is None else plan.estimates.of(node)
    if expected is None:
        return _NONE
    return f"{expected.rows:,}{GUESS if expected.is_guess else ''}", f"{expected.seconds:.3f}"


class _Found:
    """What a run counted, node by node.

    Args:
        program: that it executed.
        actual: what it says that it cost.
    """

    def __init__(self, program: o.Program, actual: Mapping[str, Any]) -> None:
        told = actual["steps"]
        self._steps = {(step["chain"], step["form"] == "refilled"): step for step in told}
        self._scanned: Counter[str] = Counter()
        for scan in actual.get("operators", ()):
            self._scanned[scan["operator"]] += scan["rows"] or 0
        self._changing = {read.source for read in of_type(program, o.ReadChanges)}

    def of(self, node: o.Operator | o.Step | None) -> Cells:
        """The rows that a node gave, and the seconds of a step."""
        if node is None:
            return _NONE
        if isinstance(node, o.Operator):
            read = [rows for one in self._labels(node) if (rows := self._scanned.pop(one, None))]
            return (f"{sum(read):,}", "") if read else _NONE
        step = self._steps.get((o.target(node), isinstance(node, o.Refill)))
        return _NONE if step is None else (f"{step['rows']:,}", f"{step['cpu_seconds']:.3f}")

    def _labels(self, node: o.Operator) -> Sequence[str]:
        """How `slacktide.spark` labels what a leaf reads."""
        match node:
            case o.ReadChanges(source=source):
                return (f"changes of {source}",)
            case o.ReadSnapshot(source=source) if source in self._changing:
                return (f"rows of {source}",)
            case o.ReadSnapshot(source=source):  # as long as it has no mirror
                return (f"rows of {source}", f"changes of {source}")
            case o.ReadBag(chain=chain) | o.ReadState(chain=chain):
                return (chain,)
            case _:
                return ()


def _aligned(heads: Cells, rows: Sequence[Cells], lines: Sequence[str]) -> list[str]:
    """Set figures to the right of their columns, and lines after them."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def spelled(cells: Cells, line: str) -> str:
        figures = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        return "  ".join(["", *figures, line]).rstrip()

    drawn = [spelled(*each) for each in zip(rows, lines, strict=True)]
    return [spelled(heads, ""), *drawn] if heads else drawn
