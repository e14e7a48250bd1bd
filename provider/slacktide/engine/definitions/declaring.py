"""What the Airflow Variable declares against what the workspace has.

What is missing is added: sources and functions at once, views by the run, as their texts need Spark.
What differs is reported; a view is changed only where the declarations say ``"apply": true``, and a
source only as far as it gains columns, as its history hangs on how it was read. Columns that it cannot
have are refused then, before there is a plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal

from slacktide.common.digest import digest_of
from slacktide.common.names import check_name
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.definitions.drafts import USUAL_FUNCTION, check_settings, notice_of
from slacktide.engine.plan import Alteration, Declared, Registration
from slacktide.engine.sources import (
    check_arguments,
    has_other_columns,
    is_wider,
    naming,
    widened,
)
from slacktide.errors import CommitConflictError, InvalidSettingError, ObjectExistsError
from slacktide.store.record import FunctionRecord, Source, ViewRecord
from slacktide.store.world import World

_NEEDED: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "source": (("kind",), '{"kind": "files", "path": "…"}'),
    "function": (("target", "returns"), '{"target": "module:function", "returns": "double"}'),
    "view": (("sql",), '{"sql": "SELECT …"}'),
}


def declare(catalogue: Catalogue, world: World, declarations: Mapping[str, Any]) -> Declared:
    """Add what is declared and missing.

    Raises:
        InvalidSettingError, InvalidNameError, SourceError, FunctionError: a declaration is wrong.
        ObjectExistsError: something else has a declared name.
        CommitConflictError: others were faster, again and again.
    """
    notices: list[str] = []
    alter: list[Alteration] = []
    applies = declarations.get("apply", False) is True
    sources, functions = (_declared(declarations, kind) for kind in ("source", "function"))
    world = _added(catalogue, world, sources, functions)
    for name, source in sources.items():
        record, arguments = world.sources.get(name), _without(source, "kind")
        if record is None:
            continue  # somebody has dropped it this moment; the next plan adds it
        with naming(name):
            gains = applies and _asks_for_columns(record, source["kind"], arguments)
            notices += () if gains else _source_notices(record, source["kind"], arguments)
        if gains:
            alter.append(_alteration(record, arguments["schema"]))
    for name, function in functions.items():
        known, rest = world.functions.get(name), _without(function, "target", "returns")
        if known is not None and _differs(known, function["target"], function["returns"], rest):
            notices.append(f"function {name} is declared otherwise; drop it to change it")
    register = list(_views(world, _declared(declarations, "view"), notices, applies=applies))
    return Declared(tuple(register), tuple(notices), tuple(alter))


def outstanding(world: World, declarations: Mapping[str, Any]) -> list[str]:
    """What a run would change, as it is declared otherwise than the workspace has it and ``"apply": true``.

    Raises:
        InvalidSettingError, InvalidNameError: a declaration is wrong.
    """
    if declarations.get("apply", False) is not True:
        return []
    found = []
    for name, given in _declared(declarations, "source").items():
        record, arguments = world.sources.get(name), _without(given, "kind")
        if record is not None and _asks_for_columns(record, given["kind"], arguments):
            found += [f"source {name}"] if is_wider(record, arguments["schema"]) else []
    for name, given in _declared(declarations, "view").items():
        settings = _without(given, "sql")
        if name in world.views and _is_other(
            world, name, given["sql"], check_settings(name, settings)
        ):
            found.append(f"view {name}")
    return found


def _added(
    catalogue: Catalogue,
    world: World,
    sources: Mapping[str, Mapping[str, Any]],
    functions: Mapping[str, Mapping[str, Any]],
) -> World:
    """Add the sources and functions that are missing; give the world that has them all."""
    new_sources = [name for name in sources if name not in world.sources]
    new_functions = [name for name in functions if name not in world.functions]
    for name in new_sources:
        given = sources[name]
        with _added_meanwhile(lambda: catalogue.world().sources, name):
            catalogue.add_source(name, given["kind"], _without(given, "kind"))
    for name in new_functions:
        given = functions[name]
        with _added_meanwhile(lambda: catalogue.world().functions, name):
            rest = _without(given, "target", "returns")
            catalogue.add_function(name, given["target"], given["returns"], rest)
    return catalogue.world() if new_sources or new_functions else world


@contextmanager
def _added_meanwhile(there: Callable[[], Collection[str]], name: str) -> Iterator[None]:
    """Go on where another planner has added what is declared since."""
    try:
        yield
    except (ObjectExistsError, CommitConflictError):
        if name not in there():
            raise


def _without(given: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in keys}


def _declared(declarations: Mapping[str, Any], kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The sources, functions or views that are declared, each with what it cannot be without."""
    needed, example = _NEEDED[kind]
    found = declarations.get(f"{kind}s", {})
    if not isinstance(found, Mapping):
        raise InvalidSettingError(
            f"{kind}s is {found!r}, which is not a mapping by name",
            hint=f"declare a {kind} as NAME: {example}",
        )
    for name, given in found.items():
        if not isinstance(given, Mapping):
            raise InvalidSettingError(
                f"{kind} {name} is declared as {given!r}", hint=f"declare it as {example}"
            )
        lacking = [key for key in needed if not isinstance(given.get(key), str)]
        if lacking:
            check_name(kind, name)
            raise InvalidSettingError(
                f"{kind} {name} has no {lacking[0]}", hint=f"declare it as {example}"
            )
    return found


def _differs(record: FunctionRecord, target: str, returns: str, rest: Mapping[str, Any]) -> bool:
    known = {**USUAL_FUNCTION, **record.declaration}
    return (record.target, record.returns, known) != (target, returns, {**USUAL_FUNCTION, **rest})


def _asks_for_columns(record: Source, kind: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a source is declared as it is, but for its columns."""
    return arguments.get("schema") is not None and _difference(record, kind, arguments) == "columns"


def _difference(
    record: Source, kind: str, arguments: Mapping[str, Any]
) -> Literal["facts", "columns"] | None:
    """In what a source is declared otherwise, however it is spelled; columns that files showed need no words."""
    if kind != record.kind:
        return "facts"
    checked = check_arguments(kind, arguments)
    if _but_columns(checked) != _but_columns(record.arguments):
        return "facts"
    schema = checked.get("schema")
    return "columns" if schema is not None and has_other_columns(record, schema) else None


def _but_columns(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a source without its columns, its options as Spark takes them."""
    given = arguments.get("options", {}).items()
    options = {
        key.casefold(): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given
    }
    return {**_without(arguments, "schema"), "options": options}


def _alteration(record: Source, schema: str) -> Alteration:
    """What gives a source its declared columns.

    Raises:
        InvalidSettingError: it cannot have them.
    """
    widened(record, schema)
    return Alteration(record.name, schema)


def _source_notices(record: Source, kind: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    name = record.name
    difference = _difference(record, kind, arguments)
    if difference == "columns" and is_wider(record, arguments["schema"]):
        yield f'source {name} is declared with more columns; "apply": true adds them'
    elif difference is not None:
        yield f"source {name} is declared otherwise; drop it and its views to change it"


def _views(
    world: World, views: Mapping[str, Any], notices: list[str], *, applies: bool
) -> Iterator[Registration]:
    for name, view in views.items():
        check_name("view", name)
        checked = check_settings(name, _without(view, "sql"))
        if name not in world.views:
            notice = notice_of(name, checked)
            notices.extend([] if notice is None else [notice])
            yield Registration(name, view["sql"], checked)
        elif _is_other(world, name, view["sql"], checked):
            if applies:
                yield Registration(name, view["sql"], checked, stated(world.views[name]))
            else:
                notices.append(f'view {name} is declared otherwise; "apply": true changes it')


def _is_other(world: World, name: str, sql: str, settings: Mapping[str, Any]) -> bool:
    """Whether a view of the workspace has another text or other settings."""
    record = world.views[name]
    return record.sql != sql or record.settings != dict(settings)


def stated(view: ViewRecord) -> str:
    """The digest of a view's text and settings, as hexadecimal text: by it a plan knows what it was to change.

    The log number of its text is no sign of that: it moves where a source gains a column.
    """
    settings = json.dumps(dict(view.settings), sort_keys=True)
    return digest_of("stated", view.sql, settings).hex()
