"""Views whose answer is due at every third refresh, and which store early whatever they may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from slacktide.engine import progressing
from slacktide.optimizer import progress

REFRESHES = 3


@contextmanager
def daily() -> Iterator[None]:
    """Let all views have such a goal, and periods be used wherever there is a plan that does."""
    weights = (*(Fraction(1, 1000),) * (REFRESHES - 1), Fraction(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progressing, "weights_of", lambda _: weights)
        patch.setattr(progress, "is_worth", lambda *_: True)
        yield
