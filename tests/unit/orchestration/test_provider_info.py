"""The metadata that Airflow reads: valid, complete, and true."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from importlib import metadata, resources

import jsonschema
import pytest
from airflow.sdk import BaseHook, BaseOperator, BaseOperatorLink, BaseSensorOperator
from airflow.triggers.base import BaseTrigger

import slacktide.orchestration
from slacktide.orchestration.hook import SlacktideHook
from slacktide.orchestration.provider_info import get_provider_info

KINDS = {
    "operators": BaseOperator,
    "sensors": BaseSensorOperator,
    "hooks": BaseHook,
    "triggers": BaseTrigger,
}


def own_classes(module_name, base):
    module = importlib.import_module(module_name)
    return [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if kind.__module__ == module_name and issubclass(kind, base)
    ]


def modules_of(part):
    return [module for entry in get_provider_info()[part] for module in entry["python-modules"]]


def load(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_it_is_valid_by_the_schema_of_airflow():
    text = (resources.files("airflow") / "provider_info.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.validators.validator_for(schema)(schema).validate(get_provider_info())


def test_the_entry_points_of_the_distribution_lead_here():
    distribution = metadata.distribution("airflow-provider-slacktide")
    assert get_provider_info()["package-name"] == distribution.metadata["Name"]
    points = {point.group: point.value for point in distribution.entry_points}
    assert load(points["apache_airflow_provider"].replace(":", ".")) is get_provider_info
    declared = get_provider_info()["plugins"][0]["plugin-class"]
    assert points["airflow.plugins"].replace(":", ".") == declared


@pytest.mark.parametrize("part", KINDS)
def test_every_module_that_is_declared_has_a_class_of_its_kind(part):
    for module in modules_of(part):
        assert own_classes(module, KINDS[part]), module


@pytest.mark.parametrize("part", KINDS)
def test_every_class_that_exists_is_declared(part):
    package = slacktide.orchestration
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        found = own_classes(info.name, KINDS[part])
        if part == "operators":
            found = [kind for kind in found if not issubclass(kind, BaseSensorOperator)]
        assert not found or info.name in modules_of(part), info.name


def test_names_follow_airflow():
    for part, suffix in {
        "operators": "Operator",
        "sensors": "Sensor",
        "hooks": "Hook",
        "triggers": "Trigger",
    }.items():
        for module in modules_of(part):
            assert all(kind.__name__.endswith(suffix) for kind in own_classes(module, KINDS[part]))


def test_the_form_of_the_connection_is_what_the_hook_says():
    (declared,) = get_provider_info()["connection-types"]
    assert load(declared["hook-class-name"]) is SlacktideHook
    assert declared["connection-type"] == SlacktideHook.conn_type
    assert declared["hook-name"] == SlacktideHook.hook_name
    form = {key.replace("-", "_"): value for key, value in declared["ui-field-behaviour"].items()}
    assert form == SlacktideHook.get_ui_field_behaviour()


def test_links_are_declared():
    for path in get_provider_info()["extra-links"]:
        assert issubclass(load(path), BaseOperatorLink)


def test_the_namespace_of_airflow_is_left_alone():
    files = metadata.distribution("airflow-provider-slacktide").files or []
    assert not [str(file) for file in files if str(file).startswith("airflow/")]
