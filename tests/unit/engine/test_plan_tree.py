"""Plans as trees with figures: what is expected, what was found, and where nobody knows."""

from __future__ import annotations

from dataclasses import replace

from slacktide.engine.telling.plan_tree import plan_tree
from slacktide.optimizer.estimates import NOTHING, Estimates, Expected
from slacktide.optimizer.plan import ViewPlan
from slacktide.program import operator as o
from slacktide.program.textual import program_text
from tests.unit.optimizer.test_estimates import planned
from tests.unit.optimizer.test_first import SORTED, limit, program
from tests.unit.optimizer.views import SUMMED

PROGRAM, ESTIMATES = planned(SUMMED)
PLAN = ViewPlan("v", "incremental", (), PROGRAM, {}, {}, 1, estimates=ESTIMATES)


def test_a_line_for_each_node_after_its_figures() -> None:
    drawn, bare = plan_tree(PLAN), program_text(PROGRAM).splitlines()
    assert drawn[0].split() == ["rows", "expected", "CPU", "s"]
    assert all(
        line.endswith(text) for line, text in zip(drawn[1 : len(bare) + 1], bare, strict=True)
    )
    (read,) = (line for line in drawn if "read_changes lines" in line)
    assert read.split()[:1] == ["60,000"]


def test_what_nobody_has_counted_is_told_from_what_was() -> None:
    known = Estimates({"views/v": Expected(3, 0.25, is_guess=True)})
    assert Estimates.from_dict(known.to_dict()) == known
    earlier = {"views/v": [3, 0.25]}
    assert Estimates.from_dict(earlier).nodes["views/v"] == Expected(3, 0.25), "of a plan of before"
    drawn = plan_tree(replace(PLAN, estimates=known))
    assert [line.split()[0] for line in drawn if "publish" in line] == ["3?"]
    assert drawn[-1] == "  ? follows from what nobody has counted"
    assert "follows from" not in plan_tree(replace(PLAN, estimates=NOTHING))[-1]


def test_what_steps_took_stands_beside_what_was_expected() -> None:
    (save,) = (step for step in PROGRAM.steps if isinstance(step, o.Save))
    steps = [{"chain": save.chain, "form": "segment", "rows": 12345, "cpu_seconds": 0.5}]
    drawn = plan_tree(PLAN, {"steps": steps})
    assert drawn[0].split() == ["rows", "expected", "CPU", "s", "rows", "found", "CPU", "s"]
    (line,) = (line for line in drawn if f"save segment {save.chain}" in line)
    assert line.split()[2:4] == ["12,345", "0.500"]
    assert sum("12,345" in line for line in drawn) == 1


def test_what_was_read_stands_at_the_first_node_that_reads_it() -> None:
    (save,) = (step for step in PROGRAM.steps if isinstance(step, o.Save))
    actual = {
        "steps": [{"chain": save.chain, "form": "segment", "rows": 1, "cpu_seconds": 0.5}],
        "operators": [
            {"operator": "changes of lines", "rows": 40_000},
            {"operator": "changes of lines", "rows": 2},
            {"operator": save.chain, "rows": 77},
            {"operator": "Scan elsewhere", "rows": None},
        ],
    }
    drawn = plan_tree(PLAN, actual)
    (read,) = (line for line in drawn if "40,002" in line)
    assert "read_changes lines" in read
    (state,) = (line for line in drawn if " 77 " in line)
    assert f"read_state {save.chain}" in state


def test_rows_that_were_filled_up_are_told_from_those_that_were_saved() -> None:
    save, refill, _ = program(limit(SORTED, 5)).steps
    assert isinstance(save, o.Save)
    assert isinstance(refill, o.Refill)
    steps = [
        {"chain": save.chain, "form": "base", "rows": 7, "cpu_seconds": 0.1},
        {"chain": save.chain, "form": "refilled", "rows": 9, "cpu_seconds": 0.2},
    ]
    plan = replace(PLAN, program=o.Program((save, refill)), estimates=NOTHING)
    drawn = plan_tree(plan, {"steps": steps})
    told = {line.split()[2]: line.split()[0] for line in drawn[1:] if line.endswith(save.chain)}
    assert told == {"save": "7", "refill": "9"}


def test_without_figures_there_is_the_tree_alone() -> None:
    drawn = plan_tree(replace(PLAN, estimates=NOTHING))
    assert [line.strip() for line in drawn] == [
        line.strip() for line in program_text(PROGRAM).splitlines()
    ]
    assert plan_tree(replace(PLAN, program=None)) == []


def test_a_node_that_is_not_known_has_no_figures() -> None:
    known = Estimates({"views/v": Expected(3, 0.25)})
    drawn = plan_tree(replace(PLAN, estimates=known))
    assert [line.split()[:2] for line in drawn if "publish" in line] == [["3", "0.250"]]
    assert sum("0.250" in line for line in drawn) == 1
