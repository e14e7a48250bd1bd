"""Scalar subqueries that may have several rows: maintained, and an error as soon as they do."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.tree import of_type
from slacktide.errors import DataError
from slacktide.optimizer.programs.normal import normal
from slacktide.optimizer.rule_parts.recomputed import recomputed
from tests.harness.maintained import Maintained
from tests.harness.plans import Case
from tests.harness.plans.sources import SourceShape
from tests.unit.optimizer.views import LINES, ORDERS, column

ONE = s.Subquery(r.Project(LINES, (s.identity(column(11)),)), "INT", nullable=True)
ABOVE = r.Filter(ORDERS, s.Call(">", (s.reference(column(1)), ONE), "BOOLEAN", True))
BESIDE = r.Project(ORDERS, (s.identity(column(1)), s.Assignment(column(50), ONE)))


def maintained(relation: r.Rel) -> Maintained:
    shapes = [
        SourceShape(scan.source, tuple((c.name, c.type, True) for c in scan.columns))
        for scan in (ORDERS, LINES)
    ]
    view = Maintained(Case(relation, tuple(shapes)))
    orders = [((number, number, None), 1) for number in range(6)]
    view.arrive({"orders": orders, "lines": [((2, None, None), 1)]})
    return view


@pytest.mark.parametrize("relation", [ABOVE, BESIDE])
def test_its_value_comes_moves_and_goes(relation: r.Rel) -> None:
    view = maintained(relation)
    view.refresh()
    view.arrive({"lines": [((2, None, None), -1), ((4, None, None), 1)]})
    assert view.refresh().method == "incremental"
    view.arrive({"lines": [((4, None, None), -1)], "orders": [((9, 9, None), 1)]})
    assert view.refresh().method == "incremental"
    view.arrive({"lines": [((1, None, None), 1)]})
    assert view.refresh().method == "incremental"


def test_a_second_row_is_the_error_of_the_query() -> None:
    view = maintained(ABOVE)
    view.refresh()
    view.arrive({"lines": [((4, None, None), 1)]})
    plan = view.plan()
    assert plan.method == "incremental"
    with pytest.raises(DataError, match="more than one row"):
        view.run(plan)


def test_the_same_row_twice_is_two_rows() -> None:
    view = maintained(BESIDE)
    view.refresh()
    view.arrive({"lines": [((2, None, None), 1)]})
    with pytest.raises(DataError, match="more than one row"):
        view.run(view.plan())


def test_a_limit_finds_the_order_below_a_projection_that_asks() -> None:
    value = column(50, "BIGINT", nullable=False)
    counted = s.AggregateCall(
        "count", (), distinct=False, filter=None, type="BIGINT", nullable=False
    )
    query = s.Subquery(
        r.Aggregate(LINES, (), (s.Measure(value, counted),)), "BIGINT", nullable=True
    )
    key = s.reference(ORDERS.columns[0])
    ordered = r.Sort(ORDERS, (s.SortKey(key, ascending=False, nulls_first=False),))
    asked = s.Assignment(column(51, "BIGINT"), query)
    outputs = (*map(s.identity, ORDERS.columns), asked)
    limit = normal(r.Limit(r.Project(ordered, outputs), None, 1))
    assert isinstance(limit, r.Limit)
    how = recomputed(limit, lambda name, kind: column(99, kind))
    sorts = list(of_type(how.query, r.Sort))
    assert [sort.keys[0] for sort in sorts] == [ordered.keys[0]]
