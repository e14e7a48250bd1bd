"""What the Airflow Variable declares against what the workspace has.

What is missing is added: sources and functions at once, views by the run, as their texts need Spark.
What differs is reported; a view is changed only where the declarations say ``"apply": true``, and a
source never, as its history hangs on how it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slacktide.common.names import check_name
from slacktide.engine.catalogue import Catalogue
from slacktide.engine.definitions import check_settings, notice_of
from slacktide.engine.plan import Registration
from slacktide.engine.sources import check_arguments
from slacktide.errors import InvalidSettingError
from slacktide.store.record import FunctionRecord
from slacktide.store.world import World


@dataclass(frozen=True, slots=True)
class Declared:
    """Views for the run to create or replace, and in words what differs and stays."""

    register: tuple[Registration, ...]
    notices: tuple[str, ...]


def declare(catalogue: Catalogue, world: World, declarations: Mapping[str, Any]) -> Declared:
    """Add what is declared and missing.

    Raises:
        InvalidSettingError, InvalidNameError, SourceError, FunctionError: a declaration is wrong.
    """
    notices: list[str] = []
    for name, source in declarations.get("sources", {}).items():
        arguments = {key: value for key, value in source.items() if key != "kind"}
        if name not in world.sources:
            catalogue.add_source(name, source["kind"], arguments)
        else:
            notices += _source_notices(world, name, source["kind"], arguments)
    for name, function in declarations.get("functions", {}).items():
        rest = {k: v for k, v in function.items() if k not in {"target", "returns"}}
        if name not in world.functions:
            catalogue.add_function(name, function["target"], function["returns"], rest)
        elif _differs(world.functions[name], function["target"], function["returns"], rest):
            notices.append(f"function {name} is declared otherwise; drop it to change it")
    applies = declarations.get("apply", False) is True
    register = list(_views(world, declarations.get("views", {}), notices, applies=applies))
    return Declared(tuple(register), tuple(notices))


def _differs(record: FunctionRecord, target: str, returns: str, rest: Mapping[str, Any]) -> bool:
    return (record.target, record.returns, dict(record.declaration)) != (target, returns, rest)


def _source_notices(
    world: World, name: str, kind: str, arguments: Mapping[str, Any]
) -> Iterator[str]:
    record = world.sources[name]
    if kind != record.kind or check_arguments(kind, arguments) != record.arguments:
        yield f"source {name} is declared otherwise; drop it and its views to change it"


def _views(
    world: World, views: Mapping[str, Any], notices: list[str], *, applies: bool
) -> Iterator[Registration]:
    for name, view in views.items():
        check_name("view", name)
        settings = {key: value for key, value in view.items() if key != "sql"}
        if not isinstance(view.get("sql"), str):
            raise InvalidSettingError(
                f"view {name} has no sql", hint='declare it as {"sql": "SELECT …"}'
            )
        checked = check_settings(name, settings)
        if name not in world.views:
            notice = notice_of(name, checked)
            notices.extend([] if notice is None else [notice])
            yield Registration(name, view["sql"], checked)
        elif differs(world, name, view["sql"], checked):
            if applies:
                yield Registration(name, view["sql"], checked, replaces=True)
            else:
                notices.append(f'view {name} is declared otherwise; "apply": true changes it')


def differs(world: World, name: str, sql: str, settings: Mapping[str, Any]) -> bool:
    """Whether a view of the workspace has another text or other settings."""
    record = world.views[name]
    own = {key: value for key, value in record.settings.items() if key != "reads"}
    return record.sql != sql or own != dict(settings)
