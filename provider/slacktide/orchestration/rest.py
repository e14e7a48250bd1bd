"""As much of Airflow's REST interface as we use, over the standard library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from slacktide.errors import ExecutionError

_TIMEOUT = 30.0


class AirflowApi:
    """One Airflow, spoken to as one user.

    Args:
        url: the address of its web pages.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._token: str | None = None

    def login(self, user: str, password: str) -> None:
        """Get a token, and use it from now on."""
        answer = self.call("POST", "/auth/token", {"username": user, "password": password})
        self._token = answer["access_token"]

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: Any
    ) -> Any:
        """Make one call and give its JSON, or None where the answer is empty.

        Raises:
            ExecutionError: the answer is an error; the message holds it.
        """
        address = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        request = Request(address, method=method, headers=self._headers())  # noqa: S310 - our own http address
        request.data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 - our own http address
                text = answer.read()
        except HTTPError as error:
            detail = error.read().decode(errors="replace")[:500]
            raise ExecutionError(f"{method} {path} gave {error.code}: {detail}") from error
        except (URLError, OSError, HTTPException) as error:
            raise ExecutionError(f"{method} {path} failed: {error}") from error
        return json.loads(text) if text else None

    def try_get(self, path: str) -> Any:
        """Give the JSON at a path, or None where there is no answer yet."""
        try:
            return self.call("GET", path)
        except ExecutionError:
            return None

    def set_variable(self, key: str, value: str) -> None:
        """Write a Variable, whether or not it is there."""
        self._put("variables", key, {"key": key, "value": value})

    def set_connection(self, conn_id: str, connection: Mapping[str, Any]) -> None:
        """Write a connection, given with ``conn_type``, ``host``, ``extra`` and the like."""
        body = {**connection, "connection_id": conn_id}
        if isinstance(body.get("extra"), Mapping):
            body["extra"] = json.dumps(body["extra"])
        self._put("connections", conn_id, body)

    def _put(self, kind: str, name: str, body: Mapping[str, Any]) -> None:
        path = f"/api/v2/{kind}/{quote(name)}"
        if self.try_get(path) is None:
            self.call("POST", f"/api/v2/{kind}", body)
        else:
            self.call("PATCH", path, body)

    def unpause(self, dag_id: str, *, paused: bool = False) -> None:
        """Let a DAG run, or with ``paused`` keep it from starting new runs."""
        self.call("PATCH", f"/api/v2/dags/{quote(dag_id)}", {"is_paused": paused})

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        """Give the runs of a DAG, the newest first."""
        path = f"/api/v2/dags/{quote(dag_id)}/dagRuns"
        answer: dict[str, Any] = self.call("GET", path, order_by="-run_after", limit=100)
        return list(answer["dag_runs"])

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """Give the task instances of a run."""
        answer: dict[str, Any] = self.call("GET", f"{_run(dag_id, run_id)}/taskInstances")
        return list(answer["task_instances"])

    def log(self, dag_id: str, run_id: str, task_id: str, attempt: int, map_index: int = -1) -> str:
        """Give the log of one attempt of a task, as text."""
        path = f"{_run(dag_id, run_id)}/taskInstances/{quote(task_id)}/logs/{attempt}"
        answer = self.try_get(f"{path}?map_index={map_index}&full_content=true")
        return json.dumps(answer, indent=1) if answer else ""

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return {**headers, "Authorization": f"Bearer {self._token}"} if self._token else headers


def _run(dag_id: str, run_id: str) -> str:
    return f"/api/v2/dags/{quote(dag_id)}/dagRuns/{quote(run_id)}"
