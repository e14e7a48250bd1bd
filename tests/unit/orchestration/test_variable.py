"""The Airflow Variable: what it may say, and the one clear error for what it may not."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from slacktide.engine.definitions.goal_setting import (
    LEAST,
    MOST,
    MOST_REFRESHES,
    MOST_ROUNDS,
    check_goal,
)
from slacktide.errors import InvalidSettingError
from slacktide.orchestration.variable import WorkspaceConfig, parse, schema


def shop(**given):
    return {"workspaces": {"shop": {"root": "/data/shop", **given}}}


def view(**given):
    return shop(views={"revenue": {"sql": "SELECT 1", **given}})


def source(**given):
    return shop(sources={"orders": {"kind": "files", "path": "/in", **given}})


EXAMPLE: dict[str, Any] = {
    "defaults": {
        "spark_conn_id": "spark_big",
        "state_budget": "2GB",
        "spark": {"conf": {"spark.a": "1"}},
    },
    "workspaces": {
        "shop": {
            "conn_id": "slacktide_shop",
            "sources": {
                "orders": {
                    "kind": "change-feed",
                    "path": "s3://lake/orders",
                    "key": ["o_orderkey"],
                    "settle": "30s",
                    "expect": {"every": "10min", "rows": 50000},
                }
            },
            "functions": {"score": {"target": "shop.functions:score", "returns": "double"}},
            "views": {
                "revenue": {
                    "sql": "SELECT 1",
                    "due": ["arrival", {"every": "1h"}, {"cron": "0 * * * *", "timezone": "UTC"}],
                    "goal": {"final_work": 0.2},
                    "sink": {"parquet": "s3://lake/published/revenue"},
                }
            },
            "spark": {"conf": {"spark.b": "2"}, "packages": ["g:a:1"]},
        },
        "lab": {"root": "/data/lab", "spark_conn_id": "spark_small"},
    },
}


def test_schema_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


def test_defaults_are_filled_in_and_own_settings_win():
    found = parse(json.dumps(EXAMPLE))
    assert found["shop"] == WorkspaceConfig(
        name="shop",
        conn_id="slacktide_shop",
        spark_conn_id="spark_big",
        settings={"state_budget": "2GB"},
        declarations={
            part: EXAMPLE["workspaces"]["shop"][part] for part in ("sources", "functions", "views")
        },
        spark={"conf": {"spark.a": "1", "spark.b": "2"}, "packages": ["g:a:1"]},
    )
    assert found["lab"].spark_conn_id == "spark_small"
    assert found["lab"].declarations == {}
    assert found["lab"].spark == {"conf": {"spark.a": "1"}}


BAD = {
    "no json": ("{", "Variable slacktide is not JSON"),
    "a list": ([], "Variable slacktide: "),
    "no workspaces": ({}, "Variable slacktide: 'workspaces' is a required property"),
    "empty workspaces": ({"workspaces": {}}, "Variable slacktide.workspaces: "),
    "extra at the top": ({**shop(), "workspace": {}}, "'workspace' was unexpected"),
    "name with a space": ({"workspaces": {"a b": {"root": "/x"}}}, "slacktide.workspaces: 'a b'"),
    "neither root nor connection": (
        {"workspaces": {"a": {}}},
        "slacktide.workspaces.a: exactly one",
    ),
    "both": (shop(conn_id="x"), "slacktide.workspaces.shop: exactly one of 'conn_id' and 'root'"),
    "misspelt part": (shop(sorces={}), "slacktide.workspaces.shop: Additional properties"),
    "unknown default": ({**shop(), "defaults": {"spark": {}, "x": 1}}, "slacktide.defaults: "),
    "source without path": (shop(sources={"o": {"kind": "files"}}), "shop.sources.o: 'path' is"),
    "source of no kind": (source(kind="file"), "shop.sources.orders.kind: 'file' is not one of"),
    "source with a quote": (
        shop(sources={"o'": {"kind": "files", "path": "/x"}}),
        "shop.sources: ",
    ),
    "source with a slash": (
        shop(sources={"a/b": {"kind": "files", "path": "/x"}}),
        "shop.sources: ",
    ),
    "source format": (source(format="xml"), "shop.sources.orders.format: 'xml'"),
    "settle without a unit": (source(settle="30"), "shop.sources.orders.settle: '30'"),
    "settle as a number": (source(settle=30), "shop.sources.orders.settle: 30"),
    "negative rows": (source(expect={"rows": -1}), "shop.sources.orders.expect.rows: -1"),
    "key as text": (source(key="id"), "shop.sources.orders.key: 'id' is not of type 'array'"),
    "view without sql": (shop(views={"v": {}}), "shop.views.v: 'sql' is a required property"),
    "view with empty sql": (shop(views={"v": {"sql": ""}}), "shop.views.v.sql: "),
    "view with a dash": (shop(views={"v-1": {"sql": "x"}}), "shop.views: 'v-1'"),
    "due of no kind": (view(due="hourly"), "shop.views.revenue.due: 'hourly'"),
    "due in fortnights": (view(due={"every": "1 fortnight"}), "shop.views.revenue.due.every: "),
    "due at no rows": (view(due=["arrival", {"rows": 0}]), "shop.views.revenue.due.1.rows: 0"),
    "goal over one": (view(goal={"final_work": 2}), "shop.views.revenue.goal.final_work: 2"),
    "two goals": (view(goal={"final_work": 0.2, "total": True}), "shop.views.revenue.goal"),
    "policy": (view(policy="fast"), "shop.views.revenue.policy: 'fast' is not one of"),
    "unknown setting": (view(speed=9), "shop.views.revenue: Additional properties"),
    "a sink of a kind that is not there": (
        view(sink={"delta": "s3://lake/revenue"}),
        "shop.views.revenue.sink: ",
    ),
    "paused as text": (view(paused="yes"), "shop.views.revenue.paused: 'yes'"),
    "budget": (shop(state_budget="2 gigs"), "shop.state_budget: '2 gigs'"),
    "function without module": (
        shop(functions={"f": {"target": "score", "returns": "double"}}),
        "shop.functions.f.target: 'score'",
    ),
    "setting as a number": (shop(spark={"conf": {"spark.a": 1}}), "shop.spark.conf.spark.a: 1"),
    "setting of others": (shop(spark={"conf": {"hive.a": "1"}}), "shop.spark.conf: 'hive.a'"),
    "packages as text": (shop(spark={"packages": "g:a:1"}), "shop.spark.packages: 'g:a:1'"),
}


GOALS: tuple[dict[str, Any], ...] = (
    {"total": True},
    {"latency": "5min"},
    *({"final_work": share} for share in (0.000001, 0.2, 1)),
    *({"rounds": rounds} for rounds in (0, 1, 24, MOST_ROUNDS, MOST_ROUNDS + 1, 2.5, "24")),
    {"rounds": 24, "total": True},
    *({"weights": [weight, 1]} for weight in (0, LEAST / 2, LEAST, 0.2, MOST, MOST * 2, "1")),
    *({"weights": [1] * refreshes} for refreshes in (1, 2, MOST_REFRESHES, MOST_REFRESHES + 1)),
)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: str(goal)[:40])
def test_goals_are_taken_as_the_workspace_takes_them(goal):
    assert taken(lambda: parse(json.dumps(view(goal=goal)))) == taken(lambda: check_goal("v", goal))


def taken(try_it):
    try:
        try_it()
    except InvalidSettingError:
        return False
    return True


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_one_error_that_names_the_place(name):
    given, message = BAD[name]
    text = given if isinstance(given, str) else json.dumps(given)
    with pytest.raises(InvalidSettingError) as caught:
        parse(text)
    assert message in caught.value.message
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_the_key_of_the_variable_is_in_the_message():
    with pytest.raises(InvalidSettingError, match=r"Variable other\.workspaces"):
        parse('{"workspaces": {}}', key="other")


def test_a_long_wrong_value_does_not_flood_the_message():
    with pytest.raises(InvalidSettingError) as caught:
        parse(json.dumps(shop(sources={"o": ["x" * 10_000]})))
    assert len(caught.value.message) < 500
