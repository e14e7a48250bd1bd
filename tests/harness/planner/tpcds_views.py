"""The 103 views of TPC-DS as Catalyst's optimised plans mean them, and what is known of their tables.

The relations are written by `tpcds_relations`, the sizes by `tpcds_sizes`, both beside this module.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.planner.workload import Workload, patterns
from tests.harness.tpcds_feed import KEYS

FOLDER = Path(__file__).parent / "tpcds"
SIZES = json.loads((FOLDER / "sizes.json").read_text(encoding="utf-8"))
CONSTANT = frozenset(
    {
        "customer_demographics",
        "date_dim",
        "household_demographics",
        "income_band",
        "reason",
        "ship_mode",
        "time_dim",
    }
)
"""The tables that the benchmark's own maintenance never changes: its static dimensions."""
SALES = frozenset({"catalog_sales", "store_sales", "web_sales"})
RETURNS = frozenset({"catalog_returns", "store_returns", "web_returns"})


def _place(name: str) -> tuple[int, str]:
    """The order of the benchmark: q2 before q14a."""
    return int(name.strip("qab")), name


TPCDS = Workload(
    folder=FOLDER,
    queries=tuple(sorted((file.stem for file in FOLDER.glob("*.plan")), key=_place)),
    rows={table: sizes["rows"] for table, sizes in SIZES.items()},
    distinct={
        column: max(1, count)
        for sizes in SIZES.values()
        for column, count in sizes["distinct"].items()
    },
    keys={table: key for table, key in KEYS.items() if table not in CONSTANT},
    patterns=patterns(SALES, SALES | RETURNS),
)
