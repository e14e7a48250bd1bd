"""The time that a search may take."""

from __future__ import annotations

from collections.abc import Callable

IsSpent = Callable[[], bool]
"""Whether a search has taken all the time that it may: once it is so, it stays so."""


def never() -> bool:
    """A search may take all the time that it needs."""
    return False
