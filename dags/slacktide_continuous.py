"""
### Keep every view up to date, as soon as something arrives

**await** looks at the workspaces of the Variable `slacktide` until one of them calls for a run,
**plan** discovers what landed and decides how each view is brought up to date, **refresh** submits
that plan to Spark, **record** sums up what was done. Then it starts again.

A workspace calls for a run when something has landed that a view lacks, when a sink lacks an answer,
when a declared source, function or view is missing in it, when it cannot be read, or when what the
Variable says of it was changed. Views that ask for the time start no run: they wait for the next arrival.

Everything it works on stands in the Variable, which is read when a task runs. What is new is what
the workspace has not answered yet: no event is trusted, hence none can be lost.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, AssetAlias, task, task_group
from airflow.sdk.exceptions import AirflowFailException

from slacktide.orchestration.plan_operator import SlacktidePlanOperator
from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator
from slacktide.orchestration.reports import complaint, summary
from slacktide.orchestration.sensor import DeltaArrivalSensor

with DAG(
    dag_id="slacktide_continuous",
    description="Await, plan, refresh, record: for every workspace of the Variable slacktide",
    schedule="@continuous",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 3,
        "retry_delay": timedelta(seconds=10),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(minutes=10),
    },
    doc_md=__doc__,
    tags=["slacktide"],
) as dag:
    arrivals = DeltaArrivalSensor(
        task_id="await",
        deferrable=True,
        poke_interval=5,
        timeout=timedelta(hours=6),
        soft_fail=True,
    )

    @task(retries=0)
    def record(report: Any) -> dict[str, Any]:
        """Give the run in a few figures; fail where a view failed, its neighbours being done."""
        if failed := complaint(report):
            raise AirflowFailException(failed)
        return summary(report)

    @task_group
    def cycle(workspace: str) -> None:
        plan = SlacktidePlanOperator(task_id="plan", workspace=workspace)
        refresh = SlacktideRefreshOperator(
            task_id="refresh", plan=plan.output, outlets=[AssetAlias("slacktide")]
        )
        record(refresh.output)

    cycle.expand(workspace=arrivals.output)
