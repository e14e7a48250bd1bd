"""What a kind of view, or of run, is: a workspace, a change, and the plan of the run that ends at a point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from slacktide.engine.reports import Report
from slacktide.store.naming import segments
from tests.harness.capabilities import DIMENSION, FACTS, NESTED, fact
from tests.harness.constructs import T, U, W
from tests.harness.lab import Lab
from tests.harness.shop import NOON

OUTSIDE = "outside"
"""The folder beside the workspace in which lies what a run writes elsewhere."""
QUARANTINE = "quarantine"
"""The folder in there for rows that do not fit."""


def tables(lab: Lab) -> None:
    """Facts, a dimension and nested values."""
    lab.source("t", T, *FACTS)
    lab.source("u", U, *DIMENSION)
    lab.source("w", W, *NESTED)


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


def few(lab: Lab) -> None:
    """So little that increments are planned, and three groups that change."""
    lab.land("t", insert=[fact(50, 9, 0), fact(51, 1, None), fact(54, 2, 8)])


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


Shown = Callable[[Report, Sequence[str]], bool]
"""Whether the report and the steps of a run show what its kind is named for."""


def takes(*texts: str) -> Shown:
    """Each text stands in one of the steps."""
    return lambda _, steps: all(any(text in step for step in steps) for text in texts)


COMMITS: Final = takes("put_if_absent log/")


@dataclass(frozen=True, slots=True)
class Kind:
    """A workspace with a first run, a change, and the plan of the run that ends at a point.

    Attributes:
        views: texts by name; each is read by those after it.
        settings: of all these views.
        sources: adds the sources.
        functions: targets of functions that return text, by name.
        has_answers: whether there is a first run before the plan.
        change: lands what the plan is made for.
        after_plan: happens between the plan and its refresh.
        circumstances: what holds while all is prepared and planned.
        declarations: what the plan registers.
        methods: by view, the method of the undisturbed run.
        is_repeatable: whether equal rows give equal answers.
        keeps_history: whether the changes of the answers lead over the run.
        commits: entries that the run writes to the log, without what it notes of columns once it is committed.
        is_published: whether each view has a sink.
        shown: asked of the undisturbed run.
    """

    views: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    sources: Callable[[Lab], None] = tables
    functions: Mapping[str, str] = field(default_factory=dict)
    has_answers: bool = True
    change: Callable[[Lab], None] = change
    after_plan: Callable[[Lab], None] = undisturbed
    circumstances: Callable[[], AbstractContextManager[None]] = nullcontext
    declarations: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=lambda: {"v": "incremental"})
    is_repeatable: bool = True
    keeps_history: bool = True
    commits: int = 1
    is_published: bool = False
    shown: Shown = COMMITS

    def prepare(self, lab: Lab) -> str:
        """Bring a workspace to where the plan is stored; give the plan's id."""
        with self.circumstances():
            return self._prepared(lab)

    def _prepared(self, lab: Lab) -> str:
        self.sources(lab)
        for name, target in self.functions.items():
            lab.ws.add_function(name, target, returns="string")
        for name, sql in self.views.items():
            given = {"policy": "auto", **self.settings, **self._sink(lab, name)}
            lab.view(name, sql, **given)
        if self.has_answers:
            lab.refresh()
            self.change(lab)
        plan = lab.ws.plan(now=NOON, declarations=self.declarations or None)
        self.after_plan(lab)
        return plan.plan_id

    def _sink(self, lab: Lab, view: str) -> Mapping[str, Any]:
        return {"sink": {"parquet": str(lab.root / OUTSIDE / view)}} if self.is_published else {}
