"""A workspace whose runs are not executed: each costs what the test says, and the log tells of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from obstore.store import MemoryStore

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.engine.definitions.forgetting import forget_states
from slacktide.engine.reports import Report, ViewReport
from slacktide.engine.running.committing import period_update
from slacktide.engine.workspace import Workspace
from slacktide.optimizer.costs import Vector
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.program import operator as o
from tests.harness.objects import TickingClock

VIEW = "v"
Cost = Callable[[ViewPlan], float]


class Priced:
    """One view over sources of which only the counts are there.

    Args:
        root: an empty directory.
        view: the view as read.
        rows: of each source to begin with.
        on_disk: whether the log is written there, for other programs to read; else in memory.
        settings: of the view.
    """

    def __init__(
        self,
        root: Path,
        view: ReadView,
        rows: dict[str, int],
        *,
        on_disk: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        clock = TickingClock()
        memory = s.ObjectStore(MemoryStore(), s.parse_address("s3://b/ws"))
        address = str(root / "workspace")
        objects = None if on_disk else memory
        self.ws = Workspace(
            s.Store.create(address, settings={}, clock=clock, objects=objects), clock
        )
        self._files = 0
        for name, count in rows.items():
            folder = root / name
            folder.mkdir()
            columns = ({"name": "c1", "type": "INT", "nullable": True},)
            self.commit(s.AddSource(name, "change-feed", {"path": str(folder)}, columns))
            self.arrive(name, count)
        self._states = tuple(state_sources(view))
        stated = s.AddView(
            VIEW, "SELECT 1", settings or {}, {}, view.to_dict(), states=self._states
        )
        self.commit(stated)

    def commit(self, *updates: s.Update) -> None:
        self.ws._store.commit(updates)

    def world(self) -> s.World:
        return self.ws._store.world()

    def arrive(
        self, source: str, rows: int | None, deletes: int = 0, size: int | None = None
    ) -> None:
        """Have a file with so many changes, and bytes, be accepted; None where nobody has counted them."""
        self._files += 1
        size = size or 50 * (1000 if rows is None else rows)
        pin = s.PinnedFile(f"/in/{source}/{self._files}", size, "m")
        arrival = s.Arrival((pin,), rows, size, "2026-01-01T00:00:00Z", deletes)
        self.commit(s.AcceptArrivals(source, [arrival]))

    def cover(self, source: str, column: str, share: float, distinct: int = 1000) -> None:
        """Say that the newest changes of a source lie in such a share of the range of a column."""
        version = self.world().sources[source].version
        spans = s.ArrivalSpans(version, {column: s.KeySpans(9, (0.0, 1e6 * share))})
        known = s.ColumnStatistics(1000, 0, 0.0, 1e6, float(distinct))
        self.commit(s.NoteStatistics(source, {column: known}), s.NoteSpans(source, (spans,)))

    def run(
        self,
        cost: Cost,
        *,
        jobs: int = 1,
        instead: ViewPlan | None = None,
        switched: bool = False,
        built: Mapping[str, float] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Plan, and say that the plan was executed at a cost, or another one instead; give the report of the view.

        Args:
            cost: seconds of CPU in tasks, by the plan.
            jobs: that it took.
            instead: the plan that was executed.
            switched: whether it turned back.
            built: seconds of the whole that each chain took which was written anew.
        """
        plan = self.ws.plan()
        view = plan.views[0] if instead is None else instead
        run = self.world().next_run
        # It finds the work that was expected, and takes what the test says.
        work = replace(Vector.of_report(view.predicted), jobs=jobs, plans=1).to_dict()
        steps = [
            {"chain": chain, "form": "base", "rows": 1000, "rows_read": 0, "cpu_seconds": took}
            for chain, took in built.items()
        ]
        actual = {**work, "cpu_seconds": cost(view), "steps": steps} if view.program else {}
        told = ViewReport(
            view.method,
            tuple(map(str, view.reasons)),
            view.predicted,
            actual,
            versions=view.end,
            rows=self._rows(view),
            switched=switched,
        )
        report = Report(run, plan.plan_id, plan.versions, "", "", {VIEW: told}).to_dict()
        self.commit(
            *self._written(view, run),
            *(period_update(view) or [s.AdvanceView(VIEW, view.end, run, view.remembers)]),
            *forget_states(
                self.world(), {VIEW: (*self._states, *view.remembers, *view.stored_early)}
            ),
            s.RecordRun(run, plan.plan_id, report),
        )
        return dict(report["views"][VIEW])

    def _rows(self, view: ViewPlan) -> int | None:
        sources = self.world().sources
        counts = [sources[name].rows_at(version) for name, version in view.end.items()]
        return None if None in counts else sum(filter(None, counts))

    def _written(self, view: ViewPlan, run: int) -> list[s.Update]:
        """What a run writes to states and answer: a row for each change, or a thousand of all."""
        written: list[s.Update] = []
        for step in view.program.steps if view.program else ():
            assert isinstance(step, o.Save | o.Publish)
            chain = step.chain if isinstance(step, o.Save) else f"views/{VIEW}"
            of = view.turn.writes.get(chain) if view.turn else None
            versions = {name: view.end[name] for name in of or view.end}
            piece = s.Segment(run, (), 1000 if step.is_base else 10, 1000, versions)
            written.append(
                s.SetChain(s.Chain(chain, (), piece))
                if step.is_base
                else s.ExtendChain(chain, piece)
            )
        return written
