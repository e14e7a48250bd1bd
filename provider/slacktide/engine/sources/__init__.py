"""Sources of files, without a JVM: declared, looked at, accepted and checked again."""

from slacktide.engine.sources.arriving import Look, accept, look_again, peek, resolve_file
from slacktide.engine.sources.ddl import parse_ddl, to_ddl
from slacktide.engine.sources.declaration import (
    KINDS,
    Declaration,
    check_arguments,
    check_source,
    infer_schema,
    naming,
)
from slacktide.engine.sources.pins import check_pins
from slacktide.engine.sources.widening import (
    has_other_columns,
    is_wider,
    seen_before,
    wide_ddl,
    widened,
)

__all__ = [
    "KINDS",
    "Declaration",
    "Look",
    "accept",
    "check_arguments",
    "check_pins",
    "check_source",
    "has_other_columns",
    "infer_schema",
    "is_wider",
    "look_again",
    "naming",
    "parse_ddl",
    "peek",
    "resolve_file",
    "seen_before",
    "to_ddl",
    "wide_ddl",
    "widened",
]
