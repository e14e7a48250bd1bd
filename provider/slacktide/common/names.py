"""Names of sources, views and functions: what may be one, and which texts name one, each by one rule."""

from __future__ import annotations

import re

from slacktide.errors import InvalidNameError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAMED_BY_VALUE = re.compile(r"\bidentifier\s*\(", re.IGNORECASE)


def is_name(text: object) -> bool:
    """Whether something may name an object, or a column without backticks."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def check_name(kind: str, name: str) -> str:
    """Return the name when it may name an object of a workspace.

    Raises:
        InvalidNameError: it has other signs than letters, digits and underscores.
    """
    if not is_name(name):
        raise InvalidNameError(
            f"{kind} name {name!r} is not allowed",
            hint="use letters, digits and underscores, beginning with a letter, at most 128",
        )
    return name


def stands_in(text: str, name: str) -> bool:
    """Whether a name stands in a text, in the way Spark compares names."""
    return re.search(rf"\b{name}\b", text, re.IGNORECASE) is not None


def may_name(text: str, name: str) -> bool:
    """Whether a text may name an object: its name stands there, or a name is made of values."""
    return stands_in(text, name) or _NAMED_BY_VALUE.search(text) is not None
