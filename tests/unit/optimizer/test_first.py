"""Which limits keep the first rows of their input, and how many."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain, rebuild, scopes
from slacktide.optimizer.rule_parts.first import FEWEST_KEPT, rows_needed, total_order
from slacktide.program import operator as o
from tests.unit.optimizer.views import FILTERED, ORDERS, TOP, column, equal

BY_SECOND = s.SortKey(s.reference(column(2)), False, False)
SORTED = r.Sort(ORDERS, (BY_SECOND,))


def limit(child: r.Rel, count: int | None, offset: int = 0) -> r.Limit:
    return r.Limit(child, count, offset)


def program(rel: r.Rel) -> o.Program:
    return maintain("v", Maintainability(rel), frozenset({"orders", "lines"})).program


@pytest.mark.parametrize(
    ("limits", "needed"),
    [
        ([(3, 0)], 3),
        ([(3, 2)], 5),
        ([(None, 2)], None),
        ([(3, 0), (None, 2)], 5),
        ([(None, 2), (7, 1)], 8),
        ([(9, 2), (4, 0)], 4),
    ],
)
def test_the_rows_that_limits_need(limits: list[tuple[int | None, int]], needed: int) -> None:
    """The outermost limit first."""
    assert rows_needed([limit(ORDERS, *one) for one in limits]) == needed


def test_an_order_goes_on_by_all_columns_that_have_one() -> None:
    scan = r.Scan("t", (column(1), column(2, "MAP<INT, INT>"), column(3, "STRING")))
    keys = (s.SortKey(s.reference(column(3, "STRING")), False, False),)
    order = total_order(keys, scan.columns)
    assert [(key.value.column, key.ascending) for key in order] == [(3, False), (1, True)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("relation", "count"),
    [
        (limit(SORTED, 5), FEWEST_KEPT),
        (limit(SORTED, FEWEST_KEPT, 7), 2 * FEWEST_KEPT + 14),
        (limit(limit(SORTED, None, 3), 5), FEWEST_KEPT),
        (limit(r.Project(SORTED, (s.identity(column(2)),)), 5), FEWEST_KEPT),
        (limit(r.Sort(FILTERED, (BY_SECOND,)), 5), FEWEST_KEPT),
        (limit(ORDERS, 5), FEWEST_KEPT),
    ],
)
def test_first_rows_are_kept_and_taken_anew(relation: r.Limit, count: int) -> None:
    save, refill, _ = program(relation).steps
    assert isinstance(save, o.Save)
    assert isinstance(refill, o.Refill)
    assert save.is_base
    assert save.chain == refill.chain
    assert {first.count for first in of_type(program(relation), o.First)} == {count}
    assert not any(of_type(save, o.ReadSnapshot))
    assert scopes(Maintainability(relation)) == {save.chain: ("orders",)}


@pytest.mark.parametrize(
    "relation",
    [
        TOP,
        limit(SORTED, None, 2),
        limit(r.Filter(SORTED, equal(1, 2)), 5),
        limit(r.Project(ORDERS, ()), 5),
    ],
    ids=["over groups", "of all", "filtered", "without columns"],
)
def test_others_are_as_they_were(relation: r.Limit) -> None:
    assert not any(of_type(program(relation), o.First))


def test_limits_that_need_other_rows_share_none() -> None:
    kept = [
        next(iter(scopes(Maintainability(relation))))
        for relation in (limit(SORTED, 5), limit(SORTED, 6), limit(r.Sort(ORDERS, ()), 5))
    ]
    assert len({*kept}) == 3
    shifted = scopes(Maintainability(limit(SORTED, 3, 2)))
    assert [*shifted] == kept[:1]


def test_they_are_built_from_the_whole_input() -> None:
    save, publish = rebuild("v", Maintainability(limit(SORTED, 5))).steps
    assert isinstance(save, o.Save)
    assert isinstance(save.child, o.First)
    assert any(of_type(save, o.ReadSnapshot))
    assert not any(of_type(publish, o.ReadSnapshot))
