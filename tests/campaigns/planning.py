"""How long planning takes for the views of TPC-H, what each switch saves, and what is chosen.

    python -m tests.campaigns.planning --out tests/campaigns/planning.json

Times are of the process, so that other work on the machine does not count. Costs are estimates of CPU, in
seconds, by the statistics of scale 1: of the last of two instants, as in maintenance, for the mixture of all
methods and for each method beside derivation and recomputation.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from slacktide.optimizer.choice.choosing import choose, choose_among
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import METHODS, Expanded, Problem, Switches, expand
from slacktide.optimizer.plan_space import space_of
from slacktide.optimizer.statistics import Statistics
from tests.harness.planner.tpch_views import PATTERNS, QUERIES, problem, statistics

SWITCHES = {
    "as it is": Switches(),
    "without TS": Switches(is_translated=False),
    "without PNA": Switches(is_pruned=False),
    "without GE and TS": Switches(is_guided=False, is_translated=False),
}
SINGLE = {
    "full": frozenset[str](),
    **{
        name: frozenset({"recompute", "derive", *more})
        for name, more in {
            "IM-1": (),
            "IM-2": ("hold",),
            "OJV": ("outer join",),
            "HOV": ("higher order",),
            "touched": ("touch",),
        }.items()
    },
}


def space(expanded: Expanded, known: Statistics) -> PlanSpace:
    """The plans of a memo with estimated prices, the answer due at every instant."""
    costs = MemoCosts(expanded.memo, known)
    due = range(1, len(expanded.answers) + 1)
    return space_of(expanded, due, costs.price, costs.carrying, is_forgetful=True)


def timed(given: Problem, switches: Switches) -> dict[str, Any]:
    """Explore and choose, by the clock of the process."""
    start = time.process_time()
    expanded = expand(given, switches=switches)
    explored = time.process_time()
    plans = space(expanded, statistics(given.instants))
    choose(plans, LastFirst(given.instants))
    return {
        "explored": round(explored - start, 3),
        "chosen": round(time.process_time() - explored, 3),
        "fired": expanded.trace.fired.total(),
        "is_whole": expanded.trace.is_whole,
        "expressions": expanded.memo.groups.size(),
        "relations": len(expanded.memo.tvrs()),
    }


def compared(query: str, pattern: str) -> dict[str, float]:
    """What the last run of each plan costs, in seconds."""
    given, known = problem(query, 2, pattern), statistics(2, pattern)
    spaces = {name: space(expand(given, methods=how), known) for name, how in SINGLE.items()}
    objective = LastFirst(2)
    found = {name: choose(plans, objective).key[0] / 1e6 for name, plans in spaces.items()}
    whole = space(expand(given, methods=METHODS), known)
    _, mixed = choose_among([whole, *spaces.values()], objective)
    return {"mixed": mixed.key[0] / 1e6, **found}


def main() -> int:
    """Run the campaign and write what it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instants", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found: dict[str, Any] = {
        "instants": arguments.instants,
        "python": platform.python_version(),
        "planned": {
            query: {
                name: timed(problem(query, arguments.instants), how)
                for name, how in SWITCHES.items()
            }
            for query in QUERIES
        },
        "costs": {
            query: {pattern: compared(query, pattern) for pattern in PATTERNS} for query in QUERIES
        },
    }
    arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    times = sorted(
        plan["as it is"]["explored"] + plan["as it is"]["chosen"]
        for plan in found["planned"].values()
    )
    sys.stdout.write(f"median {times[len(times) // 2]:.2f} s, at most {times[-1]:.2f} s\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
