"""The trigger behind `DeltaArrivalSensor`: looks at workspaces without holding a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from slacktide.common.clock import parse_instant, system_clock
from slacktide.errors import SlacktideError
from slacktide.orchestration.arrivals import Decision, Watch, decide
from slacktide.orchestration.variable import DEFAULT_KEY


class DeltaArrivalTrigger(BaseTrigger):
    """Fires once, when a workspace has something to do; always with a terminal event.

    The event is ``{"status": "ready", "ready": [name, …], "reasons": […], "memory": {…}}``,
    ``{"status": "timeout", "message": …}`` or ``{"status": "error", "message": …}``.

    Args:
        workspaces: names from the Variable; empty for all of them.
        slacktide_conn_id: a connection, in place of the Variable.
        variable: the key of the Variable.
        poll_interval: seconds between two looks.
        patience: seconds for which a sight that did not change is left alone.
        memory: what the decision before gave to remember.
        deadline: the instant at which to give up, in ISO form.
    """

    def __init__(
        self,
        *,
        workspaces: Sequence[str] = (),
        slacktide_conn_id: str | None = None,
        variable: str = DEFAULT_KEY,
        poll_interval: float = 30.0,
        patience: float = 600.0,
        memory: Mapping[str, Mapping[str, str]] | None = None,
        deadline: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.workspaces = list(workspaces)
        self.slacktide_conn_id = slacktide_conn_id
        self.variable = variable
        self.poll_interval = poll_interval
        self.patience = patience
        self.memory = {name: dict(entry) for name, entry in (memory or {}).items()}
        self.deadline = deadline

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Give the class path and the arguments that make this trigger again."""
        return (
            "slacktide.orchestration.trigger.DeltaArrivalTrigger",
            {
                "workspaces": self.workspaces,
                "slacktide_conn_id": self.slacktide_conn_id,
                "variable": self.variable,
                "poll_interval": self.poll_interval,
                "patience": self.patience,
                "memory": self.memory,
                "deadline": self.deadline,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Look until a workspace calls, the deadline passes, or an error needs the user."""
        try:
            payload = await self._wait()
        except SlacktideError as error:
            payload = {"status": "error", "message": f"{error.code}: {error}"}
        except Exception as error:
            self.log.exception("looking for arrivals failed")
            payload = {"status": "error", "message": f"{type(error).__name__}: {error}"}
        yield TriggerEvent(payload)  # type: ignore[no-untyped-call]

    async def _wait(self) -> dict[str, Any]:
        while not self._late():
            decision = await self._look()
            if decision.ready:
                return {
                    "status": "ready",
                    "ready": list(decision.ready),
                    "reasons": list(decision.reasons),
                    "memory": decision.memory,
                }
            await asyncio.sleep(self.poll_interval)
        return {"status": "timeout", "message": "nothing arrived before the timeout"}

    async def _look(self) -> Decision:
        watch = Watch(tuple(self.workspaces), self.slacktide_conn_id, self.variable)
        sights = await asyncio.to_thread(watch.look)
        patience = timedelta(seconds=self.patience)
        return decide(sights, self.memory, now=system_clock(), patience=patience)

    def _late(self) -> bool:
        return self.deadline is not None and system_clock() >= parse_instant(self.deadline)
