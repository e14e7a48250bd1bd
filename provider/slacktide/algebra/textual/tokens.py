"""The signs of one line of text, read one after another."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from slacktide.algebra.textual.vocabulary import STRING_BODY, TYPE
from slacktide.errors import InvariantError

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_KINDS: Final = (
    ("null", rf"CAST\(NULL AS {TYPE}\)"),
    ("instant", rf"(?:DATE|TIMESTAMP|TIMESTAMP_NTZ) {STRING_BODY}"),
    ("string", STRING_BODY),
    ("number", r"-?\d+(?:\.\d+)?(?:BD|[YSLD])?(?!\w)"),
    ("as", rf"as (?:{TYPE}|{_QUOTED})"),
    ("type", rf":(?:{TYPE}|{_QUOTED})!?"),
    ("label", r"%\d+"),
    ("ref", r"#\d+"),
    ("open", rf"(?:[A-Za-z_]\w*|{_QUOTED})\("),
    ("quoted", _QUOTED),
    ("word", r"[A-Za-z_]\w*"),
    ("sign", r":=|<=>|<=|>=|\|\||[-+*/%=<>&|^(),\[\]!?]"),
    ("space", r"\s+"),
)
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


@dataclass(frozen=True, slots=True)
class Token:
    """A sign, and what kind of sign it is."""

    kind: str
    text: str


class Tokens:
    """The signs of a line with a place to read at."""

    def __init__(self, line: str) -> None:
        self.line = line
        self._tokens = _split(line)
        self._place = 0

    def __bool__(self) -> bool:
        return self._place < len(self._tokens)

    def peek(self) -> Token:
        """The next token, without taking it; of kind ``end`` behind the last."""
        return self._tokens[self._place] if self else Token("end", "")

    def take(self, kind: str = "", text: str = "") -> Token:
        """Take the next token.

        Raises:
            InvariantError: it is not of the kind, or not the text, that is due here.
        """
        token = self.peek()
        if (kind and token.kind != kind) or (text and token.text != text) or not self:
            raise self.error(f"{text or kind or 'more'} expected, not {token.text!r}")
        self._place += 1
        return token

    def skip(self, text: str) -> bool:
        """Take the next token if it is this text; say whether it was."""
        if self.peek().text != text or not self:
            return False
        self._place += 1
        return True

    def count_of(self, kind: str, text: str) -> int:
        """How often a token occurs in the whole line."""
        return self._tokens.count(Token(kind, text))

    def error(self, fact: str) -> InvariantError:
        """An error that names the line."""
        return InvariantError(f"a plan's text does not read: {fact}, in {self.line.strip()!r}")


def _split(line: str) -> list[Token]:
    found: list[Token] = []
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None or match.lastgroup is None:
            raise InvariantError(f"a plan's text does not read at {line[place : place + 40]!r}")
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match[0]))
        place = match.end()
    return found


def unquote(text: str) -> str:
    """Read a quoted or plain name or type."""
    return str(json.loads(text)) if text.startswith('"') else text
