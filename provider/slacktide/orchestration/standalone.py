"""A whole Airflow on this machine, in a folder of its own: for the demo, and for trying things.

`LocalAirflow` starts ``airflow standalone`` on free loopback ports with SQLite and the local executor,
waits until all of its parts are healthy, talks to its REST interface, and leaves nothing running.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from slacktide.common.extras import install
from slacktide.errors import ExecutionError, SetupError
from slacktide.orchestration.processes import end_session
from slacktide.orchestration.rest import AirflowApi

_PARTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")
_STOP_SECONDS = 40.0
_POLL_SECONDS = 0.5


@dataclass
class LocalAirflow:
    """One ``airflow standalone``, started, used and stopped.

    Attributes:
        home: its folder, made when it is not there: database, logs and configuration.
        dags: the folder with the DAG files.
        variables: Variables by key; what is no text is given as JSON.
        connections: connections by id, as mappings with ``conn_type``, ``host``, ``extra``, ….
        users: names of the users that can log in, each with a role.
        env: what is added to the environment of all its processes.
    """

    home: Path
    dags: Path
    variables: Mapping[str, Any] = field(default_factory=dict)
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    users: Mapping[str, str] = field(default_factory=lambda: {"admin": "admin"})
    env: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False, repr=False)
    _api: AirflowApi | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        """Start, unless that was done, and wait until it is healthy."""
        if self._process is None:
            self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, whatever happened."""
        self.stop()

    @property
    def url(self) -> str:
        """The address of the web pages."""
        return self.api.url

    @property
    def api(self) -> AirflowApi:
        """The REST interface, as the first user.

        Raises:
            SetupError: it was not started.
        """
        if self._api is None:
            raise SetupError("this Airflow is not running", hint="call start first")
        return self._api

    @property
    def pid(self) -> int | None:
        """The process that leads the session of all its processes; None when it is not running."""
        return None if self._process is None else self._process.pid

    @property
    def log_file(self) -> Path:
        """What all its processes print."""
        return self.home / "standalone.log"

    def password(self, user: str) -> str:
        """Give the password that was made for a user."""
        passwords: dict[str, str] = json.loads(self._passwords.read_text(encoding="utf-8"))
        return passwords[user]

    @property
    def _passwords(self) -> Path:
        return self.home / "simple_auth_manager_passwords.json.generated"

    def start(self, *, timeout: float = 180.0) -> None:
        """Start it and wait until all parts are healthy.

        Raises:
            SetupError: Airflow is not installed beside this Python.
            ExecutionError: it ended, or was not healthy in time.
        """
        program = Path(sys.executable).parent / "airflow"
        if not program.is_file():
            raise SetupError(
                f"{program} does not exist",
                hint=f"{install('airflow')} into this Python",
            )
        (self.home / "plugins").mkdir(parents=True, exist_ok=True)
        with free_ports(3) as ports:
            environment = self.environment(ports)
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter's airflow
                [str(program), "standalone"],
                env=environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_heed_interrupts,  # noqa: PLW1509 - a shell may have it ignored
            )
        try:
            self._connect(environment["AIRFLOW__API__BASE_URL"], timeout)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End it and every process that it started; harmless when it is not running."""
        process, self._process, self._api = self._process, None, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.terminate()
        end_session(process.pid)
        process.wait(_STOP_SECONDS)

    def wait_until(self, what: str, condition: Callable[[], Any], *, timeout: float = 180.0) -> Any:
        """Ask until the condition gives something true, and give that.

        Raises:
            ExecutionError: it did not in time, or this Airflow ended meanwhile.
        """
        end = time.monotonic() + timeout
        while True:
            found = condition()
            if found:
                return found
            if self._process is None or self._process.poll() is not None:
                raise ExecutionError(
                    f"Airflow ended while waiting for {what}", hint=f"see {self.log_file}"
                )
            if time.monotonic() > end:
                raise ExecutionError(
                    f"no {what} within {timeout:.0f} s", hint=f"see {self.log_file}"
                )
            time.sleep(_POLL_SECONDS)

    def environment(self, ports: Sequence[int]) -> dict[str, str]:
        """Give the environment of its processes; Airflow's settings of the caller do not reach it."""
        base = {key: value for key, value in os.environ.items() if not key.startswith("AIRFLOW")}
        programs = str(Path(sys.executable).parent)
        path = f"{programs}{os.pathsep}{base.get('PATH', os.defpath)}"
        settings = _settings(self.home, self.dags, self.users, ports)
        return {
            **base,
            **settings,
            "PATH": path,
            "SPARK_LOCAL_IP": "127.0.0.1",
            **self.env,
        }

    def _connect(self, url: str, timeout: float) -> None:
        user = next(iter(self.users))
        api = AirflowApi(url)
        self.wait_until("healthy Airflow", lambda: _healthy(api), timeout=timeout)
        self.wait_until("password file", self._passwords.is_file)
        api.login(user, self.password(user))
        for key, value in self.variables.items():
            api.set_variable(key, value if isinstance(value, str) else json.dumps(value))
        for conn_id, connection in self.connections.items():
            api.set_connection(conn_id, connection)
        self._api = api


def _healthy(api: AirflowApi) -> bool:
    health = api.try_get("/api/v2/monitor/health")
    return health is not None and all(
        (health.get(part) or {}).get("status") == "healthy" for part in _PARTS
    )


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _settings(
    home: Path, dags: Path, users: Mapping[str, str], ports: Sequence[int]
) -> dict[str, str]:
    web, worker_log, trigger_log = ports
    sections = {
        "CORE__DAGS_FOLDER": str(dags.resolve()),
        "CORE__PLUGINS_FOLDER": str((home / "plugins").resolve()),
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "CORE__PARALLELISM": "4",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(
            f"{name}:{role}" for name, role in users.items()
        ),
        "API__HOST": "127.0.0.1",
        "API__PORT": str(web),
        "API__WORKERS": "1",
        "API__BASE_URL": f"http://127.0.0.1:{web}",
        "DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "10",
        "LOGGING__WORKER_LOG_SERVER_PORT": str(worker_log),
        "LOGGING__TRIGGER_LOG_SERVER_PORT": str(trigger_log),
        "SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
        "USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    return {
        "AIRFLOW_HOME": str(home.resolve()),
        **{f"AIRFLOW__{name}": value for name, value in sections.items()},
    }


@contextmanager
def free_ports(count: int) -> Iterator[tuple[int, ...]]:
    """Give different free ports of the loopback address; they are free again afterwards."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        yield tuple(one.getsockname()[1] for one in sockets)
