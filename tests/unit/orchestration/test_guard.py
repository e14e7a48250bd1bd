"""The guard in front of spark-submit: a bad Spark connection never becomes a job on another master."""

from __future__ import annotations

import pytest
from airflow.sdk import Connection

from slacktide.errors import SetupError
from slacktide.orchestration.guard import SparkTarget, spark_target
from slacktide.orchestration.submission import check_programs, find_connection, submission
from slacktide.orchestration.variable import WorkspaceConfig


def connection(text):
    if text.startswith("{"):
        return Connection.from_json(text, conn_id="spark_default")
    return Connection.from_uri(text, conn_id="spark_default")


GOOD = {
    '{"conn_type":"spark","host":"local[2]"}': SparkTarget("local[2]", "client"),
    '{"conn_type":"spark","host":"local[*]","extra":{"deploy-mode":"client"}}': SparkTarget(
        "local[*]", "client"
    ),
    "spark://local%5B2%5D?deploy-mode=client": SparkTarget("local[2]", "client"),
    '{"conn_type":"spark","host":"yarn","extra":{"deploy-mode":"cluster"}}': SparkTarget(
        "yarn", "cluster"
    ),
    '{"conn_type":"spark","host":"spark://master","port":7077}': SparkTarget(
        "spark://master:7077", "client"
    ),
    '{"conn_type":"spark","host":"yarn"}': SparkTarget("yarn", "client"),
    '{"conn_type":"spark","host":"k8s://https://h","port":443}': SparkTarget(
        "k8s://https://h:443", "client"
    ),
    "k8s://https%3A%2F%2Fh:443": SparkTarget("k8s://https://h:443", "client"),
}


@pytest.mark.parametrize("text", GOOD)
def test_a_good_connection_gives_the_master_it_means(text):
    assert spark_target("spark_default", connection(text)) == GOOD[text]


@pytest.mark.parametrize("text", [text for text in GOOD if "k8s" not in text])
def test_the_hook_takes_the_very_same_master(text, monkeypatch):
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", text)
    assert SparkSubmitHook(conn_id="spark_default")._connection["master"] == GOOD[text].master


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_what_the_operator_or_the_variable_says_goes_before_the_connection(mode):
    own = connection('{"conn_type":"spark","host":"yarn","extra":{"deploy-mode":"cluster"}}')
    assert spark_target("spark_default", own, mode).deploy_mode == mode


def test_a_local_master_has_no_cluster_whoever_asks_for_one():
    with pytest.raises(SetupError, match="is used with the deploy mode cluster"):
        spark_target(
            "spark_default", connection('{"conn_type":"spark","host":"local[2]"}'), "cluster"
        )


def test_options_of_the_store_go_where_the_environment_is_on_no_command_line(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type":"spark","host":"yarn"}')
    config = WorkspaceConfig("shop", root="s3://b/ws", spark={"deploy_mode": "cluster"})
    asked = (None, "s3://b/ws", {"endpoint": "http://s3"}, "0" * 32)
    with pytest.raises(SetupError, match="cannot be handed to a driver at yarn"):
        submission(config, *asked)
    in_the_cluster = submission(config, None, "s3://b/ws", {}, "0" * 32)
    assert "spark.pyspark.driver.python" not in in_the_cluster.conf
    monkeypatch.setenv(
        "AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type":"spark","host":"spark://m:7077"}'
    )
    assert submission(config, *asked, "client").env


BAD = {
    "local://": "of type 'local'",
    '{"conn_type":"http","host":"local[2]"}': "of type 'http'",
    '{"conn_type":"spark"}': "names the master 'spark://'",
    '{"conn_type":"spark","host":"master"}': "names the master 'master'",
    '{"conn_type":"spark","host":"local[2]","extra":{"deploy-mode":"cluster"}}': "deploy mode cluster",
    '{"conn_type":"spark","host":"spark://m:7077","extra":{"deploy-mode":"x"}}': "deploy mode 'x'",
    "spark://master:7077?deploy-mode=cluster": "deploy mode cluster",
    '{"conn_type":"spark","host":"spark://m.k8s.example:7077"}': "takes for k8s by its name",
    '{"conn_type":"spark","host":"spark://yarn-gw:7077"}': "takes for yarn by its name",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_connection_is_refused(text):
    with pytest.raises(SetupError) as caught:
        spark_target("spark_default", connection(text))
    assert BAD[text] in caught.value.message
    assert "spark_default" in caught.value.message
    assert caught.value.hint


def test_a_missing_connection_is_refused(monkeypatch):
    monkeypatch.delenv("AIRFLOW_CONN_NOWHERE", raising=False)
    assert find_connection("nowhere") is None
    with pytest.raises(SetupError, match="Spark connection nowhere is not defined"):
        spark_target("nowhere", find_connection("nowhere"))


def test_a_connection_that_airflow_cannot_read_is_refused(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_BRACKETS", "spark://local[2]")
    with pytest.raises(SetupError, match="brackets"):
        spark_target("brackets", find_connection("brackets"))


def test_missing_programs_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SetupError, match="spark-submit is not on the PATH"):
        check_programs("spark-submit", {})
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(SetupError, match="Java is not on this worker"):
        check_programs("spark-submit", {})
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch(0o755)
    check_programs("spark-submit", {"JAVA_HOME": str(java.parents[1])})
    monkeypatch.setenv("PATH", "")
    check_programs("spark-submit", {"PATH": f"{tmp_path}:{java.parent}"})
