"""Views that remember every join that they may, whatever it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slacktide.optimizer import remembered_joins


@contextmanager
def eagerly(*, really: bool = True) -> Iterator[None]:
    """Let joins be remembered from the second run on; not where that is not asked for."""
    with pytest.MonkeyPatch.context() as patch:
        if really:
            patch.setattr(remembered_joins, "MOST_ROWS", float("inf"))
            patch.setattr(remembered_joins, "is_asked", lambda *_: True)
            patch.setattr(remembered_joins, "pays", lambda *_: True)
        yield
