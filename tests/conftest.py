"""What all tests share: the tiers, the property-test profiles and the one Spark session."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.harness.airflow_standalone import running_shop, shop  # noqa: F401 - fixtures
from tests.harness.s3 import S3, Bucket, running_s3
from tools import jars
from tools.bootstrap import Unprepared
from tools.machine import JAVA_ADVICE, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIERS = ("unit", "spark", "s3", "airflow", "ui")
SECONDS = {"spark": 300, "s3": 600, "airflow": 600, "ui": 600}

hypothesis.settings.register_profile(
    "fast", max_examples=50, deadline=None, derandomize="CI" in os.environ
)
hypothesis.settings.register_profile("thorough", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Make a test without a tier a unit test, give slow tiers their time limits; files of long tests come first.

    So no worker is left with one of these when the other has nothing more to do.
    """
    for item in items:
        tiers = [tier for tier in TIERS if item.get_closest_marker(tier)]
        if not tiers:
            item.add_marker(pytest.mark.unit)
        seconds = max((SECONDS.get(tier, 0) for tier in tiers), default=0)
        if seconds and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(seconds))
    yield
    longest: dict[Path, float] = {}
    for item in items:
        longest[item.path] = max(longest.get(item.path, 0), limit_of(item))
    items.sort(key=lambda item: -longest[item.path])


def limit_of(item: pytest.Item) -> float:
    """The seconds that a test may take; 0 where that is not said."""
    marker = item.get_closest_marker("timeout")
    return marker.args[0] if marker else 0


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    """One object store for the whole run."""
    with running_s3() as server:
        yield server


@pytest.fixture
def bucket(s3: S3) -> Bucket:
    """An empty bucket."""
    return s3.bucket()


@pytest.fixture(scope="session")
def java_home() -> str:
    """The Java that Spark runs on; without one the Spark tests cannot run, and say so."""
    home = find_java(os.environ)
    if home is None:
        pytest.fail(JAVA_ADVICE, pytrace=False)
    return str(home)


@pytest.fixture(scope="session")
def connector_jars() -> list[Path]:
    """Spark's connectors for S3 and Avro; without them the tests of the tier cannot run, and say so."""
    try:
        return jars.connector_jars()
    except Unprepared as problem:
        pytest.fail(str(problem), pytrace=False)


def connector(request: pytest.FixtureRequest) -> dict[str, str]:
    """What a session needs where tests of this run read and write in an object store."""
    if not any(item.get_closest_marker("s3") for item in request.session.items):
        return {}
    found = request.getfixturevalue("connector_jars")
    # A server that is gone stays gone: one more attempt is enough.
    few = {f"spark.hadoop.fs.s3a.{name}": "1" for name in ("attempts.maximum", "retry.limit")}
    return few | {"spark.jars": ",".join(map(str, found))}


@pytest.fixture(scope="session")
def spark(
    request: pytest.FixtureRequest, java_home: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """One local session for the whole run; tests leave no configuration or view behind in it."""
    from pyspark.sql import SparkSession

    place = tmp_path_factory.mktemp("spark")
    from slacktide.spark.sessions.session import FRUGAL

    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.default.parallelism": "2",
        "spark.local.dir": str(place / "local"),
        "spark.sql.codegen.cache.maxEntries": "10000",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(place / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **FRUGAL,
        **connector(request),
        # Most code of a test runs a few times only, and is not worth the second compiler's time. Without it Java
        # reserves a fifth of the room for compiled code; when that is full, the rest of the run is interpreted.
        "spark.driver.extraJavaOptions": (
            f"-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -Dderby.system.home={place}"
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", java_home)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2]").appName("slacktide-tests")
        session = builder.config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
