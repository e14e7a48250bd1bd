"""Names of sources, views and functions: one rule, checked at one place."""

from __future__ import annotations

import re

from slacktide.errors import InvalidNameError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def is_name(text: str) -> bool:
    """Whether a text may name an object, or a column without backticks."""
    return _NAME.fullmatch(text) is not None


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
