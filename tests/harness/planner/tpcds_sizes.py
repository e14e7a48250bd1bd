"""How many rows the tables of TPC-DS have at scale 1, and how many different values their columns.

    python -m tests.harness.planner.tpcds_sizes

counts them in what DuckDB's dsdgen makes, and writes `sizes.json` to the folder `tpcds` beside this module.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.tpcds import SCHEMAS

FILE = Path(__file__).parent / "tpcds" / "sizes.json"


def main() -> int:
    """Generate, count and write."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CALL dsdgen(sf=1)")
    found = {}
    for table, columns in SCHEMAS.items():
        names = [str(column["name"]) for column in columns]
        counts = ", ".join(f"count(DISTINCT {name})" for name in names)
        row = connection.table(table).aggregate(f"count(*), {counts}").fetchone()
        rows, *distinct = row or ()
        found[table] = {"rows": rows, "distinct": dict(zip(names, distinct, strict=True))}
    lines = (f" {json.dumps(table)}: {json.dumps(sizes)}" for table, sizes in found.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
