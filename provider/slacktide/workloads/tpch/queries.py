"""The 22 queries as Spark SQL, with parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from slacktide.errors import InvalidSettingError
from slacktide.workloads.tpch.parameters import PARAMETERS, Value, write_parameters

_HEADER = re.compile(r"^-- query (q\d+)$", re.MULTILINE)


def _read_templates() -> dict[str, str]:
    text = files("slacktide.workloads.tpch").joinpath("queries.sql").read_text(encoding="utf-8")
    parts = _HEADER.split(text)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


_TEMPLATES: Mapping[str, str] = MappingProxyType(_read_templates())


def query(name: str, **parameters: Value) -> str:
    """Give the text of a query; what is not given has the benchmark's validation value.

    Raises:
        InvalidSettingError: no such query, no such parameter, or a value it cannot take.
    """
    template = _TEMPLATES.get(name)
    if template is None:
        raise InvalidSettingError(f"TPC-H has no query {name!r}", hint="q1 to q22")
    return template.format_map(write_parameters(name, parameters))


QUERIES: Mapping[str, str] = MappingProxyType({name: query(name) for name in PARAMETERS})
"""The texts by name, "q1" to "q22", with the benchmark's validation values."""
