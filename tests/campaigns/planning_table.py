"""The planner's telemetry as tables shaped like those of Tempura's evaluation (tempura.md §7.4).

    python -m tests.campaigns.planning_table --query q1 --query q5 --instants 3 --instants 9

Seconds of the process: PSE is exploring, SMO choosing states. Methods are added one after another; the two
techniques are measured alone and together, beside neither.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.expand import METHODS, Switches
from slacktide.optimizer.telemetry import AS_IT_IS, Telemetry, complexity_of, plan_and_tell, table
from tests.harness.planner.tpch_views import TPCH

ADDED = {
    "IM-1": frozenset({"recompute", "derive"}),
    "+ IM-2": frozenset({"recompute", "derive", "hold"}),
    "+ HOV": frozenset({"recompute", "derive", "hold", "higher order"}),
    "+ OJV": frozenset({"recompute", "derive", "hold", "higher order", "outer join"}),
    "+ EA": frozenset(
        {"recompute", "derive", "hold", "higher order", "outer join", "aggregate early"}
    ),
}
TECHNIQUES = {
    "neither TS nor PNA": Switches(is_translated=False, is_pruned=False),
    "PNA alone": Switches(is_translated=False),
    "TS alone": Switches(is_pruned=False),
    "TS, PNA and GE": Switches(),
}


def told(
    query: str,
    instants: int,
    *,
    methods: frozenset[str] = METHODS,
    switches: Switches = AS_IT_IS,
) -> Telemetry:
    """The telemetry of the plan of one view, by the clock of the process."""
    return plan_and_tell(
        TPCH.problem(query, instants),
        TPCH.statistics(instants),
        LastFirst(instants),
        time.process_time,
        methods=methods,
        switches=switches,
    ).telemetry


def column(query: str, runs: Sequence[int]) -> dict[str, str]:
    """All measures of one view."""
    complexity = complexity_of(TPCH.relation(query))
    found = {
        "joins": str(complexity.joins),
        "aggregates": str(complexity.aggregates),
        "sub-queries": str(complexity.subqueries),
    }
    for instants in runs:
        plan = told(query, instants)
        found |= {f"{instants} runs: {name}": text for name, text in measures(plan).items()}
    for kind, ways in (("methods", ADDED), ("techniques", TECHNIQUES)):
        for name, way in ways.items():
            how = {"methods": way} if kind == "methods" else {"switches": way}
            plan = told(query, runs[0], **how)  # type: ignore[arg-type]
            found |= {f"{name}: PSE": seconds(plan.explored), f"{name}: SMO": seconds(plan.chosen)}
    return found


def measures(plan: Telemetry) -> dict[str, str]:
    """What is told of one plan."""
    fired = sorted(plan.fired.items(), key=lambda item: -item[1])[:3]
    return {
        "PSE": seconds(plan.explored),
        "SMO": seconds(plan.chosen),
        "rules fired": str(sum(plan.fired.values())),
        "most fired": ", ".join(f"{name} {count}" for name, count in fired),
        "relations": str(plan.relations),
        "groups": str(plan.groups),
        "expressions": str(plan.expressions),
        "state MB": " ".join(f"{size / 1e6:.1f}" for size in plan.state_bytes),
        "estimated s": " ".join(f"{micros / 1e6:.1f}" for micros in plan.estimated),
    }


def seconds(value: float) -> str:
    return f"{value:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--query", action="append", choices=TPCH.queries)
    parser.add_argument("--instants", type=int, action="append")
    given = parser.parse_args(arguments)
    queries = sorted(
        given.query or TPCH.queries, key=lambda name: complexity_of(TPCH.relation(name)).joins
    )
    runs = given.instants or [3]
    lines = table("query", {query: column(query, runs) for query in queries})
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
