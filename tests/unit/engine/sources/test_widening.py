"""A source gains columns: which it may, and what its files have shown of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.engine.sources import is_wider, seen_before, wide_ddl, widened
from slacktide.errors import InvalidSettingError
from tests.unit.engine.sources.conftest import Declare

SEEN = (
    {"name": "more", "type": "INT", "version": 3},
    {"name": "a b", "type": "STRING", "version": 2},
)


def test_columns_come_at_the_end(declare: Declare) -> None:
    orders = declare(schema="id BIGINT, name STRING")
    wide = widened(orders, "id BIGINT, name STRING, more INT")
    assert wide.schema == (
        *orders.schema,
        {"name": "more", "type": "INT", "nullable": True, "added": True},
    )
    assert wide.arguments == {**orders.arguments, "schema": "id BIGINT, name STRING, more INT"}
    again = replace(orders, schema=wide.schema)
    assert widened(again, "id BIGINT, name STRING, more INT, x DATE").schema[:3] == wide.schema
    assert widened(orders, "id BIGINT, name STRING").schema == orders.schema
    assert is_wider(orders, "id BIGINT, name STRING, more INT")
    assert not is_wider(orders, "id BIGINT, name STRING")
    assert not is_wider(orders, "id INT, name STRING, more INT")


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        ("id BIGINT", "does not keep the column name STRING"),
        ("id BIGINT, more INT, name STRING", "does not keep the column name STRING"),
        ("id INT, name STRING, more INT", "does not keep the column id BIGINT"),
        ("id BIGINT NOT NULL, name STRING", "does not keep the column id BIGINT"),
        ("id BIGINT, name STRING, more INT NOT NULL", "NOT NULL of more"),
        ("id BIGINT, name STRING, Name STRING", "names the column Name twice"),
        ("id BIGINT, name STRING, more BIGINT", "more of type INT in the files of version 3"),
        ("id BIGINT, name STRING, MORE INT", "more of type INT in the files of version 3"),
    ],
)
def test_what_is_no_widening(declare: Declare, schema: str, fact: str) -> None:
    orders = replace(declare(schema="id BIGINT, name STRING"), extra=SEEN)
    with pytest.raises(InvalidSettingError, match=fact) as refused:
        widened(orders, schema)
    assert refused.value.hint


def test_csv_has_its_columns_by_position(declare: Declare) -> None:
    orders = declare(schema="id BIGINT", format="csv")
    with pytest.raises(InvalidSettingError, match="by position"):
        widened(orders, "id BIGINT, more INT")


def test_what_files_have_shown(declare: Declare) -> None:
    orders = replace(declare(schema="id BIGINT"), extra=SEEN)
    assert wide_ddl(orders) == "id BIGINT, more INT, `a b` STRING"
    both = widened(orders, wide_ddl(orders)).schema
    assert seen_before(orders, both) == 2
    assert seen_before(orders, both[:2]) == 3
    assert seen_before(orders, widened(orders, "id BIGINT, z INT").schema) is None
    unseen = declare(schema="id BIGINT", format="json")
    assert seen_before(unseen, widened(unseen, "id BIGINT, z INT").schema) == 1
