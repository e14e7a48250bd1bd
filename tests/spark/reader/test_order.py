"""ORDER BY at the top is taken off the relation and kept for readers."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Reference
from slacktide.algebra.tree import relations
from slacktide.algebra.view import ReadView
from tests.spark.reader.conftest import Check

pytestmark = pytest.mark.spark


def places(view: ReadView) -> list[tuple[int, bool, bool]]:
    """For each key the place of its column, its direction and where NULLs go."""
    assert view.relation is not None
    ids = [column.id for column in view.relation.columns]
    found = []
    for key in view.order:
        assert isinstance(key.value, Reference)
        found.append((ids.index(key.value.column), key.ascending, key.nulls_first))
    return found


@pytest.mark.parametrize(
    ("sql", "order", "width"),
    [
        ("SELECT k, s FROM p ORDER BY s DESC, k", [(1, False, False), (0, True, True)], 2),
        ("SELECT k FROM p ORDER BY s NULLS LAST", [(1, True, False)], 2),
        ("SELECT k, v FROM p ORDER BY v + 1", [(2, True, True)], 3),
        ("SELECT s, sum(v) AS t FROM p GROUP BY s ORDER BY t DESC", [(1, False, False)], 2),
        ("SELECT s FROM p GROUP BY s ORDER BY sum(v)", [(1, True, True)], 2),
        ("SELECT k FROM p ORDER BY k, s LIMIT 3", [(0, True, True), (1, True, True)], 2),
        ("SELECT k FROM p", [], 1),
        ("SELECT k FROM p SORT BY k", [], 1),
    ],
)
def test_is_kept(check: Check, sql: str, order: list[tuple[int, bool, bool]], width: int) -> None:
    view = check(sql)
    assert places(view) == order
    assert view.relation is not None
    assert len(view.relation.columns) == width


def test_is_taken_off_where_no_limit_needs_it(check: Check) -> None:
    view = check("SELECT k FROM p ORDER BY k")
    assert view.relation is not None
    assert not [node for node in relations(view.relation) if isinstance(node, r.Sort)]


def test_stays_under_a_limit(check: Check) -> None:
    view = check("SELECT k FROM p ORDER BY k LIMIT 1")
    assert view.relation is not None
    assert [node for node in relations(view.relation) if isinstance(node, r.Sort)]
