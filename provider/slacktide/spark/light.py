"""Light queries: those that read so few rows that planning them is dearer than running them.

Each stage of an adaptive plan is planned anew and run as a job of its own, each class that is generated
is compiled twice, and each task carries its plan along. For few rows a static plan, interpreted and
shuffled into one partition, costs half as much Java, a third where Java is young; small tables are gathered
there where they are read (`compile/gathering.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.relation import (
    Aggregate,
    Expand,
    Filter,
    Generate,
    Join,
    Project,
    Range,
    Rel,
)
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.types import is_collated
from slacktide.common.node import Node
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_READ = 700_000  # rows
MOST_BYTES = 64 * 2**20
FEW_READ = (
    200_000  # rows that one task reads, the bytes of their files, and how many of these it opens
)
FEW_BYTES = 16 * 2**20
FEW_FILES = 64
# What has been gathered stays so: this would read the rows of a semi-join apart from each other.
_APART: Final = "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin"
_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.adaptive.enabled": "false",
        # Hints say what is sent; left to itself Spark would send what lies in one partition already.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        # Casts of variants inside of scans have generated code alone.
        "spark.sql.variant.pushVariantIntoScan": "false",
    }
)


def fits_one_task(rows: int | None, size: int, files: int) -> bool:
    """Whether so many rows, in so many files of so many bytes together, are read by one task."""
    is_small = rows is not None and rows <= FEW_READ
    return is_small and size <= FEW_BYTES and files <= FEW_FILES


def is_light(operator: Operator, rows: int | None, size: int) -> bool:
    """Whether little is to be done for an operator.

    Args:
        operator: of a program.
        rows: how many it reads; None where that is not known.
        size: of the files in which they are, in bytes.
    """
    return (
        rows is not None
        and rows <= MOST_READ
        and size <= MOST_BYTES
        and not any(
            _multiplies(node) or _may_be_overwritten(node) for node in of_type(operator, Node)
        )
    )


def _may_be_overwritten(node: Node) -> bool:
    """Whether a value has a collation: interpreted aggregates keep such a string where Spark writes the next one.

    MIN and MAX then tell bytes of other rows; consolidating keeps a spelling by `any_value`, and would as well.
    """
    return is_collated(getattr(node, "type", ""))


def _multiplies(node: Node) -> bool:
    """Whether many rows may come of few, or the text of a user says what is done with them."""
    match node:
        case o.JoinBags() | o.SemiBags() | Join():
            if _has_few(node.left) or _has_few(node.right):
                return False
            return not _meets_by_keys(node.condition, node.left, node.right)
        case o.Touched():
            return not node.keys
        case _:
            many = o.Batch | o.Flips | o.ExpandBag | o.GenerateBag | Expand | Generate | Range
            return isinstance(node, many)


def _has_few(node: Operator | Rel) -> bool:
    """Whether a relation has a row or two: the value of a scalar subquery, or the change of one."""
    match node:
        case o.Finish():
            return node.is_global
        case Aggregate():
            return not node.keys
        case o.Map() | o.Select() | o.Negate() | o.Consolidate() | Project() | Filter():
            return _has_few(node.child)
        case o.Add():
            return all(map(_has_few, node.children))
        case _:
            return False


def _meets_by_keys(condition: Scalar | None, left: Operator | Rel, right: Operator | Rel) -> bool:
    return bool(take_apart(condition, left.columns, right.columns).equalities)


def light_session(session: SparkSession) -> SparkSession:
    """Make a session for light queries, in which they mean the same."""
    light = type(session)(session.sparkContext, session._jsparkSession.cloneSession())
    for key, value in _SETTINGS.items():
        light.conf.set(key, value)
    left_out = light.conf.get("spark.sql.optimizer.excludedRules", None)
    light.conf.set("spark.sql.optimizer.excludedRules", ",".join(filter(None, (left_out, _APART))))
    return light
