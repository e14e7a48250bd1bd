"""The kinds of views, and of runs, whose refresh may end at any point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slacktide.store.naming import segments
from tests.harness.capabilities import DIMENSION, FACTS, NESTED, fact
from tests.harness.constructs import CONSTRUCTS, T, U, W
from tests.harness.lab import Lab
from tests.harness.shop import NOON


def change(lab: Lab) -> None:
    """Rows come, go and change, on both sides of a join; a group is left, another comes."""
    rows = lab.rows["t"]
    lab.land(
        "t",
        insert=[fact(50, 9, 0), fact(51, 1, None), fact(54, 2, 8)],
        delete=[min((row for row in rows if row[3] is not None), key=lambda row: row[3])],
        update=[(rows[1], (rows[1][0], None, *rows[1][2:]))],
    )
    lab.land("u", insert=[(0, "b", 3)], delete=[lab.rows["u"][1]])
    lab.land("w", insert=[(50, [7], (1, "r"))], delete=lab.rows["w"][:1])


def large(lab: Lab) -> None:
    """More rows than the driver takes, so that Spark writes the segments."""
    lab.land("t", insert=[fact(number, number % 5, number % 9) for number in range(100, 20_200)])


def front(lab: Lab) -> None:
    """What stands first goes, and with it all pairs that a limit keeps."""
    lab.land("t", delete=[row for row in lab.rows["t"] if row[0] < 26])


def nothing(lab: Lab) -> None:
    """A change that sums to nothing."""
    lab.land("t", insert=[fact(70, 1, 1)], delete=[fact(70, 1, 1)])


def divided(lab: Lab) -> None:
    """A row over which one of the views stumbles."""
    change(lab)
    lab.land("t", insert=[fact(52, 2, -7)])


def undisturbed(_: Lab) -> None:
    """Nothing happens between the plan and its refresh."""


def moved(lab: Lab) -> None:
    """Another run takes in what the plan was made for, and more."""
    lab.land("t", insert=[fact(53, 3, 5)])
    lab.ws.refresh(lab.spark, views=["v"])


def damaged(prefix: str) -> Callable[[Lab], None]:
    """The files of some chains are lost."""

    def lose(lab: Lab) -> None:
        for name, chain in lab.ws._store.world().chains.items():
            if name.startswith(prefix):
                for segment in segments(chain):
                    for file in segment.files:
                        (Path(lab.ws.root) / file.path).unlink()

    return lose


@dataclass(frozen=True, slots=True)
class Kind:
    """A workspace with a first run, a change, and the plan of the run that ends at a point.

    Attributes:
        views: texts by name; each is read by those after it.
        settings: of all these views.
        functions: targets of functions that return text, by name.
        has_answers: whether there is a first run before the plan.
        change: lands what the plan is made for.
        after_plan: happens between the plan and its refresh.
        declarations: what the plan registers.
        methods: by view, the method of the undisturbed run.
        is_repeatable: whether equal rows give equal answers.
        keeps_history: whether the changes of the answers lead over the run.
        commits: entries that the run writes to the log.
    """

    views: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    has_answers: bool = True
    change: Callable[[Lab], None] = change
    after_plan: Callable[[Lab], None] = undisturbed
    declarations: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=lambda: {"v": "incremental"})
    is_repeatable: bool = True
    keeps_history: bool = True
    commits: int = 1

    def prepare(self, lab: Lab) -> str:
        """Bring a workspace to where the plan is stored; give the plan's id."""
        lab.source("t", T, *FACTS)
        lab.source("u", U, *DIMENSION)
        lab.source("w", W, *NESTED)
        for name, target in self.functions.items():
            lab.ws.add_function(name, target, returns="string")
        for name, sql in self.views.items():
            lab.view(name, sql, **{"policy": "auto", **self.settings})
        if self.has_answers:
            lab.refresh()
            self.change(lab)
        plan = lab.ws.plan(now=NOON, declarations=self.declarations or None)
        self.after_plan(lab)
        return plan.plan_id


def _maintained(construct: str, **more: Any) -> Kind:
    return Kind({"v": CONSTRUCTS[construct]}, settings={"policy": "incremental"}, **more)


SUMS = CONSTRUCTS["SUM, COUNT, AVG"]
COUNTED = "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k"
LEFT = CONSTRUCTS["left join"]
FULL = {"v": "full"}

KINDS: Final[dict[str, Kind]] = {
    "linear": _maintained("filter, projection"),
    "aggregate": _maintained("SUM, COUNT, AVG"),
    "aggregate without groups": _maintained("aggregate without GROUP BY"),
    "distinct": _maintained("DISTINCT"),
    "inner join": _maintained("inner join"),
    "left join": _maintained("left join"),
    "full join": _maintained("full join"),
    "join by any condition": _maintained("left join, any condition"),
    "semi join": _maintained("EXISTS, IN"),
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
    ),
    "full by policy": Kind({"v": LEFT}, settings={"policy": "full"}, methods=FULL),
    "not deterministic": Kind({"v": CONSTRUCTS["rand()"]}, methods=FULL, is_repeatable=False),
    "clock": Kind({"v": CONSTRUCTS["function of the clock"]}, methods=FULL),
    "function of a user": Kind(
        {"v": "SELECT id, escaped(s) AS s FROM t"},
        functions={"escaped": "html:escape"},
        methods=FULL,
    ),
    "first run": Kind(
        {"v": SUMS, "j": LEFT}, has_answers=False, methods={"v": "full", "j": "full"}
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
    "written by Spark": Kind({"v": LEFT}, settings={"policy": "incremental"}, change=large),
    "nothing changes": _maintained("SUM, COUNT, AVG", change=nothing),
    "another view fails": Kind(
        {"v": LEFT, "bad": "SELECT id, 1 / (v + 7) AS x FROM t"},
        change=divided,
        settings={"policy": "incremental"},
        methods={"v": "incremental", "bad": "failed"},
    ),
    "right join": _maintained("right join"),
}
