"""Refuses to submit where Airflow would quietly send the job to another master than meant.

`SparkSubmitHook` takes ``yarn`` when the connection is missing or is a web address it cannot read, and any
master with ``yarn`` or ``k8s`` in its name for such a cluster: it writes the environment on the command line then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from slacktide.errors import NotDefinedError, SetupError

_MASTERS = re.compile(r"(local(\[.+\])?|yarn|spark://.+|k8s://.+|mesos://.+)")
_KNOWN_BY_NAME = ("yarn", "k8s")
_SUPPORTED = "local[2], spark://HOST:7077, yarn or k8s://https://HOST:PORT"


@dataclass(frozen=True, slots=True)
class SparkTarget:
    """Where a job goes: the master, and whether the driver runs in the cluster."""

    master: str
    deploy_mode: str

    @property
    def exposes_environment(self) -> bool:
        """Whether Airflow writes the environment of spark-submit on its command line."""
        return self.master.startswith(_KNOWN_BY_NAME)

    @property
    def has_environment(self) -> bool:
        """Whether spark-submit itself gets that environment; on Kubernetes the driver's pod alone does."""
        return not self.master.startswith("k8s")


def spark_target(conn_id: str, connection: Any, deploy_mode: str | None = None) -> SparkTarget:
    """Give the master that a Spark connection means, and where the driver runs.

    Args:
        conn_id: the id of the connection, for messages.
        connection: the connection, or None where there is none.
        deploy_mode: what the operator or the Variable says, which goes before the connection.

    Raises:
        NotDefinedError: there is no connection, or Airflow did not say.
        SetupError: it is of another type, or it names no master, or the mode is none for it.
    """
    if connection is None:
        raise NotDefinedError(
            f"Spark connection {conn_id} is not defined, or Airflow's API server did not answer",
            hint=f"add a connection of type spark under that id, its host being {_SUPPORTED}",
        )
    if connection.conn_type not in {"spark", "k8s", "yarn"}:
        raise SetupError(
            f"Spark connection {conn_id} is of type {connection.conn_type!r}",
            hint="make it a connection of type spark",
        )
    master = _master(connection)
    if not _MASTERS.fullmatch(master):
        raise SetupError(
            f"Spark connection {conn_id} names the master {master!r}, which Spark does not know",
            hint=f'give it as {{"conn_type": "spark", "host": …}}, the host being {_SUPPORTED}',
        )
    word = next((word for word in _KNOWN_BY_NAME if word in master), "")
    if not master.startswith(word):
        raise SetupError(
            f"Spark connection {conn_id} has the master {master}, which Airflow takes for {word} by its name",
            hint=f"reach it by a name without {word}, or by its IP address",
        )
    mode = deploy_mode or connection.extra_dejson.get("deploy-mode") or "client"
    if mode not in {"client", "cluster"}:
        raise SetupError(
            f"Spark connection {conn_id} is used with the deploy mode {mode!r}",
            hint="use client or cluster",
        )
    if mode == "cluster" and master.startswith(("local", "spark://")):
        raise SetupError(
            f"Spark connection {conn_id} has the master {master} and is used with the deploy mode cluster",
            hint="Python applications run in client mode on local and spark:// masters",
        )
    return SparkTarget(master=master, deploy_mode=mode)


def _master(connection: Any) -> str:
    """Spell the master as `SparkSubmitHook` does."""
    host = connection.host or ""
    if connection.conn_type == "spark" and host and ("://" in host or not connection.port):
        master = host
    else:
        master = f"{connection.conn_type}://{host}"
    return f"{master}:{connection.port}" if connection.port else master
