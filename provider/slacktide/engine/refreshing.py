"""Executing a plan and committing what it made, as one log entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.common.clock import Clock, isoformat, parse_instant
from slacktide.common.reasons import Reason
from slacktide.engine.definitions import ViewDraft, draft_view
from slacktide.engine.expansion import all_texts, query_of, views_below
from slacktide.engine.plan import Plan
from slacktide.engine.planning import is_mirror_due, make_plan, plan_first
from slacktide.engine.reports import Report, ViewReport
from slacktide.engine.sources.pins import check_pins
from slacktide.errors import CommitConflictError, InvariantError, SlacktideError, SourceError
from slacktide.optimizer.api import snapshot_sources, state_sources
from slacktide.optimizer.mirror import mirror_program
from slacktide.optimizer.plan import ViewPlan
from slacktide.spark.task import Outcome, Query, Task
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import Chain, Segment, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.spark.executor import Executor
    from slacktide.store.store import Store

_COMMITS = 5


@dataclass(slots=True)
class _Work:
    """One view of the run: what is known of it, its plan, and what came of it."""

    name: str
    sql: str
    view: ReadView
    plan: ViewPlan
    query: Query
    record: ViewRecord | None
    draft: ViewDraft | None = None
    outcome: Outcome | None = None
    error: SlacktideError | None = None


class Refresh:
    """One execution of a plan.

    Args:
        store: the workspace's store.
        spark: the session that works.
        clock: for the times of the report.
        attempt: names this attempt; its directories are its own.
    """

    def __init__(
        self,
        store: Store,
        spark: SparkSession,
        *,
        clock: Clock,
        attempt: str,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._store = store
        self._spark = spark
        self._clock = clock
        self._attempt = attempt
        self._options = storage_options

    def run(self, plan: Plan) -> Report:
        """Execute a plan; one that was committed before is not executed again.

        Raises:
            CommitConflictError: another refresh changed what this one used.
            SourceError: a pinned file changed or cannot be read.
            SlacktideError: the failure of the only view of the run.
        """
        started = isoformat(self._clock())
        world = self._store.world()
        done = self._committed(world, plan.plan_id)
        if done is not None:
            return done
        moved = stale(world, plan)
        if moved:
            plan = _again(world, plan, moved)
        if plan.is_empty:
            return self._report(plan, plan.plan_id, [], None, started)
        return self._execute(world, plan, started)

    def _execute(self, world: World, plan: Plan, started: str) -> Report:
        from slacktide.spark.executor import Executor  # noqa: PLC0415 - needs pyspark

        works = [self._known(world, view) for view in plan.views] + self._new(world, plan)
        mirrors = {**_new_mirrors(world, works), **plan.mirrors}
        self._check_pins(world, works)
        executor = Executor(
            self._spark,
            self._store,
            world,
            attempt=self._attempt,
            now=parse_instant(plan.now),
        )
        written = self._mirror(executor, world, mirrors)
        for work in works:
            self._work(executor, work)
        failures = [work.error for work in works if work.error is not None]
        if failures and all(w.error or w.plan.program is None for w in works):
            raise failures[0]
        return self._commit(world, plan, works, written, started)

    def _committed(self, world: World, plan_id: str) -> Report | None:
        run = world.plans.get(plan_id)
        return None if run is None else Report.from_dict(self._store.report(run))

    def _known(self, world: World, plan: ViewPlan) -> _Work:
        record = world.views[plan.view]
        view = ReadView.from_dict(record.definition)
        query = query_of(record.sql, view, views_below(world, record))
        return _Work(plan.view, record.sql, view, plan, query, record)

    def _new(self, world: World, plan: Plan) -> list[_Work]:
        works: list[_Work] = []
        for item in plan.register:
            if item.name in world.views:
                continue
            draft = draft_view(self._spark, world, item.name, item.sql, item.settings)
            ends = {name: plan.versions.get(name, 0) for name in world.sources}
            first = plan_first(item.name, draft.view, draft.policy, ends)
            query = query_of(item.sql, draft.view, {n: all_texts(world)[n] for n in draft.below})
            works.append(_Work(item.name, item.sql, draft.view, first, query, None, draft))
        return works

    def _check_pins(self, world: World, works: Sequence[_Work]) -> None:
        oldest: dict[str, int] = {}
        newest: dict[str, int] = {}
        for work in works:
            if work.plan.program is None:
                continue
            for name, end in work.plan.end.items():
                is_batch = work.plan.method == "full"
                start = 0 if is_batch else work.plan.start.get(name, 0)
                oldest[name] = min(oldest.get(name, start), start)
                newest[name] = max(newest.get(name, 0), end)
        for name, end in newest.items():
            source = world.sources[name]
            chain = world.chains.get(f"sources/{name}")
            mirrored = chain.base.versions[name] if chain and chain.base else 0
            first = max(oldest[name], min(mirrored, end)) if mirrored <= end else oldest[name]
            check_pins(
                [
                    file
                    for version in range(first + 1, end + 1)
                    if version not in source.skipped
                    for file in source.arrivals[version - 1].files
                ],
                source=name,
                storage_options=self._options,
            )

    def _mirror(
        self, executor: Executor, world: World, mirrors: Mapping[str, int]
    ) -> dict[str, Outcome]:
        written: dict[str, Outcome] = {}
        for name, version in mirrors.items():
            program = mirror_program(name, world.sources[name].schema)
            written[name] = executor.run(
                Task(name, program, start={}, end={name: version}, scopes={})
            )
        return written

    def _work(self, executor: Executor, work: _Work) -> None:
        if work.plan.program is None:
            return
        scopes = state_sources(work.view)
        task = Task(
            work.name, work.plan.program, work.plan.start, work.plan.end, scopes, work.query
        )
        try:
            work.outcome = executor.run(task)
        except (SourceError, InvariantError):
            raise
        except SlacktideError as error:
            work.error = error

    def _commit(
        self,
        world: World,
        plan: Plan,
        works: Sequence[_Work],
        mirrors: Mapping[str, Outcome],
        started: str,
    ) -> Report:
        requirements = _requirements(world, plan, works, mirrors)
        for attempt in range(_COMMITS):
            now = self._store.world()
            done = self._committed(now, plan.plan_id)
            if done is not None:
                return done
            run = now.next_run
            report = self._report(plan, plan.plan_id, works, run, started)
            updates = [
                *_updates(world, works, mirrors, run),
                u.RecordRun(run, plan.plan_id, report.to_dict()),
            ]
            try:
                self._store.commit(updates, [*requirements, q.RunFree(run)])
            except CommitConflictError:
                if attempt == _COMMITS - 1 or self._store.world().next_run == run:
                    raise
            else:
                return report
        raise InvariantError(f"plan {plan.plan_id} found no free run number")

    def _report(
        self, plan: Plan, plan_id: str, works: Sequence[_Work], run: int | None, started: str
    ) -> Report:
        unchanged = {view.view: _unchanged(view) for view in plan.views}
        worked = {
            work.name: _view_report(self._store.world(), work)
            for work in works
            if work.plan.program is not None
        }
        return Report(
            run=run,
            plan_id=plan_id,
            versions=dict(plan.versions),
            started=started,
            ended=isoformat(self._clock()),
            views={**unchanged, **worked},
        )


def _new_mirrors(world: World, works: Sequence[_Work]) -> dict[str, int]:
    """Mirrors that only views of this run's registrations need."""
    return {
        name: work.plan.end[name]
        for work in works
        if work.draft is not None
        for name in snapshot_sources(work.view, work.draft.policy)
        if is_mirror_due(world, name, work.plan.end[name])
    }


def stale(world: World, plan: Plan) -> str:
    """Say what a plan started from that is no longer so; an empty text for a fresh plan."""
    for view in plan.views:
        record = world.views.get(view.view)
        if record is None or record.token != view.token:
            return f"view {view.view}"
        for source, version in view.end.items():
            known = world.sources.get(source)
            if known is None or known.version < version:
                return f"source {source}"
    return ""


def _again(world: World, plan: Plan, moved: str) -> Plan:
    """Make a plan again under its own id, so that a retry of it still finds its run."""
    names = [view.view for view in plan.views if view.view in world.views]
    fresh = make_plan(world, now=plan.now, views=names, register=plan.register)
    reason = Reason("STALE_PLAN", moved)
    views = tuple(replace(view, reasons=(*view.reasons, reason)) for view in fresh.views)
    return replace(fresh, views=views, identity=plan.plan_id)


def _requirements(
    world: World, plan: Plan, works: Sequence[_Work], mirrors: Mapping[str, Outcome]
) -> list[q.Requirement]:
    needed: list[q.Requirement] = [q.PlanOpen(plan.plan_id)]
    sources = {name for work in works for name in work.plan.end} | set(mirrors)
    needed += [q.SourceIs(name, world.sources[name].epoch) for name in sorted(sources)]
    for work in works:
        if work.record is None:
            needed.append(q.NameFree("view", work.name))
        elif work.outcome is not None:
            needed.append(q.ViewIs(work.name, work.record.token))
    written = {c for w in works if w.outcome is not None for c in w.outcome.chains}
    written |= {f"sources/{name}" for name in mirrors}
    for chain in sorted(written):
        stored = world.chains.get(chain)
        needed.append(q.ChainIs(chain, None if stored is None else stored.token))
    return needed


def _updates(
    world: World, works: Sequence[_Work], mirrors: Mapping[str, Outcome], run: int
) -> list[u.Update]:
    updates: list[u.Update] = []
    chains: dict[str, tuple[Segment, bool]] = {}
    for outcome in mirrors.values():
        chains.update(outcome.chains)
    for work in works:
        if work.outcome is None:
            continue
        if work.draft is not None:
            updates.append(work.draft.update())
        chains.update(work.outcome.chains)
        updates.extend(_answer_updates(world, work, work.outcome, run))
        updates.append(u.AdvanceView(work.name, dict(work.plan.end), run))
    return [*updates, *(_chain_update(i, s, is_base, run) for i, (s, is_base) in chains.items())]


def _answer_updates(world: World, work: _Work, outcome: Outcome, run: int) -> list[u.Update]:
    if outcome.answer is None or outcome.changes is None:
        return []
    history = f"changes/{work.name}"
    changes = replace(outcome.changes, run=run)
    first = history not in world.chains
    return [
        _chain_update(f"views/{work.name}", outcome.answer, outcome.answer_is_base, run),
        u.SetChain(Chain(history, (), None, (changes,)))
        if first
        else u.ExtendChain(history, changes),
    ]


def _chain_update(chain: str, segment: Segment, is_base: bool, run: int) -> u.Update:  # noqa: FBT001
    stamped = replace(segment, run=run)
    if is_base:
        return u.SetChain(Chain(chain, (), stamped))
    return u.ExtendChain(chain, stamped)


def _unchanged(plan: ViewPlan) -> ViewReport:
    return ViewReport(
        "unchanged", tuple(str(reason) for reason in plan.reasons), versions=dict(plan.end)
    )


def _view_report(world: World, work: _Work) -> ViewReport:
    reasons = tuple(str(reason) for reason in work.plan.reasons)
    rows = _rows(world, work.plan.end)
    if work.outcome is None:
        error = None if work.error is None else work.error.to_dict()
        return ViewReport("failed", reasons, error=error, versions=dict(work.plan.start), rows=rows)
    written = work.outcome.chains
    state_bytes = sum(
        _bytes_after(world, chain, written.get(chain)) for chain in state_sources(work.view)
    )
    return ViewReport(
        method=work.plan.method,
        reasons=reasons,
        actual=work.outcome.cost.to_dict(),
        state_bytes=state_bytes,
        versions=dict(work.plan.end),
        rows=rows,
    )


def _bytes_after(world: World, chain: str, written: tuple[Segment, bool] | None) -> int:
    stored = world.chains.get(chain)
    if written is not None and (written[1] or stored is None):
        return written[0].bytes
    held = [] if stored is None else [*filter(None, [stored.base]), *stored.segments]
    return sum(segment.bytes for segment in held) + (written[0].bytes if written else 0)


def _rows(world: World, versions: Mapping[str, int]) -> int | None:
    total = 0
    for name, version in versions.items():
        for arrival in world.sources[name].arrivals[:version]:
            if arrival.rows is None:
                return None
            total += arrival.rows
    return total
