"""What a Variable declares, applied to a workspace: views may read each other, sources gain columns."""

from __future__ import annotations

from typing import Any

import pytest

from slacktide.errors import QueryError
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark
NARROW, WIDE = "k STRING, v INT", "k STRING, v INT, w INT"
ROWS = [(f"k{i % 7}", i) for i in range(140)]


def same(rows: list[Any]) -> list[Any]:
    return rows


def test_views_of_one_variable_may_read_each_other(lab: Lab) -> None:
    lab.source("t", "x INT", (1,), (2,))
    views = {
        "third": {"sql": "SELECT sum(x) AS x FROM second", "policy": "full"},
        "second": {"sql": "SELECT x FROM first WHERE x > 1"},
        "first": {"sql": "SELECT x FROM t"},
        "broken": {"sql": "SELECT nothing FROM t"},
        "above": {"sql": "SELECT * FROM broken"},
    }
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations={"views": views}))
    assert {name for name, view in report.views.items() if view.error} == {"broken", "above"}
    assert lab.bag("third") == {(2,): 1}
    lab.verified()


def test_a_plan_that_was_committed_changes_no_definition(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("v", "SELECT x FROM t", policy="auto")
    lab.refresh()
    declared = {"views": {"v": {"sql": "SELECT x + 1 AS x FROM t"}}, "apply": True}
    plan = lab.ws.plan(declarations=declared)
    lab.ws.refresh(lab.spark, plan)
    assert lab.bag("v") == {(2,): 1}
    lab.ws.replace_view(lab.spark, "v", "SELECT x + 2 AS x FROM t")
    lab.refresh()
    lab.ws.refresh(lab.spark, plan.plan_id)
    assert lab.bag("v") == {(3,): 1}


def test_a_plan_that_waited_does_not_set_a_view_back(lab: Lab) -> None:
    """As where the task of a run that failed is cleared days after."""
    lab.source("t", "x INT", (1,))
    lab.view("v", "SELECT x FROM t")
    lab.refresh()
    texts = "SELECT x + 1 AS x FROM t", "SELECT x + 2 AS x FROM t"
    first, second = ({"views": {"v": {"sql": text}}, "apply": True} for text in texts)
    waited = lab.ws.plan(declarations=first)
    lab.ws.refresh(lab.spark, lab.ws.plan(declarations=second))
    lab.ws.refresh(lab.spark, waited.plan_id)
    assert lab.bag("v") == {(3,): 1}
    assert lab.ws.plan(declarations=second).is_empty


def test_a_view_that_is_no_longer_declared_as_paused_is_resumed(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    text = {"sql": "SELECT x FROM t"}
    for paused, rows in (({}, {(1,): 1}), ({"paused": True}, {(1,): 1}), ({}, {(1,): 1, (2,): 1})):
        declared = {"views": {"v": {**text, **paused}}, "apply": True}
        for _ in range(2):
            lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
        assert lab.ws.plan(declarations=declared).is_empty
        assert lab.bag("v") == rows
        assert lab.ws.status().to_dict()["views"]["v"]["paused"] is bool(paused)
        if paused:
            lab.land("t", insert=[(2,)])


def test_a_declared_change_that_cannot_be_read_holds_back_no_other_view(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("bad", "SELECT x FROM t", same)
    lab.view("good", "SELECT x FROM t", same)
    lab.refresh()
    lab.land("t", insert=[(2,)])
    declared: dict[str, Any] = {
        "apply": True,
        "views": {
            "bad": {"sql": "SELECT nothing FROM t"},
            "good": {"sql": "SELECT x + 1 AS x FROM t"},
        },
    }
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
    assert {name for name, view in report.views.items() if view.error} == {"bad"}
    assert lab.bag("good") == {(2,): 1, (3,): 1}
    assert lab.bag("bad") == {(1,): 1}, "it keeps its answer until its declaration is mended"
    declared["views"]["bad"]["sql"] = "SELECT x + 2 AS x FROM t"
    lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
    assert lab.bag("bad") == {(3,): 1, (4,): 1}


def test_declared_changes_may_need_each_other_in_any_order(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("above", "SELECT x FROM t", same)
    lab.view("below", "SELECT x FROM t", same)
    lab.refresh()
    declared = {
        "apply": True,
        "views": {
            "above": {"sql": "SELECT x, y, z FROM below JOIN fresh USING (x)"},
            "below": {"sql": "SELECT x, x + 1 AS y FROM t"},
            "fresh": {"sql": "SELECT x, x + 2 AS z FROM t"},
        },
    }
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
    assert not [name for name, view in report.views.items() if view.error]
    lab.ws.refresh(lab.spark, lab.ws.plan(declarations=declared))
    assert lab.bag("above") == {(1, 2, 3): 1}
    assert lab.ws.plan(declarations=declared).is_empty


def test_the_declarations_widen_a_source_where_they_apply(lab: Lab) -> None:
    lab.source("t", NARROW, *ROWS)
    lab.view("stars", "SELECT * FROM t")
    lab.refresh()
    declared = {
        "sources": {"t": {"kind": "change-feed", "path": str(lab.folder("t")), "schema": WIDE}},
        "views": {"wide": {"sql": "SELECT max(w) AS m FROM t"}},
    }
    lab.shape("t", WIDE)
    lab.land("t", insert=[("k1", 1, 10)])
    plan = lab.ws.plan(declarations=declared)
    assert plan.notices[0] == 'source t is declared with more columns; "apply": true adds them'
    plan = lab.ws.plan(declarations={**declared, "apply": True})
    report = lab.ws.refresh(lab.spark, plan)
    assert {view.method for view in report.views.values()} == {"full"}
    lab.verified()
    assert lab.read("wide") == [(10,)]
    assert lab.ws.read(lab.spark, "stars").columns == ["k", "v", "w"]
    again = lab.ws.plan(declarations={**declared, "apply": True})
    assert (again.is_empty, again.notices) == (True, ())


def test_a_declared_view_whose_name_is_taken_holds_back_no_other(lab: Lab) -> None:
    lab.source("t", "x INT", (1,))
    lab.view("old", "SELECT x FROM t", same)
    lab.refresh()
    text = {"sql": "SELECT x + 1 AS x FROM t"}
    views = {"T": text, "Old": text, "fresh": text, "FRESH": text}
    lab.land("t", insert=[(2,)])
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations={"views": views}))
    errors = {name: view.error for name, view in report.views.items() if view.error}
    assert {name: error["code"] for name, error in errors.items()} == dict.fromkeys(
        ("T", "Old", "FRESH"), "OBJECT_EXISTS"
    )
    assert errors["T"]["message"] == "the name T is taken by source t"
    assert lab.bag("fresh") == {(2,): 1, (3,): 1}
    assert lab.bag("old") == {(1,): 1, (2,): 1}


def test_a_declared_view_that_is_paused_is_added_and_not_computed(lab: Lab) -> None:
    lab.source("t", "x INT", (0,))
    views = {
        "later": {"sql": "SELECT 1 DIV min(x) AS x FROM t JOIN t AS u USING (x)", "paused": True},
        "above": {"sql": "SELECT x + 1 AS x FROM later", "paused": True},
    }
    report = lab.ws.refresh(lab.spark, lab.ws.plan(declarations={"views": views}))
    assert report.notices == tuple(
        f"view {name} is new and paused; slacktide view resume {name}" for name in views
    )
    for told in lab.ws.status().views.values():
        assert (told["paused"], told["versions"]) == (True, {})
    assert not lab.ws._store.world().chains, "no mirror, either"
    assert lab.ws.plan(declarations={"views": views}).is_empty
    lab.land("t", insert=[(1,)], delete=[(0,)])
    for name in views:
        lab.ws.pause_view(name, paused=False)
    lab.refresh()
    assert (lab.bag("later"), lab.bag("above")) == ({(1,): 1}, {(2,): 1})


def test_where_all_views_fail_each_failure_is_told(lab: Lab) -> None:
    lab.source("t", "x INT", (0,))
    bad = {"a": {"sql": "SELECT a FROM t"}, "b": {"sql": "SELECT b FROM t"}}
    with pytest.raises(QueryError, match=r"view a.*also: view b"):
        lab.ws.refresh(lab.spark, lab.ws.plan(declarations={"views": bad}))
