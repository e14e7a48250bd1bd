"""What Airflow and the command line need for an object store, and what is missing without it."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from slacktide.cli.main import run_command
from tests.harness.lake import ROOT, Lake
from tests.harness.s3 import SECRET, Bucket
from tests.meta.tree import ROOT as CHECKOUT
from tools.jars import EXCLUDED, PACKAGES

pytestmark = pytest.mark.s3

ROWS = [(f"k{number % 5}", number) for number in range(30)]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- executed by tests/s3/.*? -->\n```sh\n(.*?)```", re.DOTALL)


class Silent:
    """The part of a task instance that takes what a task hands on."""

    def xcom_push(self, key, value):
        pass


def test_airflow_submits_with_the_options_of_the_connection(
    lake: Lake, connector_jars: list[Path], java_home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slacktide.orchestration.plan_operator import SlacktidePlanOperator
    from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator

    lake.source("t", "k STRING, v INT", *ROWS)
    shop = {
        "conn_id": "lake",
        "views": {"sums": {"sql": "SELECT k, sum(v) AS s FROM t GROUP BY k"}},
        "spark": {"jars": [str(jar) for jar in connector_jars]},
    }
    connection = {"conn_type": "slacktide", "host": lake.ws.root, "extra": lake.bucket.options}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("JAVA_HOME", java_home)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps({"workspaces": {"shop": shop}}))
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(connection))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "local[1]"}')
    context: Any = {"ti": Silent(), "outlet_events": {}}
    plan = SlacktidePlanOperator(task_id="plan").execute(context)
    refresh = SlacktideRefreshOperator(task_id="refresh", plan=plan)
    report = refresh.execute(context)
    hook: Any = refresh._hook
    hook._submit_sp.stdout.close()  # Airflow's hook leaves it to the garbage collector
    assert report["views"]["sums"]["method"] == "full"
    assert SECRET not in " ".join(map(str, hook._submit_sp.args))
    lake.verified()
    assert len(lake.read("sums")) == 5


def test_the_examples_of_the_readme_run(
    spark,
    bucket: Bucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = BLOCK.findall(README)
    monkeypatch.chdir(tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, bucket.server.environment[name])
    bucket.put("landing/orders/monday.csv", b"id,customer,amount\n1,ada,10.50\n2,bob,20.00\n")
    ran = []
    for line in filter(None, block.splitlines()):
        words = shlex.split(line)
        if words[0] == "export":
            name, value = words[1].split("=", 1)
            known = {"AWS_ENDPOINT_URL": bucket.server.url, "AWS_REGION": "eu-central-1"}
            monkeypatch.setenv(name, known.get(name) or value.replace("lake", bucket.name))
        else:
            assert words[0] == "slacktide"
            words = [word.replace("s3://lake", f"s3://{bucket.name}") for word in words]
            assert run_command(words[1:]) == 0, (line, capsys.readouterr().err)
            ran.append(capsys.readouterr().out)
    assert "10.50" in ran[-1]


def test_the_readme_names_what_is_tested(spark) -> None:
    for package in (*PACKAGES, *EXCLUDED):
        assert package in README
    version = spark.sparkContext._jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    assert PACKAGES[0].endswith(f":{version}")


def test_the_root_has_signs_of_its_own() -> None:
    assert {" ", "%", "é", "+", "=", "&", "'", "#"} <= set(ROOT)
