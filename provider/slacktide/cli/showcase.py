"""What the demo shows: TPC-H data that lands, views of different shape, and tides of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.cli.workplace import spark_inside
from slacktide.errors import InvalidSettingError

if TYPE_CHECKING:
    import pyarrow as pa

    from slacktide.workloads.tpch import Batch, ChangeStream

VIEWS = ("q1", "q3", "q4", "q6", "q13", "q18")
_SEED = 7
_SMALL = 0.1


@dataclass(frozen=True, slots=True)
class Tide:
    """One arrival: its nature, its size as a share of the base, and what it is in words."""

    nature: str
    share: float
    words: str


TIDES = (
    Tide("clustered", 0.01, "new orders above the greatest key, and the oldest ones deleted"),
    Tide(
        "gaps",
        0.01,
        "new orders in the holes of the key space, and old ones deleted here and there",
    ),
    Tide("scattered", 0.001, "a few rows of every table updated, inserted and deleted"),
)


def tide(number: int) -> Tide:
    """Give the arrival of a number, from 1 on; their natures take turns."""
    return TIDES[(number - 1) % len(TIDES)]


class Showcase:
    """The landing zone of the demo and what stands over it.

    Args:
        root: an empty directory.
        scale: that of TPC-H; 1 is about a gigabyte.
        views: names of TPC-H queries.

    Raises:
        InvalidSettingError: TPC-H has no such query.
    """

    def __init__(self, root: Path, scale: float, views: Sequence[str] = VIEWS) -> None:
        from slacktide.workloads.tpch import QUERIES

        unknown = [name for name in views if name not in QUERIES]
        if unknown:
            raise InvalidSettingError(
                f"TPC-H has no query {unknown[0]!r}", hint="name some of q1 to q22"
            )
        self.root = root
        self.scale = scale
        self.views = tuple(dict.fromkeys(views))

    @property
    def landing(self) -> Path:
        """Where the files of the sources land, a directory for each."""
        return self.root / "landing"

    @property
    def workspace(self) -> Path:
        """The root of the workspace."""
        return self.root / "workspace"

    def generate(self) -> None:
        """Let the base data land."""
        from slacktide.workloads.tpch import generate_base

        self.landing.mkdir(parents=True)
        generate_base(self.landing, scale=self.scale)

    def land(self, number: int) -> Batch:
        """Let the arrival of a number land."""
        coming = tide(number)
        return self.land_batch(coming.nature, coming.share)

    def land_batch(self, nature: str, share: float, seed: int = _SEED) -> Batch:
        """Let one more arrival of a nature land."""
        return self._stream(nature, share, seed).write_next()

    def current(self, table: str) -> Iterator[pa.RecordBatch]:
        """Give the rows of a table as the arrivals so far leave it."""
        return self._stream("clustered", 1.0, _SEED).current(table)

    def _stream(self, nature: str, share: float, seed: int) -> ChangeStream:
        from slacktide.workloads.tpch import ChangeStream

        return ChangeStream(self.landing, scale=self.scale, seed=seed, nature=nature, share=share)

    def sources(self) -> dict[str, dict[str, Any]]:
        """Give the declaration of each source, as Python, command line and Airflow take it."""
        from slacktide.workloads.tpch import TABLES

        return {
            table.name: {
                "kind": "change-feed",
                "path": str(self.landing / table.name),
                "format": "parquet",
                "key": list(table.key),
                **({"references": dict(table.references)} if table.references else {}),
            }
            for table in TABLES.values()
        }

    def queries(self) -> Mapping[str, str]:
        """Give the text of each view, with parameters that select something at this scale."""
        from slacktide.workloads.tpch import query, workable_parameters

        parameters = workable_parameters(self.scale)
        return {name: query(name, **parameters[name]) for name in self.views}

    def spark_conf(self) -> dict[str, str]:
        """Keep what Spark writes for itself inside the folder of the demo, and suit a short life."""
        # Java that lives for a minute loses more by compiling well than it gains; where it does not, it would
        # reserve too little room for compiled code.
        frugal = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
        brief = {"spark.driver.extraJavaOptions": frugal}
        return {**(brief if self.scale <= _SMALL else {}), **spark_inside(self.root)}
