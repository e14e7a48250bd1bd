"""Columns as Spark DDL: read, checked and spelled as Spark's ``DataType.sql`` spells them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from slacktide.common.names import is_name
from slacktide.errors import InvalidSettingError

Column = dict[str, Any]

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)*`)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<word>\w+)|(?P<sign>[<>(),:]))"
)
_COLLATE: Final = re.compile(r" COLLATE \w+")
_DEPTH: Final = 64
_SIMPLE: Final = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "BYTE": "TINYINT",
    "SMALLINT": "SMALLINT",
    "SHORT": "SMALLINT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "LONG": "BIGINT",
    "FLOAT": "FLOAT",
    "REAL": "FLOAT",
    "DOUBLE": "DOUBLE",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "STRING": "STRING",
    "BINARY": "BINARY",
}
_NESTED: Final = {"ARRAY": 1, "MAP": 2}
_DECIMALS: Final = ("DECIMAL", "DEC", "NUMERIC")
_EXAMPLE: Final = "write Spark DDL, as in: id BIGINT, price DECIMAL(12,2), tags ARRAY<STRING>"


def parse_ddl(text: str) -> tuple[Column, ...]:
    """Read ``name TYPE [NOT NULL] [COMMENT '…'], …`` as columns in Spark's own spelling.

    Raises:
        InvalidSettingError: the text is no such list, or names a type that files cannot hold.
    """
    reader = _Reader(text)
    columns = [reader.column()]
    while reader.take(","):
        columns.append(reader.column())
    if reader.peek() is not None:
        raise reader.wrong("a comma or the end")
    check_names([column["name"] for column in columns])
    return tuple(columns)


def check_names(names: list[str]) -> None:
    """Check that no two names are the same to Spark, and that none is one of our own.

    Raises:
        InvalidSettingError: they are.
    """
    seen: dict[str, str] = {}
    for name in names:
        low = name.lower()
        if low in seen:
            raise InvalidSettingError(
                f"the schema names the column {name} twice",
                hint="give every column a name of its own; upper and lower case are the same",
            )
        if low == "__m" or low.startswith("__slacktide"):
            raise InvalidSettingError(
                f"the schema has a column {name}, a name that Slacktide uses itself",
                hint="rename the column in the files",
            )
        seen[low] = name


def quoted(name: str) -> str:
    """Give a name as it stands in DDL, in backticks where it needs them."""
    return name if is_name(name) else "`" + name.replace("`", "``") + "`"


def to_ddl(columns: tuple[Column, ...]) -> str:
    """Write columns as DDL."""
    return ", ".join(
        f"{quoted(column['name'])} {column['type']}" + ("" if column["nullable"] else " NOT NULL")
        for column in columns
    )


def stored_form(data_type: str) -> str:
    """Give the type that a file holds for a declared one: collations are not in files."""
    return _COLLATE.sub("", data_type)


@dataclass(slots=True)
class _Reader:
    text: str
    tokens: list[tuple[str, str]] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(self._split())

    def _split(self) -> Iterator[tuple[str, str]]:
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                rest = self.text[position:].strip()
                raise InvalidSettingError(
                    f"the schema cannot be read at {rest[:20]!r}", hint=_EXAMPLE
                )
            kind = match.lastgroup or ""
            yield kind, match[kind]
            position = match.end()

    def peek(self) -> str | None:
        """The next word or sign in upper case; None at the end."""
        return self.tokens[self.at][1].upper() if self.at < len(self.tokens) else None

    def take(self, *wanted: str) -> bool:
        """Step over the next tokens if they are these."""
        here = self.tokens[self.at : self.at + len(wanted)]
        found = [text.upper() for kind, text in here if kind in {"word", "sign"}]
        if found != list(wanted):
            return False
        self.at += len(wanted)
        return True

    def need(self, wanted: str) -> None:
        """Step over a sign that must come next."""
        if not self.take(wanted):
            raise self.wrong(repr(wanted))

    def wrong(self, wanted: str) -> InvalidSettingError:
        """Make the error for something else than what must come next."""
        found = "its end" if self.peek() is None else repr(self.tokens[self.at][1])
        return InvalidSettingError(f"the schema has {found} instead of {wanted}", hint=_EXAMPLE)

    def name(self) -> str:
        """Read a name."""
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "quoted" and len(text) > 2:
            self.at += 1
            return text[1:-1].replace("``", "`")
        if kind == "word":
            self.at += 1
            return text
        raise self.wrong("the name of a column")

    def column(self) -> Column:
        """Read one column of the schema."""
        name = self.name()
        data_type = self.type(name)
        nullable = not self.take("NOT", "NULL")
        self._comment()
        return {"name": name, "type": data_type, "nullable": nullable}

    def _comment(self) -> None:
        if self.take("COMMENT"):
            if self.at >= len(self.tokens) or self.tokens[self.at][0] != "text":
                raise self.wrong("a comment in quotes")
            # A doubled quote inside a comment makes two texts of it.
            while self.at < len(self.tokens) and self.tokens[self.at][0] == "text":
                self.at += 1

    def type(self, column: str, depth: int = 0) -> str:
        """Read a type and give it in Spark's spelling."""
        word = self.peek()
        if word is None or self.tokens[self.at][0] != "word":
            raise self.wrong(f"the type of the column {column}")
        if depth > _DEPTH:
            raise InvalidSettingError(
                f"the type of the column {column} is nested too deeply", hint="use a flatter type"
            )
        self.at += 1
        if word == "STRING" and self.take("COLLATE"):
            return f"STRING COLLATE {self.name().upper()}"
        if word in _SIMPLE:
            return _SIMPLE[word]
        if word in _DECIMALS:
            return self._decimal(column)
        if word == "STRUCT":
            return self._struct(depth)
        if word in _NESTED:
            return f"{word}<{', '.join(self._arguments(column, depth, _NESTED[word]))}>"
        raise InvalidSettingError(
            f"the schema gives the column {column} the type {word}, which is not known here",
            hint=f"use one of {', '.join(sorted(set(_SIMPLE.values())))}, DECIMAL(p,s), ARRAY<…>, "
            "MAP<…>, STRUCT<…>",
        )

    def _arguments(self, column: str, depth: int, count: int) -> list[str]:
        self.need("<")
        types = [self.type(column, depth + 1)]
        while len(types) < count:
            self.need(",")
            types.append(self.type(column, depth + 1))
        self.need(">")
        return types

    def _struct(self, depth: int) -> str:
        self.need("<")
        fields = [self._field(depth)]
        while self.take(","):
            fields.append(self._field(depth))
        self.need(">")
        check_names([name for name, _ in fields])
        return f"STRUCT<{', '.join(f'{quoted(name)}: {kind}' for name, kind in fields)}>"

    def _field(self, depth: int) -> tuple[str, str]:
        name = self.name()
        self.take(":")
        kind = self.type(name, depth + 1)
        if self.take("NOT", "NULL"):
            raise InvalidSettingError(
                f"the schema has NOT NULL inside a type, at the field {name}",
                hint="Spark reads such fields as nullable; leave it out",
            )
        self._comment()
        return name, kind

    def _decimal(self, column: str) -> str:
        precision, scale = 10, 0
        if self.take("("):
            precision = self._number()
            if self.take(","):
                scale = self._number()
            self.need(")")
        if not (1 <= precision <= 38 and scale <= precision):
            raise InvalidSettingError(
                f"the schema gives the column {column} the type DECIMAL({precision},{scale})",
                hint="the precision is 1 to 38, and the scale no greater than it",
            )
        return f"DECIMAL({precision},{scale})"

    def _number(self) -> int:
        word = self.peek()
        if word is None or not (word.isascii() and word.isdigit()):
            raise self.wrong("a whole number")
        self.at += 1
        return int(word)
