"""The kinds of views, and of runs, whose refresh may end at any point."""

from __future__ import annotations

from typing import Any, Final

from tests.harness.constructs import CONSTRUCTS
from tests.harness.daily import GOAL, REFRESHES, storing
from tests.harness.eager import eagerly
from tests.harness.faults.kind import (
    Kind,
    Shown,
    damaged,
    divided,
    few,
    front,
    large,
    moved,
    nothing,
    takes,
)
from tests.harness.faults.runs import (
    broken,
    changed_before,
    confirmed,
    listed,
    merged,
    misfits,
    referring,
)
from tests.harness.guarded import wary


def _states_written(count: int) -> Shown:
    return lambda _, steps: sum("put states/" in step for step in steps) == count


def _says(reason: str) -> Shown:
    return lambda report, _: report.views["v"].reasons[0].startswith(reason)


def _daily(sql: str, turn: int, reason: str, **more: Any) -> Kind:
    return Kind(
        {"v": sql},
        settings={"goal": GOAL},
        circumstances=storing,
        change=changed_before(turn - 1),
        shown=_says(reason),
        **more,
    )


def _maintained(construct: str, **more: Any) -> Kind:
    return Kind({"v": CONSTRUCTS[construct]}, settings={"policy": "incremental"}, **more)


SUMS = CONSTRUCTS["SUM, COUNT, AVG"]
COUNTED = "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k"
LEFT = CONSTRUCTS["left join"]
JOINED = (
    "SELECT name, sum(v) AS s, count(*) AS n FROM t JOIN u ON t.k = u.k JOIN w ON t.id = w.id"
    " GROUP BY name"
)
REFERRING = (
    "SELECT c.name, o.k, o.state, l.n, l.v FROM customers c, orders o, lines l "
    "WHERE c.k = o.c AND o.k = l.o AND o.state <> 'x'"
)
FULL = {"v": "full"}
STATES_ONLY = {"v": "states-only"}

KINDS: Final[dict[str, Kind]] = {
    "linear": _maintained("filter, projection"),
    "aggregate": _maintained("SUM, COUNT, AVG"),
    "aggregate without groups": _maintained("aggregate without GROUP BY"),
    "distinct": _maintained("DISTINCT"),
    "inner join": _maintained("inner join"),
    "left join": _maintained("left join"),
    "full join": _maintained("full join"),
    "join by any condition": _maintained("left join, any condition"),
    "semi join": _maintained("IN"),
    "anti join": _maintained("NOT EXISTS"),
    "NOT IN": _maintained("NOT IN"),
    "values state": _maintained("MIN, MAX"),
    "median": _maintained("MEDIAN, PERCENTILE"),
    "window": _maintained("window with PARTITION BY"),
    "top k": _maintained("ORDER BY, LIMIT"),
    "top k run dry": Kind(
        {"v": "SELECT a.id, b.id AS o FROM t a CROSS JOIN t b ORDER BY a.id, b.id LIMIT 5"},
        settings={"policy": "incremental"},
        change=front,
        shown=takes("/refilled/"),
    ),
    "top k over groups": _maintained("ORDER BY, LIMIT over groups"),
    "recomputed groups": _maintained("COLLECT_LIST"),
    "union all": _maintained("UNION ALL"),
    "union": _maintained("UNION"),
    "intersect": _maintained("INTERSECT"),
    "except all": _maintained("EXCEPT ALL"),
    "generator": _maintained("explode"),
    "grouping sets": _maintained("CUBE"),
    "scalar subquery": _maintained("scalar subquery"),
    "view over view": Kind(
        {"below": SUMS, "v": "SELECT k, s FROM below WHERE c > 3"},
        methods={"below": "incremental", "v": "incremental"},
        settings={"policy": "incremental"},
    ),
    "shared state": Kind(
        {"v": COUNTED, "other": f"{COUNTED} HAVING count(*) > 6"},
        methods={"v": "incremental", "other": "incremental"},
        settings={"policy": "incremental"},
        shown=_states_written(1),
    ),
    "full by policy": Kind({"v": LEFT}, settings={"policy": "full"}, methods=FULL),
    "not deterministic": Kind({"v": CONSTRUCTS["rand()"]}, methods=FULL, is_repeatable=False),
    "clock": Kind({"v": CONSTRUCTS["function of the clock"]}, methods=FULL),
    "function of a user": Kind(
        {"v": "SELECT id, escaped(s) AS s FROM t"},
        functions={"escaped": "html:escape"},
        settings={"policy": "incremental"},
    ),
    "first run": Kind(
        {"v": SUMS, "j": LEFT},
        has_answers=False,
        methods={"v": "full", "j": "full"},
        commits=2,  # the engine is noted first
    ),
    "registered by the run": Kind(
        {"v": SUMS},
        declarations={"views": {"new": {"sql": LEFT}, "over": {"sql": "SELECT id FROM new"}}},
        settings={"policy": "incremental"},
        methods={"v": "incremental", "new": "full", "over": "full"},
    ),
    "replaced by the run": Kind(
        {"v": SUMS},
        declarations={"apply": True, "views": {"v": {"sql": f"{SUMS} HAVING count(*) > 6"}}},
        methods=FULL,
        keeps_history=False,
        commits=2,
    ),
    "stale plan": Kind(
        {"v": SUMS, "other": LEFT},
        after_plan=moved,
        settings={"policy": "incremental"},
        methods={"v": "unchanged", "other": "incremental"},
    ),
    "rebuilt state": Kind(
        {"v": SUMS},
        after_plan=damaged("states/"),
        settings={"policy": "incremental"},
        methods=FULL,
        commits=2,
    ),
    "rebuilt mirror": Kind(
        {"v": LEFT},
        after_plan=damaged("sources/"),
        settings={"policy": "incremental"},
        commits=3,  # one mirror is found after the other
    ),
    "written by Spark": Kind(
        {"v": LEFT},
        settings={"policy": "incremental"},
        change=large,
        shown=takes("spark write views/"),
    ),
    "nothing changes": _maintained("SUM, COUNT, AVG", change=nothing),
    "another view fails": Kind(
        {"v": LEFT, "bad": "SELECT id, 1 / (v + 7) AS x FROM t"},
        change=divided,
        settings={"policy": "incremental"},
        methods={"v": "incremental", "bad": "failed"},
    ),
    "right join": _maintained("right join"),
    "existence join": _maintained("EXISTS in an expression"),
    "PIVOT": _maintained("PIVOT"),
    "remembered join, begun": Kind(
        {"v": JOINED},
        settings={"policy": "incremental"},
        circumstances=eagerly,
        change=changed_before(1),
        shown=takes("write states/…/…/base"),
    ),
    "remembered join": Kind(
        {"v": JOINED},
        settings={"policy": "incremental"},
        circumstances=eagerly,
        change=changed_before(2),
        shown=_states_written(2),
    ),
    "foreign keys": Kind(
        {"v": REFERRING},
        sources=referring,
        settings={"policy": "incremental"},
        change=confirmed,
        shown=lambda report, _: bool(report.asked),
    ),
    "foreign key that breaks": Kind(
        {"v": REFERRING},
        sources=referring,
        settings={"policy": "incremental"},
        change=broken,
        commits=2,
    ),
    "states only": _daily(JOINED, 1, "NOT_DUE(1 of 3)", methods=STATES_ONLY),
    "states only once more": _daily(JOINED, 2, "NOT_DUE(2 of 3)", methods=STATES_ONLY),
    "due by its period": _daily(JOINED, REFRESHES, "STORED_EARLY(by 2 of them)"),
    "sums stored early": _daily(COUNTED, 1, "NOT_DUE(1 of 3)", methods=STATES_ONLY),
    "sums due by their period": _daily(COUNTED, REFRESHES, "STORED_EARLY(by 2 of them)"),
    "turned back": Kind(
        {"v": SUMS},
        circumstances=wary,
        change=few,
        methods=FULL,
        shown=lambda report, _: report.views["v"].switched,
    ),
    "compacting": Kind(
        {"v": LEFT},
        settings={"policy": "incremental"},
        change=merged,
        shown=lambda report, _: len(report.compactions) >= 2,
    ),
    "published": Kind(
        {"v": LEFT}, settings={"policy": "incremental"}, is_published=True, shown=takes("switch")
    ),
    "quarantine": Kind(
        {"v": "SELECT name, count(*) AS n FROM lines GROUP BY name"},
        sources=listed,
        settings={"policy": "incremental"},
        change=misfits,
        shown=lambda report, _: bool(report.quarantined),
    ),
}
