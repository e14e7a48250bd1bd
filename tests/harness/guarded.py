"""Runs that turn back past limits that a test sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from slacktide.optimizer.periods import pricing
from slacktide.optimizer.ways import decision
from slacktide.program import operator as o
from slacktide.program.limits import Limits


def one_row(program: o.Program, *_: object, **__: object) -> Limits:
    """Let each step of an incremental program write one row, and the run turn back past that."""
    saved = [s.chain for s in program.steps if isinstance(s, o.Save) and not s.is_base]
    return Limits(dict.fromkeys(saved, 1))


@contextmanager
def wary(limits: Callable[..., Limits] = one_row) -> Iterator[None]:
    """Guard incremental programs; as all is small, nothing is weighed by what runs have taken here."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (decision, pricing):
            patch.setattr(module, "limits_of", limits)
        yield
