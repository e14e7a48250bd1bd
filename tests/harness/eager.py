"""Views that remember every join that they may, whatever it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slacktide.optimizer import remembered_joins

NAMES = ("MOST_ROWS", "is_asked", "pays")
USUAL = {name: getattr(remembered_joins, name) for name in NAMES}


@contextmanager
def eagerly(*, really: bool = True) -> Iterator[None]:
    """Let joins be remembered from the second run on; as usual where that is not asked for."""
    eager = {"MOST_ROWS": float("inf"), "is_asked": lambda *_: True, "pays": lambda *_: True}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (eager if really else USUAL).items():
            patch.setattr(remembered_joins, name, value)
        yield


def are_eager() -> bool:
    """Whether views remember all joins now."""
    return remembered_joins.pays is not USUAL["pays"]
