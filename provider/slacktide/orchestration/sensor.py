"""The sensor that waits until a workspace has something to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseSensorOperator, PokeReturnValue
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowException, AirflowSensorTimeout

from slacktide.common.clock import isoformat, system_clock
from slacktide.errors import ExecutionError, UserError
from slacktide.orchestration.arrivals import Decision, Watch, decide
from slacktide.orchestration.style import INK, PAPER
from slacktide.orchestration.trigger import DeltaArrivalTrigger
from slacktide.orchestration.variable import DEFAULT_KEY

if TYPE_CHECKING:
    from airflow.sdk import Context

MEMORY_KEY = "sights"
_GRACE = timedelta(minutes=2)


class DeltaArrivalSensor(BaseSensorOperator):
    """Waits for arrivals, for declared objects that a workspace lacks, for a changed declaration, or for a sink that lacks its answer.

    It only peeks: what lands is accepted by the plan. Its result is the list of the names of the
    workspaces to run. The decision is the same in all three modes (poke, reschedule, deferrable).

    A Variable that is missing or wrong fails the task with the reason, and is looked at again by
    its retries: whoever waits for data may as well wait for a correction, at growing distance.

    Args:
        workspaces: names from the Variable; empty, the default, for all of them.
        slacktide_conn_id: a connection of type ``slacktide``, in place of the Variable.
        variable: the key of the Variable.
        patience: seconds for which a sight that the last run did not change is left alone.
        deferrable: wait in the triggerer, without a worker slot.
    """

    template_fields: Sequence[str] = ("workspaces", "slacktide_conn_id", "variable")
    ui_color = PAPER
    ui_fgcolor = INK

    def __init__(
        self,
        *,
        workspaces: Sequence[str] = (),
        slacktide_conn_id: str | None = None,
        variable: str = DEFAULT_KEY,
        patience: float = 600.0,
        deferrable: bool = conf.getboolean("operators", "default_deferrable", fallback=False),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.workspaces = workspaces
        self.slacktide_conn_id = slacktide_conn_id
        self.variable = variable
        self.patience = patience
        self.deferrable = deferrable

    def execute(self, context: Context) -> Any:
        """Look at once; then wait here, or in the triggerer."""
        if not self.deferrable:
            return super().execute(context)
        decision = self._look(context)
        if not decision.ready:
            self._defer(decision.memory)
        return self._announce(decision.ready, decision.reasons)

    def _defer(self, memory: Mapping[str, Mapping[str, str]]) -> NoReturn:
        timeout = timedelta(seconds=self.timeout)
        self.defer(
            trigger=DeltaArrivalTrigger(
                workspaces=list(self.workspaces),
                slacktide_conn_id=self.slacktide_conn_id,
                variable=self.variable,
                poll_interval=self.poke_interval,
                patience=self.patience,
                memory=memory,
                deadline=isoformat(system_clock() + timeout),
            ),
            method_name="execute_complete",
            timeout=timeout + _GRACE,
        )

    def poke(self, context: Context) -> PokeReturnValue:
        """Look once."""
        decision = self._look(context)
        if not decision.ready:
            return PokeReturnValue(is_done=False)
        ready = self._announce(decision.ready, decision.reasons)
        return PokeReturnValue(is_done=True, xcom_value=ready)

    def execute_complete(
        self, context: Context, event: Mapping[str, Any] | None = None
    ) -> list[str]:
        """Go on after the trigger fired.

        Raises:
            AirflowSensorTimeout: nothing arrived in time.
            ExecutionError: the trigger failed; a retry follows where the task has some left. After a deferral Airflow
                turns its own errors into a skip under `soft_fail`, so it is none of these.
        """
        told = event or {"status": "error", "message": "the trigger ended without an event"}
        match told["status"]:
            case "ready":
                self._remember(context, told["memory"])
                return self._announce(told["ready"], told["reasons"])
            case "timeout":
                raise AirflowSensorTimeout(told["message"])
            case _:
                raise ExecutionError(told["message"], hint="the log of the triggerer has more")

    def _look(self, context: Context) -> Decision:
        """Look at the workspaces, and remember what was seen."""
        memory = self._memory(context)
        decision = self._decide(memory)
        if decision.memory != memory:
            self._remember(context, decision.memory)
        return decision

    def _decide(self, memory: Mapping[str, Mapping[str, str]]) -> Decision:
        watch = Watch(tuple(self.workspaces), self.slacktide_conn_id, self.variable)
        try:
            sights = watch.look()
        except UserError as error:
            raise AirflowException(f"{error.code}: {error}") from error
        patience = timedelta(seconds=self.patience)
        return decide(sights, memory, now=system_clock(), patience=patience)

    def _memory(self, context: Context) -> dict[str, dict[str, str]]:
        """Give what was remembered last, in this run or any before it; nothing where there is none."""
        own = context["ti"]
        # Without an index Airflow gives what all runs have remembered, in no order.
        before = own.xcom_pull(
            task_ids=self.task_id,
            key=MEMORY_KEY,
            include_prior_dates=True,
            map_indexes=own.map_index,
        )
        return before if isinstance(before, dict) else {}

    def _remember(self, context: Context, memory: Mapping[str, Mapping[str, str]]) -> None:
        """Hand what was seen to later runs. Not from a run without a logical date: PostgreSQL takes it for the newest for ever."""
        if context["dag_run"].logical_date is not None:
            context["ti"].xcom_push(key=MEMORY_KEY, value=dict(memory))

    def _announce(self, ready: Sequence[str], reasons: Sequence[str]) -> list[str]:
        for reason in reasons:
            self.log.info("%s", reason)
        return list(ready)
