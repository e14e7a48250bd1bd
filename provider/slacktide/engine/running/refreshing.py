"""Executing a plan and committing what it made, as one log entry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_of_view, mirror_id, mirrored_source
from slacktide.common.clock import Clock, isoformat, parse_instant
from slacktide.common.digest import digest_of
from slacktide.engine.answers.instants import newest_instant
from slacktide.engine.definitions.expansion import query_of, views_below
from slacktide.engine.intake.pinning import check_pinned, snapshot_windows
from slacktide.engine.intake.quarantine import quarantine
from slacktide.engine.intake.sole_copies import missing_for_mirror
from slacktide.engine.plan import Plan
from slacktide.engine.planning.compacting import Compacted, compact
from slacktide.engine.planning.foreign_keys import (
    Loss,
    LostForeignKeysError,
    checked,
    windows_of,
    withdrawal,
)
from slacktide.engine.planning.staleness import again, stale
from slacktide.engine.reports import Report, ViewReport
from slacktide.engine.running.committing import requirements, updates
from slacktide.engine.running.computing import compute
from slacktide.engine.running.mirroring import mirror_reports, mirrors_of, write_mirrors
from slacktide.engine.running.narrowing import note_narrowed
from slacktide.engine.running.registering import kept_apart, register
from slacktide.engine.running.reporting import unchanged_report, view_report
from slacktide.engine.running.taking_over import taken_over
from slacktide.engine.sources.pins import check_unmoved
from slacktide.engine.work import Work
from slacktide.errors import (
    CommitConflictError,
    DamagedFileError,
    InvariantError,
    SlacktideError,
    SourceError,
)
from slacktide.optimizer.compaction import Prices
from slacktide.optimizer.plan import ViewPlan
from slacktide.spark.tasks.task import Outcome
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store

_NOTHING_REFUSED: Final[Mapping[str, SlacktideError]] = MappingProxyType({})
_COMMITS = 5
_TOLD = 5
"""Failures of a run that are told besides the first."""
_Learned = u.ExamineArrivals | u.NoteForeignKeys
_logger = logging.getLogger(__name__)


class Refresh:
    """One execution of a plan.

    Args:
        store: the workspace's store.
        spark: the session that works; None for a plan without work for it.
        clock: for the times of the report.
        attempt: names this attempt; its directories are its own.
        prices: what a plan that is made again reckons with.
    """

    def __init__(
        self,
        store: Store,
        spark: SparkSession | None,
        *,
        clock: Clock,
        attempt: str,
        prices: Prices,
    ) -> None:
        self._store = store
        self._spark = spark
        self._clock = clock
        self._attempt = attempt
        self._prices = prices

    def run(self, plan: Plan, refused: Mapping[str, SlacktideError] = _NOTHING_REFUSED) -> Report:
        """Execute a plan; one that was committed before is not executed again.

        Args:
            plan: as it was made.
            refused: why views could not be changed as the plan declares them, by name: they keep their answers.

        Raises:
            CommitConflictError: another refresh, or whoever writes landed files, changed what this one used.
            SourceError: a pinned file changed or cannot be read.
            InvalidSettingError: it was made for another workspace.
            SlacktideError: the failure of the only view of the run.
        """
        plan.check_made_for(self._store.identity, self._store.root)
        started = isoformat(self._clock())
        world = self._store.world()
        done = self._committed(world, plan.plan_id)
        if done is not None:
            return done
        moved = stale(world, plan)
        if moved:
            plan = self._again(world, plan, moved)
        if plan.is_empty and not moved:
            return self._report(world, plan, [], None, started, {})
        # That a plan has become superfluous is committed, too: whoever waits for it finds its report.
        if not plan.needs_spark:
            return self._counted(world, plan, started)
        if self._spark is None:
            raise CommitConflictError(
                f"plan {plan.plan_id} was made again and has work for Spark now",
                hint="refresh again, with a Spark session",
            )
        spark = self._spark
        while True:
            world, plan = self._with_engine(spark, world, plan)
            try:
                return self._execute(spark, world, plan, started, refused)
            except DamagedFileError as damage:
                world, plan = self._without(world, plan, damage)
            except LostForeignKeysError as lost:
                world, plan = self._without_foreign_keys(world, plan, lost.losses)
            # What the attempt has written so far may be collected while the next one works.
            self._attempt = digest_of(self._attempt).hex()[: len(self._attempt)]

    def _with_engine(self, spark: SparkSession, world: World, plan: Plan) -> tuple[World, Plan]:
        """Have answers of another Spark or Java made anew, and plan again where the plan goes on from some."""
        from slacktide.spark.sessions.engine import engine_of

        taken = taken_over(self._store, world, engine_of(spark))
        moved = "" if taken is world else stale(taken, plan)
        return taken, self._again(taken, plan, moved) if moved else plan

    def _again(self, world: World, plan: Plan, moved: str) -> Plan:
        instant = newest_instant(self._store, world, (view.view for view in plan.views))
        return again(world, plan, moved, self._prices, instant)

    def _without(self, world: World, plan: Plan, damage: DamagedFileError) -> tuple[World, Plan]:
        """Forget a state or mirror of which a file is damaged, and plan again: it is built anew.

        An answer is not forgotten: its readers are owed the changes from it to the next one. Nor is a mirror while
        it alone holds rows: it is made anew from the landed files, or not at all.
        """
        chain = world.chains.get(damage.chain)
        if chain is None or is_of_view(chain.id):
            raise damage
        source = mirrored_source(chain.id)
        if source is not None and (missing := missing_for_mirror(self._store, world, source)):
            raise DamagedFileError(
                damage.message,
                chain=chain.id,
                hint=f"restore the file: the mirror of {source} cannot be made anew, as {missing}",
            ) from damage
        self._store.commit([u.DropChain(chain.id)], [q.ChainIs(chain.id, chain.token)])
        world = self._store.world()
        return world, self._again(world, plan, f"{chain.id}, of which a file is damaged")

    def _without_foreign_keys(
        self, world: World, plan: Plan, losses: Sequence[Loss]
    ) -> tuple[World, Plan]:
        """Withdraw foreign keys, and plan again without them: they held so far, and answers are right."""
        self._store.commit(*withdrawal(world, losses))
        world = self._store.world()
        moved = ", ".join(loss.name for loss in losses)
        fresh = self._again(world, plan, f"{moved}, not known to hold any more")
        notices = (loss.notice for loss in losses)
        return world, replace(fresh, notices=(*fresh.notices, *notices))

    def _counted(self, world: World, plan: Plan, started: str) -> Report:
        """Commit that a refresh was due for no view: Spark has nothing to do for that."""
        works = [self._known(world, view) for view in plan.views]
        return self._commit(
            world,
            plan,
            works,
            {},
            [],
            [],
            lambda run: self._report(world, plan, works, run, started, {}),
        )

    def _execute(
        self,
        spark: SparkSession,
        world: World,
        plan: Plan,
        started: str,
        refused: Mapping[str, SlacktideError],
    ) -> Report:
        from slacktide.spark.tasks.executor import Executor

        new = register(spark, self._store, world, plan)
        failed = {**refused, **new.refused}
        works = [self._known(world, view) for view in plan.views if view.view not in failed]
        works += new.works
        mirrors = mirrors_of(world, plan, works)
        beside = [*snapshot_windows(world, mirrors.versions), *windows_of(world, plan)]
        seen = check_pinned(self._store, world, works, beside)
        for work in works:
            work.seen = seen
        executor = Executor(
            spark,
            self._store,
            world,
            attempt=self._attempt,
            now=parse_instant(plan.now),
        )
        try:
            with executor.named():
                quarantined = quarantine(executor, self._store, world, works, mirrors.versions)
                written = write_mirrors(executor, world, mirrors)
                held = checked(executor, self._store, world, plan)
                for work in works:
                    compute(executor, self._store, world, work, works)
        except SourceError:
            # Of a file that was being written nothing was found out.
            check_unmoved(seen, storage_options=self._store.options)
            raise
        check_unmoved(seen, storage_options=self._store.options)
        failures = [work.error for work in works if work.error is not None]
        failures += list(failed.values())
        if failures and not any(work.is_done for work in works):
            raise _told_together(failures)
        with executor.named():
            compacted = compact(executor, world, plan.compactions, works, written)
        asked = executor.asked().to_dict()

        def report(run: int) -> Report:
            made = self._report(world, plan, works, run, started, failed, compacted)
            return replace(made, mirrors=mirror_reports(written), asked=asked)

        learned: list[_Learned] = [*quarantined]
        learned += [u.NoteForeignKeys(held)] if held else []
        return self._commit(world, plan, works, written, compacted, learned, report)

    def _committed(self, world: World, plan_id: str) -> Report | None:
        run = world.plans.get(plan_id)
        return None if run is None else Report.from_dict(self._store.report(run))

    def _known(self, world: World, plan: ViewPlan) -> Work:
        record = world.views[plan.view]
        view = ReadView.from_dict(record.definition)
        query = query_of(record.sql, view, views_below(world, record))
        return Work(plan.view, record.sql, view, plan, query, record)

    def _commit(
        self,
        world: World,
        plan: Plan,
        works: Sequence[Work],
        mirrors: Mapping[str, Outcome],
        compacted: Sequence[Compacted],
        learned: Sequence[_Learned],
        report_of: Callable[[int], Report],
    ) -> Report:
        quarantined = [one for one in learned if isinstance(one, u.ExamineArrivals)]
        examined = [one.source for one in quarantined]
        needed = requirements(world, plan, works, mirrors, compacted, examined)
        for attempt in range(_COMMITS):
            now = self._store.world()
            done = self._committed(now, plan.plan_id)
            if done is not None:
                return done
            run = now.next_run
            kept = {one.source: n for one in quarantined if (n := sum(one.rows.values()))}
            report = replace(report_of(run), quarantined=kept)
            record = u.RecordRun(run, plan.plan_id, report.to_dict())
            try:
                self._store.commit(
                    [*updates(world, works, mirrors, run, compacted), *learned, record],
                    [*needed, *kept_apart(self._store, now, works), q.RunFree(run)],
                )
            except CommitConflictError:
                if attempt == _COMMITS - 1 or self._store.world().next_run == run:
                    raise
            else:
                self._keep(plan, works, mirrors, compacted)
                note_narrowed(self._store, mirrors)
                return report
        raise InvariantError(f"plan {plan.plan_id} found no free run number")

    def _keep(
        self,
        plan: Plan,
        works: Sequence[Work],
        mirrors: Mapping[str, Outcome],
        compacted: Sequence[Compacted],
    ) -> None:
        """Keep the plan as it was executed, where that is not how it was stored."""
        done = {work.name: work.plan for work in works}
        known = tuple(done.pop(view.view, view) for view in plan.views)
        written = {name: outcome.chains[mirror_id(name)] for name, outcome in mirrors.items()}
        versions = {name: segment.versions[name] for name, (segment, _) in written.items()}
        executed = replace(
            plan,
            views=(*known, *done.values()),
            mirrors={name: end for name, end in versions.items() if written[name][1]},
            mirror_segments={name: end for name, end in versions.items() if not written[name][1]},
            compactions=tuple(one.plan for one in compacted if one.outcome is not None),
            identity=plan.plan_id,
        )
        if executed.content != executed.plan_id:
            try:
                self._store.put_plan(executed.plan_id, executed.to_dict())
            except SlacktideError as error:  # the run is committed, and its report says all that
                _logger.warning("plan %s is not kept as executed: %s", plan.plan_id, error)

    def _report(
        self,
        world: World,
        plan: Plan,
        works: Sequence[Work],
        run: int | None,
        started: str,
        refused: Mapping[str, SlacktideError],
        compacted: Sequence[Compacted] = (),
    ) -> Report:
        planned = [*plan.views, *(work.plan for work in works if work.record is not None)]
        given_up = {work.name: work.given_up for work in works}
        unchanged = {
            view.view: unchanged_report(world, view, given_up.get(view.view)) for view in planned
        }
        worked = {
            work.name: view_report(world, work) for work in works if work.plan.program is not None
        }
        failed = {
            name: ViewReport("failed", error=error.to_dict()) for name, error in refused.items()
        }
        return Report(
            run=run,
            plan_id=plan.plan_id,
            versions=dict(plan.versions),
            started=started,
            ended=isoformat(self._clock()),
            views={**unchanged, **worked, **failed},
            compactions={one.plan.chain: one.report() for one in compacted},
            notices=(*plan.notices, *_added(works)),
        )


def _added(works: Sequence[Work]) -> tuple[str, ...]:
    """What is told of views that the run has added and not computed."""
    new = (work.name for work in works if work.is_only_added)
    return tuple(f"view {name} is new and paused; slacktide view resume {name}" for name in new)


def _told_together(failures: Sequence[SlacktideError]) -> SlacktideError:
    """The first of some failures, which says what the others are: no report does where nothing is committed."""
    first, *others = failures
    told = [f"also: {one}" for one in others[:_TOLD]]
    told += [f"and {len(others) - _TOLD} more"] if len(others) > _TOLD else []
    first.hint = "; ".join(filter(None, (first.hint, *told)))
    return first
