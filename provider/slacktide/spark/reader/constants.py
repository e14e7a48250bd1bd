"""Constants of a plan as literals and calls of constructors."""

from __future__ import annotations

import re
from typing import Any

from slacktide.algebra.literals import literal_sql, null_sql, text_sql
from slacktide.algebra.scalar import Literal
from slacktide.spark.reader.context import Tree, UnreadableError

_FIELD = re.compile(r"^(`(?:[^`]|``)+`|[^:` ]+): ")


def literal(tree: Tree) -> Literal:
    """Read ``{"t": type, "v": value}``.

    Raises:
        UnreadableError: the type has no spelling in SQL.
    """
    data_type, value = tree["t"], tree["v"]
    return Literal(constant_sql(value, data_type), data_type, nullable=value is None)


def constant_sql(value: Any, data_type: str) -> str:
    """Spell a constant that may have parts."""
    if value is None:
        return null_sql(data_type)
    sql = None
    if not isinstance(value, list):
        sql = literal_sql(value, data_type)
    elif data_type.startswith("ARRAY<"):
        sql = _or_empty(f"array({', '.join(_parts(value))})", data_type)
    elif data_type.startswith("MAP<"):
        keys, values = _parts(value[0]), _parts(value[1])
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        sql = _or_empty(f"map({', '.join(pairs)})", data_type)
    elif data_type.startswith("STRUCT<"):
        sql = _struct_sql(value, data_type)
    if sql is None:
        raise UnreadableError("UNREADABLE_EXPRESSION", f"a constant of type {data_type}")
    return sql


def _or_empty(text: str, data_type: str) -> str:
    """Parts tell their types; where there are none, a cast does."""
    return f"CAST({text} AS {data_type})" if text.endswith("()") else text


def _parts(values: list[Any]) -> list[str]:
    return [constant_sql(item["v"], item["t"]) for item in values]


def _struct_sql(values: list[Any], data_type: str) -> str:
    rest = data_type.removeprefix("STRUCT<")
    pairs = []
    for item in values:
        match = _FIELD.match(rest)
        if match is None or not rest[match.end() :].startswith(item["t"]):
            raise UnreadableError("UNREADABLE_EXPRESSION", f"a constant of type {data_type}")
        name = match[1].strip("`").replace("``", "`")
        pairs.append(f"{text_sql(name)}, {constant_sql(item['v'], item['t'])}")
        rest = rest[match.end() + len(item["t"]) :].removeprefix(" NOT NULL").removeprefix(", ")
    return f"CAST(named_struct({', '.join(pairs)}) AS {data_type})"
