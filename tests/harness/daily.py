"""Views whose answer is due at every third refresh, and which store early whatever they may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from slacktide.engine.definitions.goal_setting import weights_of
from slacktide.engine.planning import knowledge, progressing
from slacktide.optimizer.costs import Fit
from slacktide.optimizer.periods import planning
from slacktide.optimizer.periods.pricing import Pricing

REFRESHES = 3
GOAL = {"weights": [*(0.001,) * (REFRESHES - 1), 1]}


@contextmanager
def storing() -> Iterator[None]:
    """Let periods be used wherever there is a plan that does, at prices that no run here has changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "is_worth", lambda *_: True)
        patch.setattr(Pricing, "off", 1.0)
        patch.setattr(knowledge, "fit", lambda _, known: Fit(known, 0, None, None))
        yield


@contextmanager
def daily() -> Iterator[None]:
    """Let all views have such a goal, and periods be used wherever there is a plan that does."""
    weights = weights_of({"goal": GOAL})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progressing, "weights_of", lambda _: weights)
        patch.setattr(planning, "is_worth", lambda *_: True)
        yield
