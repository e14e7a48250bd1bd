"""What spark-submit gets for one plan: application, arguments, settings and environment."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slacktide.common.extras import install
from slacktide.common.session_settings import COLLECTOR
from slacktide.errors import SetupError
from slacktide.orchestration.guard import SparkTarget, spark_target
from slacktide.orchestration.variable import WorkspaceConfig

STORAGE_OPTIONS = "SLACKTIDE_STORAGE_OPTIONS"
DEFAULT_CONF: Mapping[str, str] = {
    **COLLECTOR,
    "spark.log.level": "WARN",
    "spark.ui.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class Submission:
    """One call of spark-submit, as `SparkSubmitOperator` takes it.

    Attributes:
        binary: the name or path of spark-submit that the connection says.
        has_environment: see `SparkTarget`.
    """

    application: str
    arguments: tuple[str, ...]
    conn_id: str
    conf: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    deploy_mode: str | None = None
    driver_memory: str | None = None
    executor_memory: str | None = None
    packages: str | None = None
    jars: str | None = None
    py_files: str | None = None
    files: str | None = None
    binary: str = "spark-submit"
    has_environment: bool = True


def submission(
    config: WorkspaceConfig,
    spark_conn_id: str | None,
    root: str,
    options: Mapping[str, Any],
    plan_id: str,
    deploy_mode: str | None = None,
) -> Submission:
    """Say how a plan is submitted.

    Args:
        config: of the workspace.
        spark_conn_id: what the operator says; None for what the Variable does.
        root: the address of the workspace.
        options: with which its store is reached.
        plan_id: of the plan.
        deploy_mode: what the operator says; None for what the Variable or the connection does.

    Raises:
        SetupError: the Spark connection is missing or cannot be used.
    """
    conn_id = spark_conn_id or config.spark_conn_id
    connection = find_connection(conn_id)
    spark = config.spark
    target = spark_target(conn_id, connection, deploy_mode or spark.get("deploy_mode"))
    return Submission(
        application=application(),
        arguments=("--workspace", root, "--plan", plan_id),
        conn_id=conn_id,
        conf={**DEFAULT_CONF, **_python(target), **spark.get("conf", {})},
        env={**spark.get("env", {}), **_credentials(target, options)},
        deploy_mode=target.deploy_mode,
        driver_memory=spark.get("driver_memory"),
        executor_memory=spark.get("executor_memory"),
        packages=_joined(spark.get("packages")),
        jars=_joined(spark.get("jars")),
        py_files=_joined(spark.get("py_files")),
        files=_joined(spark.get("files")),
        has_environment=target.has_environment,
        binary=connection.extra_dejson.get("spark-binary") or "spark-submit",
    )


def application() -> str:
    """Give the path of the driver program, without importing it.

    Raises:
        SetupError: the package is not on this worker as files.
    """
    package = importlib.util.find_spec("slacktide")
    for folder in (package.submodule_search_locations or ()) if package else ():
        path = Path(folder) / "cli" / "submit.py"
        if path.is_file():
            return str(path)
    raise SetupError(
        "the driver program slacktide/cli/submit.py is not on this worker",
        hint="install Slacktide by pip, not as an archive on the path",
    )


def find_connection(conn_id: str) -> Any:
    """Give a connection, or None where Airflow knows none of this id."""
    from airflow.sdk import BaseHook
    from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

    try:
        return BaseHook.get_connection(conn_id)
    except (AirflowNotFoundException, AirflowRuntimeError):
        return None
    except ValueError as error:
        raise SetupError(
            f"connection {conn_id} cannot be read: {error}",
            hint='give it as JSON, as in {"conn_type": "spark", "host": "local[2]"}',
        ) from error


def check_programs(binary: str, env: Mapping[str, str]) -> None:
    """Look for spark-submit and Java before anything is started.

    Args:
        binary: the name or path of spark-submit.
        env: what it gets besides the environment of this worker.

    Raises:
        SetupError: one of them is missing.
    """
    path, home = (env.get(name, os.environ.get(name)) for name in ("PATH", "JAVA_HOME"))
    if shutil.which(binary, path=path) is None:
        raise SetupError(
            f"{binary} is not on the PATH of this worker",
            hint=f"{install('spark')}; or install a Spark distribution",
        )
    java = Path(home) / "bin" / "java" if home else None
    if (java is None or not java.is_file()) and shutil.which("java", path=path) is None:
        raise SetupError(
            "Java is not on this worker",
            hint="install Java 17 or 21, or set JAVA_HOME",
        )


def _python(target: SparkTarget) -> dict[str, str]:
    """Let a driver on this machine run in the Python of this worker, which has the package."""
    if target.deploy_mode == "cluster":
        return {}
    conf = {"spark.pyspark.driver.python": sys.executable}
    if target.master.startswith("local"):
        conf["spark.pyspark.python"] = sys.executable
    return conf


def _credentials(target: SparkTarget, options: Mapping[str, Any]) -> dict[str, str]:
    """Hand storage options to the driver by its environment, never on a command line.

    Raises:
        SetupError: Airflow would write them there.
    """
    if not options:
        return {}
    if target.exposes_environment:
        raise SetupError(
            f"storage options of a connection cannot be handed to a driver at {target.master} safely, as they would be"
            " on the command line of spark-submit",
            hint="give the cluster its own credentials, and leave the extra of the connection empty",
        )
    return {STORAGE_OPTIONS: json.dumps(dict(options), sort_keys=True)}


def _joined(values: Sequence[str] | None) -> str | None:
    return ",".join(values) if values else None
