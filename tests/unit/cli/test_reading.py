"""Values as they are printed."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from pyspark.sql.types import Row, VariantVal

from slacktide.cli.reading import _plain, _text

VARIANT = VariantVal.parseJson('{"a": [1, null]}')


@pytest.mark.parametrize(
    ("value", "plain", "text"),
    [
        (None, None, "null"),
        (VARIANT, {"a": [1, None]}, '{"a": [1, null]}'),
        ([VARIANT], [{"a": [1, None]}], '[{"a": [1, null]}]'),
        (Row(x=1, y=Decimal("1.50")), {"x": 1, "y": "1.50"}, '{"x": 1, "y": "1.50"}'),
        (date(2026, 1, 2), "2026-01-02", "2026-01-02"),
        (timedelta(hours=1), "1:00:00", "1:00:00"),
        (3j, "3j", "3j"),
    ],
)
def test_any_value_is_told(value: object, plain: object, text: str) -> None:
    assert (_plain(value), _text(value)) == (plain, text)
