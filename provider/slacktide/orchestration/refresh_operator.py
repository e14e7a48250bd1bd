"""The operator that executes one stored plan by spark-submit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowTaskTerminated

from slacktide.errors import CommitConflictError, InvalidSettingError
from slacktide.orchestration.catalog import address, open_workspace, resolve, task_errors
from slacktide.orchestration.events import emit_asset_events
from slacktide.orchestration.links import SlacktidePageLink, page
from slacktide.orchestration.reports import bounded, driver_error, unchanged
from slacktide.orchestration.style import INK, PAPER
from slacktide.orchestration.submission import Submission, check_programs, submission
from slacktide.orchestration.variable import DEFAULT_KEY, WorkspaceConfig

if TYPE_CHECKING:
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
    from airflow.sdk import Context, XComArg

    from slacktide.engine.plan import Plan
    from slacktide.engine.reports import Report
    from slacktide.engine.workspace import Workspace

_PLAN_ID = re.compile(r"[A-Za-z0-9_.:-]+")
_NOT_TAKEN = {
    "application": "the driver program comes with Slacktide",
    "application_args": "the driver program comes with Slacktide",
    "conn_id": "name the Spark connection as spark_conn_id",
}
"""Arguments of `SparkSubmitOperator` that this operator sets itself, each with the way out."""


class SlacktideRefreshOperator(SparkSubmitOperator):
    """Executes one plan; its result is the report of the run.

    Only the workspace says whether a plan has been executed. Where it has, that report is given
    and nothing is submitted, so that clearing, retrying after a kill and running twice are safe. An
    empty plan is answered without Spark. Where a sink lacks an answer that is committed, the plan is
    submitted all the same, and the driver publishes it.

    The task succeeds once its run is committed and published, and its asset events come with that: each
    carries the number of its ``run``, by which consumers tell the events of a task that is cleared again.

    Which Spark runs it and with what comes from the Variable; an argument of this operator wins.

    Args:
        plan: the result of `SlacktidePlanOperator`, or the id of a plan.
        workspace: a name from the Variable; not needed where ``plan`` is a result.
        slacktide_conn_id: a connection of type ``slacktide``, in place of the Variable.
        variable: the key of the Variable.
        spark_conn_id: the Spark connection.
        kwargs: anything else that `SparkSubmitOperator` takes, except ``application``, ``application_args``, ``conn_id``.

    Raises:
        InvalidSettingError: one of these is given.
    """

    template_fields: Sequence[str] = (
        "plan",
        "workspace",
        "slacktide_conn_id",
        "variable",
        "spark_conn_id",
        *SparkSubmitOperator.template_fields,
    )
    template_fields_renderers = {"plan": "json", "conf": "json"}  # noqa: RUF012 - Airflow's form
    operator_extra_links = (SlacktidePageLink(),)
    ui_color = PAPER
    ui_fgcolor = INK

    def __init__(
        self,
        *,
        plan: str | Mapping[str, Any] | XComArg,
        workspace: str | None = None,
        slacktide_conn_id: str | None = None,
        variable: str = DEFAULT_KEY,
        spark_conn_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        for name, hint in _NOT_TAKEN.items():
            if name in kwargs:
                raise InvalidSettingError(f"{type(self).__name__} takes no {name}", hint=hint)
        kwargs.setdefault("name", "slacktide")
        # The workspace says what was executed; what Airflow remembers of an older submission is another plan's.
        kwargs.setdefault("durable", False)
        super().__init__(**kwargs)
        self.plan = plan
        self.workspace = workspace
        self.slacktide_conn_id = slacktide_conn_id
        self.variable = variable
        self.spark_conn_id = spark_conn_id
        self._is_killed = False

    def execute(self, context: Context) -> dict[str, Any]:  # type: ignore[override]
        """Submit the plan, wait, and give the report that the workspace then holds.

        Raises:
            AirflowFailException: the user must change something; the message says what.
            AirflowException: the driver ended without committing, a Variable or connection is not defined, or Airflow's
                API server did not answer; a retry may help.
            AirflowTaskTerminated: the task was killed before spark-submit was started.
        """
        context["ti"].xcom_push(key=SlacktidePageLink().xcom_key, value=page())
        with task_errors():
            plan_id, name = self._named()
            config = resolve(name, self.slacktide_conn_id, self.variable)
            workspace = open_workspace(config)
            committed = workspace.report(plan_id)
            # The plan of a run of long ago may have been removed.
            plan = None if committed is not None else workspace.stored_plan(plan_id)
            owed = workspace.unpublished()
        if owed:
            self.log.info("sinks lack the answers of %s", ", ".join(owed))
        elif committed is not None:
            self.log.info("plan %s was executed before, nothing is submitted", plan_id)
            return self._told(context, config, committed.to_dict())
        elif plan is not None and plan.is_empty:
            self.log.info("plan %s has nothing to do", plan_id)
            return unchanged(plan_id)
        elif plan is not None and not plan.needs_spark:
            counted = self._counted(workspace, plan)
            if counted is not None:
                return self._told(context, config, counted.to_dict())
        report = self._submit(context, config, workspace, plan_id)
        if report is None and plan is not None and plan.is_empty:
            return unchanged(plan_id)
        if report is None:
            raise AirflowException(f"the driver ended and plan {plan_id} has no report")
        return self._told(context, config, report)

    def _counted(self, workspace: Workspace, plan: Plan) -> Report | None:
        """Commit a plan that has no work for Spark; None where it has some by now."""
        try:
            with task_errors():
                found = workspace.count(plan)
        except CommitConflictError as moved:
            self.log.info("%s", moved)
            return None
        self.log.info("plan %s has no work for Spark, nothing is submitted", plan.plan_id)
        return found

    def _told(
        self, context: Context, config: WorkspaceConfig, report: dict[str, Any]
    ) -> dict[str, Any]:
        """Emit the events of a committed run, whoever committed it, and give its report.

        Airflow keeps the events of a task that succeeds alone: an attempt that committed, and was killed or
        failed for a sink, told nobody.
        """
        emit_asset_events(context, self.outlets, config.name, report)
        return bounded(report)

    def on_kill(self) -> None:
        """Stop spark-submit, and the driver with it; where nothing was submitted yet, see to it that nothing is."""
        self._is_killed = True
        if self._hook is not None:
            super().on_kill()

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        if self._is_killed:  # Airflow calls `on_kill` and lets the task go on
            raise AirflowTaskTerminated("killed before spark-submit was started")
        return hook

    def _named(self) -> tuple[str, str | None]:
        """Give the id of the plan, and the workspace it is of."""
        if isinstance(self.plan, Mapping):
            plan_id = str(self.plan.get("plan_id", ""))
            name = self.workspace or self.plan.get("workspace")
        else:
            plan_id, name = str(self.plan), self.workspace
        if not _PLAN_ID.fullmatch(plan_id):
            raise InvalidSettingError(
                f"{plan_id!r} is not the id of a plan",
                hint="give the result of SlacktidePlanOperator as plan",
            )
        return plan_id, name

    def _submit(
        self, context: Context, config: WorkspaceConfig, workspace: Workspace, plan_id: str
    ) -> dict[str, Any] | None:
        with task_errors():
            root, options = address(config)
            asked = self.spark_conn_id, root, options, plan_id, self._deploy_mode
            given = submission(config, *asked)
            self._take(given)
            env = (self.env_vars or {}) if given.has_environment else {}
            check_programs(self._spark_binary or given.binary, env)
        try:
            super().execute(context)
        except AirflowException as error:
            failed = driver_error(str(error))
            if failed.final:
                raise AirflowFailException(failed.message) from error
            raise AirflowException(failed.message) from error
        with task_errors():
            report = workspace.report(plan_id)
        return None if report is None else report.to_dict()

    def _take(self, given: Submission) -> None:
        """Take over what the Variable says, where this operator says nothing itself."""
        self.application = given.application
        self.application_args = list(given.arguments)
        self.conf = {**given.conf, **(self.conf or {})}
        self.env_vars = {**given.env, **(self.env_vars or {})}
        self._conn_id = given.conn_id
        self._deploy_mode = given.deploy_mode
        self._driver_memory = self._driver_memory or given.driver_memory
        self._executor_memory = self._executor_memory or given.executor_memory
        self.packages = self.packages or given.packages
        self.jars = self.jars or given.jars
        self.py_files = self.py_files or given.py_files
        self.files = self.files or given.files
