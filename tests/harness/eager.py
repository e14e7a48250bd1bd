"""Views that remember every join that they may, whatever it costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slacktide.optimizer import keeping


@contextmanager
def eagerly(*, really: bool = True) -> Iterator[None]:
    """Let joins be remembered from the second run on; not where that is not asked for."""
    with pytest.MonkeyPatch.context() as patch:
        if really:
            patch.setattr(keeping, "MOST_ROWS", float("inf"))
            patch.setattr(keeping, "is_due", lambda _times: True)
            patch.setattr(keeping, "is_earned", lambda _saving, cost, *_: cost != 0.0)
        yield
