"""The 22 views of TPC-H as Catalyst's optimised plans mean them, and what is known of their tables."""

from __future__ import annotations

from pathlib import Path

from slacktide.algebra.widths import row_width
from slacktide.workloads.tpch import TABLES
from tests.harness.planner.workload import Pattern, Workload, patterns

KEYS = {
    "customer": ("c_custkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
    "orders": ("o_orderkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "supplier": ("s_suppkey",),
}
ROWS = {
    "customer": 150_000,
    "lineitem": 6_000_000,
    "nation": 25,
    "orders": 1_500_000,
    "part": 200_000,
    "partsupp": 800_000,
    "region": 5,
    "supplier": 10_000,
}
DISTINCT = {
    "c_custkey": 150_000,
    "c_mktsegment": 5,
    "c_nationkey": 25,
    "l_orderkey": 1_500_000,
    "l_partkey": 200_000,
    "l_returnflag": 3,
    "l_linestatus": 2,
    "l_shipmode": 7,
    "l_suppkey": 10_000,
    "n_name": 25,
    "n_nationkey": 25,
    "n_regionkey": 5,
    "o_custkey": 100_000,
    "o_orderdate": 2_406,
    "o_orderkey": 1_500_000,
    "o_orderpriority": 5,
    "p_brand": 25,
    "p_partkey": 200_000,
    "p_size": 50,
    "p_type": 150,
    "ps_partkey": 200_000,
    "ps_suppkey": 10_000,
    "r_name": 5,
    "r_regionkey": 5,
    "s_nationkey": 25,
    "s_suppkey": 10_000,
}
ROW_BYTES = {
    "customer": 93.4,
    "lineitem": 31.2,
    "nation": 146.2,
    "orders": 39.1,
    "part": 36.6,
    "partsupp": 54.0,
    "region": 430.4,
    "supplier": 91.4,
}
"""Bytes of a row in the files of `slacktide.workloads.tpch`, at scale 0.1."""
WIDTHS = {
    name: row_width([column.type for column in table.columns]) for name, table in TABLES.items()
}
DIMENSIONS = frozenset({"customer", "part", "supplier"})
TPCH = Workload(
    folder=Path(__file__).parent / "tpch",
    queries=tuple(f"q{number}" for number in range(1, 23)),
    rows=ROWS,
    distinct=DISTINCT,
    keys=KEYS,
    row_bytes=ROW_BYTES,
    widths=WIDTHS,
    patterns={
        **patterns(frozenset({"orders"}), frozenset({"lineitem", "orders"})),
        "dimensions": Pattern(0.5, DIMENSIONS, DIMENSIONS),
    },
)
"""Nations and regions are constant. The last pattern is none of tempura.md: facts stay, and of what they refer to half as
much comes, and a quarter of that goes."""
