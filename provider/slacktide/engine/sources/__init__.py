"""Sources of files, without a JVM: declared, looked at, accepted and checked again."""

from slacktide.engine.sources.arriving import accept, peek, resolve_file
from slacktide.engine.sources.ddl import parse_ddl, to_ddl
from slacktide.engine.sources.declaration import (
    KINDS,
    Declaration,
    check_arguments,
    check_source,
    infer_schema,
)
from slacktide.engine.sources.pins import check_pins

__all__ = [
    "KINDS",
    "Declaration",
    "accept",
    "check_arguments",
    "check_pins",
    "check_source",
    "infer_schema",
    "parse_ddl",
    "peek",
    "resolve_file",
    "to_ddl",
]
