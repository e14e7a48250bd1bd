"""TPC-H: base data at any scale, a seeded stream of changes, and the 22 queries.

The figures that come of it are not TPC results: the stream of changes is not the benchmark's.
"""

from slacktide.workloads.tpch.base import generate_base
from slacktide.workloads.tpch.parameters import workable_parameters
from slacktide.workloads.tpch.queries import QUERIES, query
from slacktide.workloads.tpch.schema import TABLES, Column, Table
from slacktide.workloads.tpch.stream import NATURES, Batch, ChangeStream

__all__ = [
    "NATURES",
    "QUERIES",
    "TABLES",
    "Batch",
    "ChangeStream",
    "Column",
    "Table",
    "generate_base",
    "query",
    "workable_parameters",
]
