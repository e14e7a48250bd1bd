"""Operators and sensor as DAG files see them: arguments, templates, colours, links, imports."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

from slacktide.errors import InvalidSettingError
from slacktide.orchestration.plan_operator import SlacktidePlanOperator
from slacktide.orchestration.refresh_operator import SlacktideRefreshOperator
from slacktide.orchestration.sensor import DeltaArrivalSensor

OWN: dict[Any, dict[str, Any]] = {
    DeltaArrivalSensor: {
        "workspaces": ["{{ params.w }}"],
        "slacktide_conn_id": "{{ params.c }}",
        "variable": "{{ params.v }}",
    },
    SlacktidePlanOperator: {
        "workspace": "{{ params.w }}",
        "slacktide_conn_id": "{{ params.c }}",
        "variable": "{{ params.v }}",
        "views": ["{{ params.view }}"],
    },
    SlacktideRefreshOperator: {
        "plan": "{{ params.p }}",
        "workspace": "{{ params.w }}",
        "slacktide_conn_id": "{{ params.c }}",
        "variable": "{{ params.v }}",
        "spark_conn_id": "{{ params.s }}",
        "conf": {"spark.a": "{{ params.a }}"},
        "env_vars": {"A": "{{ params.a }}"},
        "packages": "{{ params.a }}",
    },
}


@pytest.mark.parametrize("kind", OWN)
def test_template_fields_are_arguments_and_kept_as_given(kind):
    assert isinstance(kind.template_fields, tuple)
    names = set()
    for base in kind.__mro__:
        if "__init__" in vars(base):
            names |= set(inspect.signature(base.__init__).parameters)
    assert set(kind.template_fields) <= names
    given = OWN[kind]
    assert set(given) <= set(kind.template_fields)
    operator = kind(task_id="t", **given)
    for name, value in given.items():
        assert getattr(operator, name) is value, name


@pytest.mark.parametrize("kind", OWN)
def test_arguments_are_keywords(kind):
    with pytest.raises(Exception, match=r"keyword|positional"):
        kind("t")


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", OWN)
def test_colours_can_be_read(kind):
    light, dark = luminance(kind.ui_color), luminance(kind.ui_fgcolor)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_kill_before_anything_was_submitted_is_harmless():
    operator = SlacktideRefreshOperator(task_id="t", plan="p")
    operator.on_kill()
    operator.on_kill()


def test_what_is_no_plan_is_refused():
    operator = SlacktideRefreshOperator(task_id="t", plan={"workspace": "shop"})
    with pytest.raises(InvalidSettingError, match="not the id of a plan"):
        operator._named()


def test_the_result_of_the_planner_names_plan_and_workspace():
    result = {"workspace": "shop", "plan_id": "abc", "summary": [], "empty": True}
    assert SlacktideRefreshOperator(task_id="t", plan=result)._named() == ("abc", "shop")
    assert SlacktideRefreshOperator(task_id="t", plan="abc")._named() == ("abc", None)


HEAVY = (
    "pyspark",
    "pandas",
    "numpy",
    "pyarrow",
    "slacktide.engine",
    "slacktide.optimizer",
    "slacktide.spark",
)


OURS = (
    "slacktide.orchestration.provider_info",
    "slacktide.orchestration.plan_operator",
    "slacktide.orchestration.refresh_operator",
    "slacktide.orchestration.sensor",
    "slacktide.orchestration.hook",
)
IMPORTS = """
import importlib, sys
import airflow.sdk
import airflow.plugins_manager
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*(set(sys.modules) - before))
"""


def loaded_by(*modules):
    result = subprocess.run(
        [sys.executable, "-c", IMPORTS, *modules],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(result.stdout.split())


def test_importing_what_dag_files_import_is_cheap():
    loaded = loaded_by(*OURS)
    assert set(OURS[1:]) <= loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


def test_importing_the_plugin_is_cheap():
    loaded = loaded_by("slacktide_ui.plugin")
    light = {"slacktide_ui", "slacktide_ui.plugin"}
    assert {name for name in loaded if name.startswith((*HEAVY, "fastapi", "slacktide"))} == light
