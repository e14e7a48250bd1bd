"""How long planning takes for the views of a benchmark, what each switch saves, and what is chosen.

    python -m tests.campaigns.planning tpch --out tests/campaigns/planning.json
    python -m tests.campaigns.planning tpcds --out tests/campaigns/planning_tpcds.json

Times are of the process, so that other work on the machine does not count. Costs are estimates of CPU, in
seconds, by the statistics of scale 1: of the last of two instants, as in maintenance, for the mixture of all
methods and for each method beside derivation and recomputation. A search that its budget ends is marked:
what is chosen is the best of what it had found. What the output holds already is not done again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from slacktide.optimizer.choice.choosing import Choice, choose, choose_among
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import METHODS, Expanded, Problem, Switches, expand
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.statistics import Statistics
from tests.harness.planner.tpcds_views import TPCDS
from tests.harness.planner.tpch_views import TPCH
from tests.harness.planner.workload import Workload
from tests.harness.versions import versions

WORKLOADS = {"tpch": TPCH, "tpcds": TPCDS}
EVERY = {"tpch": 1, "tpcds": 5}
"""Every how many views are planned with each switch."""
USUAL = "as it is"
SWITCHES = {
    USUAL: Switches(),
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
            "EA": ("aggregate early",),
            "touched": ("touch",),
        }.items()
    },
}
MIXED = "mixed"
FAST, SLOW = 3.0, 14.0
"""Seconds: for four of five views, and for each."""


def space(expanded: Expanded, known: Statistics) -> PlanSpace:
    """The plans of a memo with estimated prices, the answer due at every instant."""
    costs = MemoCosts(expanded.memo, known)
    due = range(1, len(expanded.answers) + 1)
    return space_of(expanded, due, costs.price, costs.carrying)


def timed(given: Problem, known: Statistics, switches: Switches) -> tuple[dict[str, Any], Counter]:
    """Explore and choose, by the clock of the process; what was found, and the rules that fired."""
    start = time.process_time()
    expanded = expand(given, switches=switches)
    explored = time.process_time()
    plans = space(expanded, known)
    choice = choose(plans, LastFirst(given.instants))
    row = {
        "explored": round(explored - start, 3),
        "chosen": round(time.process_time() - explored, 3),
        "fired": expanded.trace.fired.total(),
        "is_whole": expanded.trace.is_whole,
        "groups": len(expanded.memo.groups),
        "expressions": expanded.memo.groups.size(),
        "relations": len(expanded.memo.tvrs()),
        "cost": choice.key[0] / 1e6,
    }
    return row, expanded.trace.fired


class Chosen(NamedTuple):
    """A plan, and what it was chosen from."""

    expanded: Expanded
    space: PlanSpace
    choice: Choice


class Compared:
    """What the last run of each plan of a view costs, in seconds, for the mixture and each method."""

    def __init__(self, workload: Workload, query: str) -> None:
        self._workload = workload
        self._query = query
        self._explored: dict[Any, Expanded] = {}

    def under(self, pattern: str) -> dict[str, Any]:
        """Under one pattern of arrival, and whether the best single method kept the mixture from worse."""
        choices = self.choices(pattern)
        mixed = choices.pop(MIXED)
        return {
            "mixed": mixed.choice.key[0] / 1e6,
            "is_guarded": mixed.expanded is not self._expanded(METHODS, pattern),
            "single": {name: one.choice.key[0] / 1e6 for name, one in choices.items()},
        }

    def choices(self, pattern: str) -> dict[str, Chosen]:
        """What is chosen under a pattern, by each method and by the mixture, which the best of them guards."""
        known = self._workload.statistics(2, pattern)
        objective = LastFirst(2)
        found: dict[str, Chosen] = {}
        for name, methods in SINGLE.items():
            expanded = self._expanded(methods, pattern)
            plans = space(expanded, known)
            same = next((one for one in found.values() if one.space == plans), None)
            found[name] = same or Chosen(expanded, plans, choose(plans, objective))
        best = min(found.values(), key=lambda one: one.choice.key)
        whole = self._expanded(METHODS, pattern)
        spaces = [space(whole, known), best.space]
        place, mixed = choose_among(spaces, objective)
        found[MIXED] = Chosen((whole, best.expanded)[place], spaces[place], mixed)
        return found

    def _expanded(self, methods: frozenset[str], pattern: str) -> Expanded:
        """Patterns with the same tables that only grow have the same memos, and most methods all."""
        given = self._workload.problem(self._query, 2, pattern)
        key = methods, given.append_only if "hold" in methods else None
        if key not in self._explored:
            self._explored[key] = expand(given, methods=methods)
        return self._explored[key]


def planned(workload: Workload, query: str, instants: int, *, is_sampled: bool) -> dict[str, Any]:
    """Everything of one view; with all switches where it is in the sample."""
    given, known = workload.problem(query, instants), workload.statistics(instants)
    found: dict[str, Any] = {}
    for name in SWITCHES if is_sampled else [USUAL]:
        found[name], fired = timed(given, known, SWITCHES[name])
        if name == USUAL:
            found[name]["rules"] = dict(sorted(fired.items()))
    return {
        "verdict": [str(reason) for reason in workload.view(query).verdict()],
        "planned": found,
    }


def summary(found: dict[str, Any]) -> Iterator[str]:
    """What the campaign says, in lines."""
    views = found["views"]
    times = sorted(_seconds(view["planned"][USUAL]) for view in views.values())
    share = sum(seconds <= FAST for seconds in times) / len(times)
    yield (
        f"{len(views)} views, {found['instants']} instants: median {median(times):.2f} s, "
        f"{share:.0%} in at most {FAST:.0f} s, at most {times[-1]:.2f} s"
    )
    sample = {query: view for query, view in views.items() if len(view["planned"]) > 1}
    yield from _switched(USUAL, views)
    yield f"{len(sample)} of these with each switch:"
    for name in SWITCHES:
        yield from _switched(name, sample)
    rules = sum((Counter(view["planned"][USUAL]["rules"]) for view in views.values()), Counter())
    yield "rules: " + ", ".join(f"{name} {count}" for name, count in rules.most_common())
    yield from _methods(views)


def _switched(name: str, views: dict[str, Any]) -> Iterator[str]:
    rows = [view["planned"][name] for view in views.values()]
    dearer = [
        query
        for query, view in views.items()
        if view["planned"][USUAL]["cost"] > view["planned"][name]["cost"]
    ]
    cut = [query for query, view in views.items() if not view["planned"][name]["is_whole"]]
    yield (
        f"{name}: explored {sum(row['explored'] for row in rows):.1f} s, chosen "
        f"{sum(row['chosen'] for row in rows):.1f} s, {sum(row['fired'] for row in rows)} rules fired, "
        f"{sum(row['groups'] for row in rows)} groups, "
        f"{sum(row['expressions'] for row in rows)} expressions; "
        f"ended by the budget: {', '.join(cut) or 'none'}; cheaper plans: {', '.join(dearer) or 'none'}"
    )


def _methods(views: dict[str, Any]) -> Iterator[str]:
    best: Counter[str] = Counter()
    cheaper: list[str] = []
    guarded: list[str] = []
    for query, view in views.items():
        for pattern, cell in view.get("costs", {}).items():
            least = min(cell["single"].values())
            best[next(name for name, cost in cell["single"].items() if cost == least)] += 1
            if cell["mixed"] < least:
                cheaper.append(f"{query} {pattern} {cell['mixed'] / least:.3f}")
            if cell["is_guarded"]:
                guarded.append(f"{query} {pattern}")
    yield "best single method: " + ", ".join(f"{name} {n}" for name, n in best.most_common())
    yield f"the mixture is cheaper in {len(cheaper)} cells: {', '.join(cheaper) or 'none'}"
    yield f"without its guard it would be dearer in {len(guarded)}: {', '.join(guarded) or 'none'}"


def _size(view: dict[str, Any]) -> int:
    return int(view["planned"][USUAL]["expressions"])


def _seconds(row: dict[str, Any]) -> float:
    return float(row["explored"] + row["chosen"])


def written(found: dict[str, Any]) -> str:
    """JSON with a line for each part of a view."""
    lines = []
    for query, view in found["views"].items():
        parts = ",\n".join(
            f"   {json.dumps(name)}: {json.dumps(part)}" for name, part in view.items()
        )
        lines.append(f"  {json.dumps(query)}: {{\n{parts}\n  }}")
    head = "".join(
        f" {json.dumps(name)}: {json.dumps(value)},\n"
        for name, value in found.items()
        if name != "views"
    )
    return "{\n" + head + ' "views": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> int:
    """Run the campaign and write what it found, view by view."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--instants", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--views", nargs="+", metavar="NAME", help="only these, such as q14b")
    arguments = parser.parse_args()
    workload = WORKLOADS[arguments.workload]
    done = json.loads(arguments.out.read_text())["views"] if arguments.out.exists() else {}
    found: dict[str, Any] = {
        "workload": arguments.workload,
        "instants": arguments.instants,
        **versions(),
        "views": done,
    }
    for place, query in enumerate(workload.queries):
        if query not in done and query in (arguments.views or workload.queries):
            is_sampled = place % EVERY[arguments.workload] == 0
            done[query] = planned(workload, query, arguments.instants, is_sampled=is_sampled)
            found["views"] = {name: done[name] for name in workload.queries if name in done}
            arguments.out.write_text(written(found), encoding="utf-8")
    small_first = sorted(found["views"].items(), key=lambda item: _size(item[1]))
    for query, view in small_first:
        if "costs" not in view:
            compared = Compared(workload, query)
            view["costs"] = {
                pattern: compared.under(pattern) for pattern in workload.patterns_of(query)
            }
            arguments.out.write_text(written(found), encoding="utf-8")
    sys.stdout.write("\n".join(summary(found)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
