"""The Airflow Variable ``slacktide``: its schema, and its text as configuration of workspaces.

`parse` is pure; `slacktide.orchestration.catalog` reads the Variable, at run time and never at parse time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from slacktide.errors import InvalidSettingError

DEFAULT_KEY = "slacktide"
DEFAULT_SPARK_CONNECTION = "spark_default"
_DECLARED = ("sources", "functions", "views", "apply")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """What the Variable says of one workspace, its defaults filled in.

    Attributes:
        name: the name of the workspace in the Variable.
        conn_id: the connection that holds its address, or None where ``root`` is given.
        root: the address itself, or None where a connection holds it.
        spark_conn_id: the Spark connection that runs its refreshes.
        settings: settings of a workspace that has yet to be created.
        declarations: ``sources``, ``functions`` and ``views`` as declared; empty where none are.
        spark: what spark-submit gets besides.
    """

    name: str
    conn_id: str | None = None
    root: str | None = None
    spark_conn_id: str = DEFAULT_SPARK_CONNECTION
    settings: Mapping[str, Any] = field(default_factory=dict)
    declarations: Mapping[str, Any] = field(default_factory=dict)
    spark: Mapping[str, Any] = field(default_factory=dict)


def schema() -> dict[str, Any]:
    """Give the JSON schema that the Variable is checked against."""
    file = resources.files("slacktide.orchestration") / "variable.schema.json"
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


def parse(text: str, *, key: str = DEFAULT_KEY) -> dict[str, WorkspaceConfig]:
    """Read the text of the Variable.

    Raises:
        InvalidSettingError: it is no JSON, or one place of it is not as the schema says; the
            message names that place.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InvalidSettingError(
            f"Variable {key} is not JSON: {error}",
            hint="put a JSON object with the key workspaces into it",
        ) from error
    _check(document, key)
    defaults = document.get("defaults", {})
    return {
        name: _config(name, {**defaults, **given}, defaults.get("spark", {}))
        for name, given in document["workspaces"].items()
    }


def _config(
    name: str, given: Mapping[str, Any], default_spark: Mapping[str, Any]
) -> WorkspaceConfig:
    declarations = {part: given[part] for part in _DECLARED if given.get(part)}
    settings = {"state_budget": given["state_budget"]} if "state_budget" in given else {}
    spark = {**default_spark, **given.get("spark", {})}
    if "conf" in default_spark:
        spark["conf"] = {**default_spark["conf"], **spark["conf"]}
    return WorkspaceConfig(
        name=name,
        conn_id=given.get("conn_id"),
        root=given.get("root"),
        spark_conn_id=given.get("spark_conn_id", DEFAULT_SPARK_CONNECTION),
        settings=settings,
        declarations=declarations,
        spark=spark,
    )


def _check(document: object, key: str) -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema())
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is None:
        return
    place = ".".join([key, *(str(step) for step in error.absolute_path)])
    raise InvalidSettingError(f"Variable {place}: {_message(error)}", hint=_hint(error))


def _message(error: Any) -> str:
    if error.validator == "oneOf":
        return "exactly one of 'conn_id' and 'root' must be given"
    text = str(error.message)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _hint(error: Any) -> str:
    """Give the description that stands nearest above the place of the error."""
    while error is not None:
        if isinstance(error.schema, dict) and "description" in error.schema:
            return str(error.schema["description"])
        error = error.parent
    return "see the schema of the Variable in the documentation"
