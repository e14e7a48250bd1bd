"""Finding Java, starting the session of a command, and sessions of one's own inside a running one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from slacktide.common.extras import install
from slacktide.common.session_settings import COLLECTOR, USUAL
from slacktide.errors import SetupError
from slacktide.spark.sessions.spark_defaults import spark_defaults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUPPORTED: Final = (17, 21)
USUAL_PLACES: Final = (
    "/usr/lib/jvm",
    "/usr/java",
    "/opt/java",
    "/opt/jdk",
    "/Library/Java/JavaVirtualMachines",
    "~/.sdkman/candidates/java",
    "~/.jdks",
)
# For many small queries in one Java: besides the collector's, each broadcast starts with a block, each
# grouping, join and sort with a page, of megabytes that are cleared and mostly stay empty; and what the
# pages of Spark's UI would show fills the heap.
FRUGAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.broadcast.blockSize": "128k",
        "spark.buffer.pageSize": "4m",
        **COLLECTOR,
        "spark.sql.ui.retainedExecutions": "100",
        "spark.ui.retainedJobs": "200",
        "spark.ui.retainedStages": "200",
        "spark.ui.retainedTasks": "2000",
    }
)
_VERSION = re.compile(r'version "(\d+)')

# Settings that change what a query means; a view keeps them as they were when it was added.
MEANING: Final = (
    "spark.sql.ansi.enabled",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enforceReservedKeywords",
    "spark.sql.ansi.relationPrecedence",
    "spark.sql.caseSensitive",
    "spark.sql.crossJoin.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.groupByAliases",
    "spark.sql.groupByOrdinal",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.orderByOrdinal",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.session.timeZone",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.timestampType",
)
# The same, of those that nearly everybody leaves alone: kept where they were set, else as Spark has them.
SELDOM: Final = (
    "spark.sql.chunkBase64String.enabled",
    "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.function.concatBinaryAsString",
    "spark.sql.function.eltOutputAsString",
    "spark.sql.icu.caseMappings.enabled",
    "spark.sql.json.enableExactStringParsing",
    "spark.sql.json.enablePartialResults",
    "spark.sql.jsonGenerator.ignoreNullFields",
    "spark.sql.optimizeNullAwareAntiJoin",
    "spark.sql.parser.quotedRegexColumnNames",
    "spark.sql.preserveCharVarcharTypeInfo",
    "spark.sql.variable.substitute",
)
LEGACY: Final = "spark.sql.legacy."
# What makes optimised plans wander, or changes them to forms that no SQL text has.
PINNED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.cbo.enabled": "false",
        "spark.sql.cbo.joinReorder.enabled": "false",
        "spark.sql.cbo.planStats.enabled": "false",
        "spark.sql.cbo.starSchemaDetection": "false",
        "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
        "spark.sql.optimizer.excludedRules": ",".join(
            f"org.apache.spark.sql.catalyst.optimizer.{rule}"
            for rule in ("DecimalAggregates", "MergeScalarSubqueries", "InferWindowGroupLimit")
        ),
        "spark.sql.optimizer.inSetConversionThreshold": "2147483647",
        "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
        "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
    }
)


def find_java(
    environment: Mapping[str, str] | None = None, places: Iterable[str] | None = None
) -> Path:
    """Find the home of a Java that Spark can use: JAVA_HOME, then PATH, then the usual places.

    Raises:
        SetupError: there is none.
    """
    surroundings = os.environ if environment is None else environment
    seen = []
    for home in _homes(surroundings, USUAL_PLACES if places is None else places):
        version = _java_version(home)
        if version in SUPPORTED:
            return home
        if version is not None:
            seen.append(f"{version} in {home}")
    found = f"; found only {', '.join(seen)}" if seen else ""
    raise SetupError(
        f"Spark needs Java 17 or 21 and there is none{found}",
        hint="install it (Debian: apt-get install openjdk-17-jre-headless; macOS: brew install "
        "openjdk@17) or set JAVA_HOME to where it is",
    )


def _homes(environment: Mapping[str, str], places: Iterable[str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for place in places:
        root = Path(place).expanduser()
        if root.is_dir():
            for home in sorted(root.iterdir()):
                yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def _java_version(home: Path) -> int | None:
    java = home / "bin" / "java"
    if not java.is_file():
        return None
    try:
        done = subprocess.run(  # noqa: S603 - the path was found above, nothing is interpreted
            [str(java), "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(done.stderr + done.stdout)
    return int(match[1]) if match else None


def is_running() -> bool:
    """Whether Spark runs in this process, whichever thread has started it: it has one context for all."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return False
    return SparkContext._active_spark_context is not None


def start_session(app: str, *, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session, or give the one that runs in this process.

    It is on this machine, with all its cores, unless the user's `spark-defaults.conf` names another master.

    Args:
        app: its name.
        conf: settings that go before all others.

    Raises:
        SetupError: PySpark or Java is missing.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as missing:
        raise SetupError("PySpark is not installed", hint=install("spark")) from missing
    if is_running():
        # It may be another thread's, whose settings stay as they are.
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    os.environ["JAVA_HOME"] = str(find_java())
    theirs = spark_defaults()
    usual = {
        "spark.master": "local[*]",
        **FRUGAL,
        **USUAL,
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    ours = {key: value for key, value in usual.items() if key not in theirs}
    settings = {**ours, "spark.app.name": app, **(conf or {})}
    if settings.get("spark.master", theirs.get("spark.master", "")).startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        loopback = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        ours = {key: value for key, value in loopback.items() if key not in theirs}
        settings = {**ours, **settings}
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def capture_conf(spark: SparkSession) -> dict[str, str]:
    """Give the settings of a session that change what a query means, legacy switches included.

    They are given as they are in force, defaults too, as defaults change between versions of Spark.
    """
    given = {key: str(spark.conf.get(key)) for key in MEANING}
    return dict(sorted({**given, **_seldom_set(spark)}.items()))


def _seldom_set(spark: SparkSession) -> dict[str, str]:
    every = spark.conf.getAll
    return {k: value for k, value in every.items() if k.startswith(LEGACY) or k in SELDOM}


def forget_meaning(session: SparkSession, conf: Mapping[str, str]) -> None:
    """Have Spark's defaults in force in a session for what changes a query's meaning, was set, and is not in `conf`.

    A view means what it meant when it was added, whatever has been set for all sessions since.
    """
    for key in _seldom_set(session).keys() - conf.keys():
        session.conf.unset(key)


def isolated(spark: SparkSession, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Make a session with its own settings and temporary views in the same Spark context.

    Args:
        spark: the session that runs.
        conf: settings of the new session; those that change meaning come from `spark` otherwise.
    """
    own = spark.newSession()
    settings = capture_conf(spark) if conf is None else conf
    forget_meaning(own, settings)
    for key, value in {**settings, **PINNED}.items():
        own.conf.set(key, value)
    return own
