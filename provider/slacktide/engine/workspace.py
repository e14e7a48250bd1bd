"""The workspace: sources, views and their answers, behind one door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from slacktide.common.clock import Clock, isoformat, system_clock
from slacktide.common.quantities import parse_bytes
from slacktide.engine.answers.sinks import Sinks
from slacktide.engine.arguments import checked
from slacktide.engine.checking.foreign_key_verification import (
    ForeignKeyVerification,
    ForeignKeyVerifier,
)
from slacktide.engine.checking.verification import Verification, Verifier
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.definitions.declaring import declare
from slacktide.engine.definitions.drafts import check_all_known, check_known
from slacktide.engine.intake.accepting import Intake
from slacktide.engine.plan import Plan
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.reports import Report
from slacktide.engine.running.applying import run_declared
from slacktide.engine.running.refreshing import Refresh
from slacktide.engine.telling.arrivals import arrivals_of
from slacktide.engine.telling.explanation import (
    Explanation,
    explain_plan,
    explain_read,
    explain_view,
)
from slacktide.engine.telling.status import Status, history_of, make_status
from slacktide.engine.telling.what_if import Comparison, compare
from slacktide.engine.workspace_definitions import WorkspaceDefinitions
from slacktide.errors import InvalidSettingError, UnknownObjectError
from slacktide.optimizer.compaction import PRICES, Prices
from slacktide.store.garbage import GRACE, Removed, collect
from slacktide.store.store import Store, random_token

if TYPE_CHECKING:
    from slacktide.engine.calibrating import Calibration
    from slacktide.spark.sessions.handles import DataFrame, SparkSession


@checked
class Workspace(WorkspaceDefinitions):
    """A workspace at an address: a path, ``s3://``, ``gs://`` or ``abfss://``.

    Args:
        store: its store.
        clock: gives the present instant.
        prices: what the planner reckons that reading and writing cost.
    """

    def __init__(self, store: Store, clock: Clock, prices: Prices = PRICES) -> None:
        super().__init__(Catalogue(store))
        self._store = store
        self._clock = clock
        self._prices = prices
        self._intake = Intake(store, clock)
        self._run = partial(Refresh, store, clock=clock, prices=prices)
        self._sinks = Sinks(store, clock)

    @classmethod
    def create(
        cls,
        root: str | PathLike[str],
        *,
        storage_options: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
        **settings: Any,
    ) -> Workspace:
        """Make a workspace.

        Raises:
            WorkspaceExistsError: there is one.
        """
        for unknown in sorted(set(settings) - {"state_budget"}):
            fact = f"a workspace has no setting {unknown!r}"
            raise InvalidSettingError(fact, hint="the one setting is state_budget")
        if settings.get("state_budget") is not None:
            parse_bytes(settings["state_budget"], setting="state_budget")
        store = Store.create(root, settings=settings, options=storage_options, clock=clock)
        return cls(store, clock)

    @classmethod
    def open(
        cls,
        root: str | PathLike[str],
        *,
        storage_options: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
    ) -> Workspace:
        """Open a workspace.

        Raises:
            WorkspaceMissingError: there is none.
            NewerFormatError: it was written by a newer version.
        """
        return cls(Store.open(root, options=storage_options, clock=clock), clock)

    @property
    def root(self) -> str:
        """The address."""
        return self._store.root

    # -------------------------------------------------------------------- data

    def discover(self) -> Mapping[str, int]:
        """Accept what has landed; give the newest version of each source. Needs no JVM.

        Raises:
            SourceError: a file is not as the source declares, or as it was; nothing of that source is accepted.
        """
        return self._intake.discover()

    def pending(self) -> Mapping[str, int]:
        """Per source, arrivals that call for a refresh, landed files included; raises what `discover` would.

        They are those that some view lacks; where its answer is due later, those that no refresh since has seen.
        """
        return self._intake.pending()

    def skip(self, source: str, arrival: int | str) -> None:
        """Leave an arrival out for good, by its version or by the name of its file."""
        self._intake.skip(source, arrival)

    def plan(
        self,
        views: Sequence[str] | None = None,
        *,
        event: datetime | None = None,
        now: datetime | None = None,
        declarations: Mapping[str, Any] | None = None,
        due: bool = False,
    ) -> Plan:
        """Accept what has landed and plan a run; the plan is stored. Needs no JVM.

        Args:
            views: the views to refresh; None for all that are not paused.
            event: the instant of a trigger event, which counts where `now` is not given.
            now: the instant that functions of the clock give.
            declarations: those of the Airflow Variable; what is missing is added: sources and
                functions at once, views by the run.
            due: whether all answers are due now, in mid-period too.
        """
        declared = declare(self._catalogue, self._store.world(), declarations or {})
        known = self._store.world()
        self.discover()
        plan = make_plan(
            self._store.world(),
            self._store.identity,
            now=isoformat(now or event or self._clock()),
            views=views,
            declared=replace(
                declared, notices=(*declared.notices, *self._intake.extra_since(known))
            ),
            prices=self._prices,
            due=self._store.world().views if due else (),
        )
        self._store.put_plan(plan.plan_id, plan.to_dict())
        return plan

    def refresh(
        self,
        spark: SparkSession,
        plan: Plan | str | None = None,
        *,
        views: Sequence[str] | None = None,
    ) -> Report:
        """Execute a plan, or plan and execute; then publish what sinks lack.

        Of a plan that was committed the report is returned. It tells of sinks that failed. Views are for no given plan.
        """
        _check_one(plan, views)
        return self._sinks.after(
            spark, lambda: self._refresh(spark, self.plan(views) if plan is None else plan)
        )

    def count(self, plan: Plan) -> Report:
        """Commit a plan that has no work for Spark: it counts refreshes whose answers are due later."""
        return self._run(None, attempt=random_token()).run(plan)

    def _refresh(self, spark: SparkSession, plan: Plan | str) -> Report:
        # A plan that was committed long ago may have been collected since.
        if (done := self.report(plan if isinstance(plan, str) else plan.plan_id)) is not None:
            return done
        chosen = self.stored_plan(plan) if isinstance(plan, str) else plan
        run = self._run(spark, attempt=random_token()).run
        return run_declared(self._catalogue, self._store, spark, chosen, run)

    def stored_plan(self, plan_id: str) -> Plan:
        """A plan by its id.

        Raises:
            UnknownObjectError: there is none.
        """
        found = self._stored(plan_id)
        if found is None:
            raise UnknownObjectError(
                f"there is no plan {plan_id}", hint="make one with: slacktide plan"
            )
        return found

    def _stored(self, plan_id: str) -> Plan | None:
        document = self._store.get_plan(plan_id)
        return None if document is None else Plan.from_dict(document)

    def report(self, plan_id: str) -> Report | None:
        """The report of the run that committed a plan, or None."""
        run = self._store.world().plans.get(plan_id)
        return None if run is None else Report.from_dict(self._store.report(run))

    def sinks(self) -> Mapping[str, str]:
        """The paths that answers are published to, by view; views without a sink are left out."""
        return self._sinks.paths()

    def unpublished(self) -> Mapping[str, str]:
        """Views whose sinks lack their answer, or cannot be looked at, and the paths: a refresh is due."""
        return self._sinks.behind()

    def read(self, spark: SparkSession, view: str, *, run: int | None = None) -> DataFrame:
        """The answer of a view, now or as of a run."""
        from slacktide.engine.answers.reading import read_answer

        return read_answer(self._store, self._store.world(), spark, view, run)

    def changes(
        self, spark: SparkSession, view: str, *, since: int, until: int | None = None
    ) -> DataFrame:
        """The changes of an answer after run `since`, with _change_type and _commit_version."""
        from slacktide.engine.answers.reading import read_changes

        return read_changes(self._store, self._store.world(), spark, view, since, until)

    # ----------------------------------------------------------------- knowing

    def explain(self, target: str | Plan, *, spark: SparkSession | None = None) -> Explanation:
        """What would be done for a view, a plan, or a text that is not added yet, and why."""
        if isinstance(target, Plan):
            target.check_made_for(self._store.identity, self._store.root)
            report = self.report(target.plan_id)  # of what was executed, which is stored
            return explain_plan((report and self._stored(target.plan_id)) or target, report)
        world = self._store.world()
        if target in world.views or spark is None:
            check_known("view", target, world.views)
            return explain_view(world, target, self._stored)
        return explain_read("of this text", self.draft_view(spark, "explained", target).view)

    def what_if(
        self,
        *,
        pace: float = 1.0,
        policy: str | None = None,
        without: Sequence[str] = (),
        states_lost: bool = False,
        weights: Sequence[float] = (),
    ) -> Comparison:
        """What runs would be expected to cost in other circumstances; writes nothing. Needs no JVM.

        The arguments, and what is raised, are those of `slacktide.engine.telling.what_if.compare`.
        """
        return compare(
            self._store.world(),
            pace=pace,
            policy=policy,
            without=without,
            states_lost=states_lost,
            weights=weights,
        )

    def verify(
        self,
        spark: SparkSession,
        views: Sequence[str] | None = None,
        *,
        sources: Mapping[str, str] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> Verification:
        """Compare answers with a batch run over the same versions, as multisets; what fails is told of its view.

        Args:
            spark: the session.
            views: which; None for all.
            sources: directories of Parquet with rows of sources at these versions, in place of the workspace's.
            answers: directories of Parquet with what a batch run gave, by view, in place of running it.

        Raises:
            UnknownObjectError: there is no such view or source.
            SourceError, StorageError: a file that batch would read is not as it was accepted, or damaged.
        """
        from slacktide.spark.verification.comparison import Plain

        world = self._store.world()
        names = list(world.views) if views is None else list(views)
        check_all_known("view", (*names, *(answers or {})), world.views)
        check_all_known("source", sources or (), world.sources)
        plain = Plain(sources or {}, answers or {})
        return Verifier(self._store, world, spark, plain).verify(names)

    def verify_foreign_keys(self, spark: SparkSession) -> ForeignKeyVerification:
        """Check declared keys and foreign keys; refreshes go by those that hold, and by no others."""
        return ForeignKeyVerifier(self._store, spark, self._clock, random_token()).verify()

    def calibrate(
        self, spark: SparkSession, tell: Callable[[str], None] = lambda _: None
    ) -> Calibration:
        """Measure what units of work cost on an idle Spark, in less than a minute; plans start from that.

        Args:
            spark: the session.
            tell: takes the name of what is measured next.
        """
        from slacktide.engine.calibrating import calibrate

        return calibrate(self._store, spark, self._clock, tell)

    def status(self) -> Status:
        """Sources, views, their freshness and what they keep."""
        return make_status(self._store, self._intake.waiting(), self._sinks.states())

    def arrivals(self, source: str, *, limit: int | None = None) -> Sequence[Mapping[str, Any]]:
        """What a source has accepted, the newest first: `version`, `files`, `rows`, `bytes`, `accepted`, `skipped`, `needed` of each."""
        return arrivals_of(self._store.world(), source, limit)

    def history(self, view: str | None = None, *, limit: int | None = None) -> Sequence[Report]:
        """Reports of runs, oldest first; of one view, the runs that computed it.

        Args:
            view: name of a view, for which all reports are read; None for all.
            limit: look at no more than this many of the newest runs.
        """
        return history_of(self._store.world(), self._store.report, view, limit)

    def gc(self, *, keep_runs: int | None = None, grace: timedelta = GRACE) -> Removed:
        """Remove what no reader and no run needs any more.

        Args:
            keep_runs: how many of the newest runs stay readable by `read` and `changes`; None for
                all of them.
            grace: how long readers go on with what they opened, and the longest run takes.
        """
        now = self._clock()
        removed = collect(self._store, now, grace=grace, keep_runs=keep_runs)
        return self._sinks.collect(removed, now - grace)


def _check_one(plan: Plan | str | None, views: Sequence[str] | None) -> None:
    """Refuse a plan beside views."""
    if plan is not None and views is not None:
        raise InvalidSettingError(
            "a plan and views are given, and a plan says which views it refreshes",
            hint="give one of them; workspace.plan(views) makes a plan of some",
        )
