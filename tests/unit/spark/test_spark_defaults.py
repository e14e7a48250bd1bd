"""What `spark-defaults.conf` says is read as Spark reads it, and goes before our defaults."""

from __future__ import annotations

from pathlib import Path

from slacktide.spark.sessions.spark_defaults import spark_defaults

TEXT = """# a comment
! another
spark.master            yarn
spark.sql.shuffle.partitions=64
spark.driver.extraJavaOptions  -Dname=value -Xss4m
spark.hadoop.fs.s3a.endpoint: http://s3
  spark.ui.enabled = true
spark.alone
other.key  1
"""


def test_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(TEXT, encoding="utf-8")
    assert spark_defaults({"SPARK_CONF_DIR": str(tmp_path)}) == {
        "spark.master": "yarn",
        "spark.sql.shuffle.partitions": "64",
        "spark.driver.extraJavaOptions": "-Dname=value -Xss4m",
        "spark.hadoop.fs.s3a.endpoint": "http://s3",
        "spark.ui.enabled": "true",
    }


def test_it_lies_below_the_home_of_spark(tmp_path: Path) -> None:
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == {}
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.master local[3]\n", "utf-8")
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == {"spark.master": "local[3]"}
