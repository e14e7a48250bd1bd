"""The eight relations of TPC-H: columns, keys and foreign keys. No column is ever null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its Spark type."""

    name: str
    type: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A relation: what ``add_source`` must be told of it.

    Attributes:
        key: the columns that identify a row.
        references: from a column here to ``table.column`` there.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    references: Mapping[str, str]


def _table(
    name: str, columns: str, key: tuple[str, ...], references: Mapping[str, str] | None = None
) -> Table:
    pairs = (line.split() for line in columns.split(";"))
    return Table(
        name,
        tuple(Column(column, kind) for column, kind in pairs),
        key,
        MappingProxyType(dict(references or {})),
    )


_ALL = (
    _table("region", "r_regionkey BIGINT; r_name STRING; r_comment STRING", ("r_regionkey",)),
    _table(
        "nation",
        "n_nationkey BIGINT; n_name STRING; n_regionkey BIGINT; n_comment STRING",
        ("n_nationkey",),
        {"n_regionkey": "region.r_regionkey"},
    ),
    _table(
        "supplier",
        "s_suppkey BIGINT; s_name STRING; s_address STRING; s_nationkey BIGINT; s_phone STRING; "
        "s_acctbal DECIMAL(15,2); s_comment STRING",
        ("s_suppkey",),
        {"s_nationkey": "nation.n_nationkey"},
    ),
    _table(
        "customer",
        "c_custkey BIGINT; c_name STRING; c_address STRING; c_nationkey BIGINT; c_phone STRING; "
        "c_acctbal DECIMAL(15,2); c_mktsegment STRING; c_comment STRING",
        ("c_custkey",),
        {"c_nationkey": "nation.n_nationkey"},
    ),
    _table(
        "part",
        "p_partkey BIGINT; p_name STRING; p_mfgr STRING; p_brand STRING; p_type STRING; "
        "p_size INT; p_container STRING; p_retailprice DECIMAL(15,2); p_comment STRING",
        ("p_partkey",),
    ),
    _table(
        "partsupp",
        "ps_partkey BIGINT; ps_suppkey BIGINT; ps_availqty INT; ps_supplycost DECIMAL(15,2); "
        "ps_comment STRING",
        ("ps_partkey", "ps_suppkey"),
        {"ps_partkey": "part.p_partkey", "ps_suppkey": "supplier.s_suppkey"},
    ),
    _table(
        "orders",
        "o_orderkey BIGINT; o_custkey BIGINT; o_orderstatus STRING; o_totalprice DECIMAL(15,2); "
        "o_orderdate DATE; o_orderpriority STRING; o_clerk STRING; o_shippriority INT; "
        "o_comment STRING",
        ("o_orderkey",),
        {"o_custkey": "customer.c_custkey"},
    ),
    _table(
        "lineitem",
        "l_orderkey BIGINT; l_partkey BIGINT; l_suppkey BIGINT; l_linenumber INT; "
        "l_quantity DECIMAL(15,2); l_extendedprice DECIMAL(15,2); l_discount DECIMAL(15,2); "
        "l_tax DECIMAL(15,2); l_returnflag STRING; l_linestatus STRING; l_shipdate DATE; "
        "l_commitdate DATE; l_receiptdate DATE; l_shipinstruct STRING; l_shipmode STRING; "
        "l_comment STRING",
        ("l_orderkey", "l_linenumber"),
        {
            "l_orderkey": "orders.o_orderkey",
            "l_partkey": "part.p_partkey",
            "l_suppkey": "supplier.s_suppkey",
        },
    ),
)

TABLES: Mapping[str, Table] = MappingProxyType({table.name: table for table in _ALL})
"""The relations by name; each stands after those that it refers to."""
