"""What the files of TPC-H tell of their columns when they arrive.

python -m tests.campaigns.tpch_columns --scale 1 --out tests/campaigns/tpch_columns.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from pyarrow import parquet

from slacktide.cli.showcase import Showcase
from slacktide.engine.sources.column_statistics import noted, statistics_of
from slacktide.store.record import ColumnStatistics
from slacktide.workloads import tpch


def main() -> int:
    """Generate the tables, and write what is told of each column."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        case = Showcase(Path(folder), arguments.scale, tuple(tpch.QUERIES))
        case.generate()
        told = {
            name: noted({}, [_told(path) for path in sorted(Path(one["path"]).rglob("*.parquet"))])
            for name, one in case.sources().items()
        }
    arguments.out.write_text(_as_text({name: told[name] for name in sorted(told)}))
    return 0


def _told(path: Path) -> dict[str, ColumnStatistics]:
    with path.open("rb") as source:
        file = parquet.ParquetFile(source)
        return statistics_of(
            file, source, [name for name in file.schema_arrow.names if name[0] != "_"]
        )


def _as_text(told: dict[str, dict[str, ColumnStatistics]]) -> str:
    """JSON with a line for each column."""
    tables = []
    for name, columns in told.items():
        lines = ",\n".join(
            f"  {json.dumps(column)}: {json.dumps(asdict(known))}"
            for column, known in columns.items()
        )
        tables.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(tables) + "\n}\n"


if __name__ == "__main__":
    raise SystemExit(main())
