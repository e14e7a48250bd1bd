"""Probes: texts over rows of our own, which show what units of work cost on the Spark that runs them.

Each is run once so that Java compiles, and then counted. Together they take less than a minute on two
cores, read as many rows as a small table has, and leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from slacktide.spark.failures.translation import translated
from slacktide.spark.measures.cost import Cost
from slacktide.spark.measures.metrics import Meter, described, process_cpu_seconds
from slacktide.spark.sessions.light import light_session
from slacktide.spark.sessions.working import working_session
from slacktide.spark.tables.landed import literal_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.store.store import Store

ROWS: Final = 1_000_000
TIMES: Final = 2
"""How often a probe is counted."""
_FEW: Final = 20_000
_FILES: Final = 48
_SMALL: Final = 12
_TABLE: Final = """
SELECT id AS k, id % 1009 AS g, CAST(id * 7919 % 100003 AS DOUBLE) AS v,
       concat('s', CAST(id * 104729 % 1000003 AS STRING)) AS s
FROM range({rows})"""
_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "a scan": "SELECT count(s), sum(v), max(k) FROM {rows}",
        "a grouping by few keys": "SELECT g, sum(v), min(s) FROM {rows} WHERE k % 3 = 0 GROUP BY g",
        "a grouping by many keys": "SELECT k, max(v), max(s) FROM {rows} GROUP BY k",
        "a join": "SELECT a.k, b.s FROM {rows} a JOIN {rows} b ON a.k = b.k + 1 WHERE a.g < 500",
        "many files": "SELECT g, count(*) FROM {files} GROUP BY g",
    }
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe, and what it took.

    Attributes:
        name: what it does.
        cost: by Spark's metrics.
        texts: how many texts Spark has planned for it.
        java_seconds: CPU of the whole process.
    """

    name: str
    cost: Cost
    texts: int
    java_seconds: float


def started_for(spark: SparkSession) -> float | None:
    """Seconds of CPU that starting a session took; None where it has been in use since."""
    return process_cpu_seconds(spark) if Meter(spark).mark() < 0 else None


def probes(
    spark: SparkSession, store: Store, folder: str, tell: Callable[[str], None]
) -> Iterator[Probe]:
    """Run all probes, and give those that count.

    Args:
        spark: the user's session, otherwise idle.
        store: of the workspace, as files there may cost more than elsewhere.
        folder: a directory in it that no one else uses; it is removed.
        tell: takes the name of what is done next.
    """
    session = working_session(spark, {}, store.spark_settings)
    try:
        with translated("calibration"):
            yield from _Probing(session, store, folder).run(tell)
    finally:
        store.delete(file.path for file in store.list_files(folder, hidden=True))


class _Probing:
    def __init__(self, session: SparkSession, store: Store, folder: str) -> None:
        self._session = session
        self._store = store
        self._folder = folder
        self._meter = Meter(session)

    def run(self, tell: Callable[[str], None]) -> Iterator[Probe]:
        tell("rows to measure with")
        self._write(_TABLE.format(rows=ROWS), "rows")
        rows = self._table("rows")
        few = f"SELECT /*+ REPARTITION({_FILES}) */ * FROM {rows} WHERE k < {_FEW}"
        self._write(few, "files")
        files = self._table("files")
        work: dict[str, tuple[int, Callable[[], None]]] = {
            name: (1, lambda text=text: self._answer(text.format(rows=rows, files=files)))  # type: ignore[misc]
            for name, text in _TEXTS.items()
        }
        light = f"SELECT g, sum(v), min(s) FROM {rows} WHERE k % 3 = 0 GROUP BY g"
        work["a light query"] = (1, lambda: self._answer(light, light_session(self._session)))
        work["a write"] = (1, lambda: self._write(f"SELECT * FROM {rows} WHERE g % 2 = 0", "out"))
        work["small queries"] = (_SMALL, lambda: self._small(files))
        work["plans alone"] = (_SMALL, lambda: self._planned(rows))
        for name, (texts, act) in work.items():
            tell(name)
            for time in range(TIMES + 1):
                probe = self._measured(name, texts, act)
                if time:
                    yield probe

    def _measured(self, name: str, texts: int, act: Callable[[], None]) -> Probe:
        what = f"{self._folder} {name}"
        before, java = self._meter.mark(), process_cpu_seconds(self._session)
        with described(self._session, what):
            act()
        after, spent = self._meter.mark(), process_cpu_seconds(self._session) - java
        cost = self._meter.cost(before, after, {}, target=what)
        return Probe(name, cost, texts, spent)

    def _answer(self, text: str, session: SparkSession | None = None) -> None:
        (session or self._session).sql(text).write.format("noop").mode("overwrite").save()

    def _small(self, files: str) -> None:
        for number in range(_SMALL):
            text = f"SELECT g + {number}, sum(v) FROM {files} WHERE k < 500 GROUP BY g ORDER BY 1"
            self._session.sql(text).collect()

    def _planned(self, rows: str) -> None:
        for number in range(_SMALL):
            text = (
                f"SELECT a.g, count(b.s) FROM {rows} a JOIN {rows} b ON a.k = b.k AND b.v > {number}"
                " GROUP BY a.g HAVING count(b.s) > 1"
            )
            self._session.sql(text)._jdf.queryExecution().executedPlan()

    def _write(self, text: str, name: str) -> None:
        target = self._store.spark_path(f"{self._folder}/{name}")
        self._session.sql(text).write.mode("overwrite").parquet(target)

    def _table(self, name: str) -> str:
        """Name what was written, for this session alone."""
        path = literal_path(self._store.spark_path(f"{self._folder}/{name}"))
        self._session.read.parquet(path).createOrReplaceTempView(name)
        return name
