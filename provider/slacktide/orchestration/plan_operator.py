"""The operator that plans the next run, in the worker and without a JVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from slacktide.orchestration.catalog import open_workspace, resolve, task_errors
from slacktide.orchestration.links import SlacktidePageLink, page
from slacktide.orchestration.reports import shortened
from slacktide.orchestration.style import INK, PAPER
from slacktide.orchestration.variable import DEFAULT_KEY

if TYPE_CHECKING:
    from airflow.sdk import Context

    from slacktide.engine.plan import Plan


class SlacktidePlanOperator(BaseOperator):
    """Discovers what landed and plans the run that brings the views up to date.

    The plan itself is stored in the workspace; the result of the task is what leads to it:
    ``{"workspace", "plan_id", "summary", "empty"}``, the summary cut to what XCom takes. A workspace that only the Variable knows is
    made here; the sources and views that it declares become steps of the plan.

    Args:
        workspace: a name from the Variable; not needed where it has one only.
        slacktide_conn_id: a connection of type ``slacktide``, in place of the Variable.
        variable: the key of the Variable.
        views: the views to plan for; None for all of them.
        due: whether all answers are due, those too that are due at a later refresh only.
    """

    template_fields: Sequence[str] = ("workspace", "slacktide_conn_id", "variable", "views")
    operator_extra_links = (SlacktidePageLink(),)
    ui_color = PAPER
    ui_fgcolor = INK

    def __init__(
        self,
        *,
        workspace: str | None = None,
        slacktide_conn_id: str | None = None,
        variable: str = DEFAULT_KEY,
        views: Sequence[str] | None = None,
        due: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.workspace = workspace
        self.slacktide_conn_id = slacktide_conn_id
        self.variable = variable
        self.views = views
        self.due = due

    def execute(self, context: Context) -> dict[str, Any]:
        """Plan, and give the id of the plan with its summary.

        Raises:
            AirflowException: a Variable or connection is not defined, or Airflow's API server did not answer; a retry may help.
            AirflowFailException: the user must change something; the message says what.
        """
        context["ti"].xcom_push(key=SlacktidePageLink().xcom_key, value=page())
        with task_errors():
            config = resolve(self.workspace, self.slacktide_conn_id, self.variable)
            workspace = open_workspace(config, create=True)
            declarations = config.declarations or None
            plan = workspace.plan(self.views, declarations=declarations, due=self.due)
        self._log(plan)
        return {
            "workspace": config.name,
            "plan_id": plan.plan_id,
            "summary": shortened(plan.summary),
            "empty": bool(plan.is_empty),
        }

    def _log(self, plan: Plan) -> None:
        self.log.info("plan %s", plan.plan_id)
        for line in plan.summary:
            self.log.info("%s", line)
