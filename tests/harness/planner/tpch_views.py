"""The 22 views of TPC-H as Catalyst's optimised plans mean them, and what is known of their tables.

The plans beside this module are texts of relations that the plan reader gave; see
`slacktide.algebra.textual`.
"""

from __future__ import annotations

from pathlib import Path

from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Problem
from slacktide.optimizer.maintainability import Maintainability
from slacktide.optimizer.statistics import (
    ChangeFacts,
    ColumnFacts,
    Figure,
    SourceFacts,
    Statistics,
)

FOLDER = Path(__file__).parent / "tpch"
QUERIES = tuple(f"q{number}" for number in range(1, 23))
CONSTANT = frozenset({"nation", "region"})
FACTS = frozenset({"lineitem", "orders"})
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
PATTERNS = {
    "delta-big": (1.0, frozenset[str]()),
    "delta-small": (0.25, frozenset[str]()),
    "delta-R": (0.5, frozenset({"orders"})),
    "delta-RS": (0.5, FACTS),
}
"""Share of what is there that arrives, and the tables from which rows go, too (tempura.md §7.2)."""


def relation(query: str) -> Rel:
    """The relation of a view, in normal form."""
    return Maintainability(from_text((FOLDER / f"{query}.plan").read_text())).root


def problem(query: str, instants: int, pattern: str = "delta-big") -> Problem:
    """The planning problem of a view; tables are append-only where the pattern takes nothing away."""
    root = relation(query)
    changing = tuple(name for name in sources(root) if name not in CONSTANT)
    retracting = PATTERNS[pattern][1]
    return Problem(
        root,
        changing,
        instants,
        append_only=frozenset(changing) - retracting,
        keys={name: key for name, key in KEYS.items() if name in changing},
    )


def statistics(instants: int, pattern: str = "delta-big") -> Statistics:
    """What is known at scale 1 under a pattern."""
    return Statistics({name: facts(name, instants, pattern) for name in ROWS})


def facts(name: str, instants: int, pattern: str) -> SourceFacts:
    """What is known of a table: at the first instant it has the rows of scale 1."""
    share, retracting = PATTERNS[pattern]
    inserted = 0.0 if name in CONSTANT else ROWS[name] * share
    deleted = inserted / 4 if name in retracting else 0.0
    change = ChangeFacts(
        Figure(inserted + deleted, "declared"), deleted=Figure(deleted, "declared")
    )
    later = instants - 1
    return SourceFacts(
        rows=Figure(ROWS[name] + later * (inserted - deleted), "declared"),
        changes=(change,) * later,
        columns={
            column: ColumnFacts(Figure(float(distinct), "declared"))
            for column, distinct in DISTINCT.items()
        },
    )
