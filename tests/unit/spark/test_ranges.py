"""Keys of a change as few ranges, cut where the gaps are widest."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from slacktide.common.ranges import MOST_RANGES
from slacktide.program.bounding import has_ranges
from slacktide.spark.tables.ranges import KeyRanges, cut


def ranges(values: list, data_type: pa.DataType) -> KeyRanges:
    return cut(pa.chunked_array([pa.array(values, data_type)]))


def test_both_ends_of_a_feed_are_ranges_of_their_own() -> None:
    found = ranges([*range(1, 50), *range(1_000_000, 1_000_050)], pa.int64())
    assert len(found.bounds) <= MOST_RANGES
    assert all(high < 50 or low >= 1_000_000 for low, high in found.bounds)


@pytest.mark.parametrize(
    ("values", "data_type"),
    [
        ([5, 5, -3, None, 900], pa.int32()),
        ([Decimal("0.10"), Decimal("-7.25")], pa.decimal128(9, 2)),
        (list(range(0, 1000, 7)), pa.int64()),
    ],
)
def test_every_key_lies_in_a_range(values: list, data_type: pa.DataType) -> None:
    found = ranges(values, data_type)
    keys = [value for value in values if value is not None]
    assert all(any(low <= key <= high for low, high in found.bounds) for key in keys)
    assert found.has_null == (None in values)
    assert len(found.bounds) <= MOST_RANGES


def test_days_beyond_the_calendar_of_python_have_ranges() -> None:
    days = pa.array([0, 2_932_897, None, -719_163], pa.int32()).cast(pa.date32())
    found = cut(pa.chunked_array([days]))
    assert found.bounds == ((-719_163, -719_163), (0, 0), (2_932_897, 2_932_897))
    assert found.has_null
    assert found.predicate("c1", "DATE").startswith("(c1 = date_from_unix_date(-719163) OR ")


def test_the_condition_as_it_is_written() -> None:
    found = KeyRanges(((1, 4), (9, 9)), has_null=True)
    assert found.predicate("c1", "INT") == (
        "(c1 BETWEEN CAST('1' AS INT) AND CAST('4' AS INT) OR c1 = CAST('9' AS INT) OR c1 IS NULL)"
    )
    assert KeyRanges((), has_null=False).predicate("c1", "INT") == "false"


@pytest.mark.parametrize(
    ("data_type", "expected"),
    [
        ("BIGINT", True),
        ("DATE", True),
        ("DECIMAL(9,2)", True),
        ("STRING", False),
        ("DOUBLE", False),
    ],
)
def test_types_that_are_ordered_alike_everywhere(data_type: str, expected: bool) -> None:
    assert has_ranges(data_type) is expected
