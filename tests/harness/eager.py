"""Views that remember every join that they may, whatever it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from slacktide.optimizer.programs import join_bags
from slacktide.optimizer.ways import remembered_joins

EAGER: Mapping[tuple[Any, str], Any] = {
    (join_bags, "MOST_ROWS"): float("inf"),
    (remembered_joins, "asking_runs"): lambda known, program, *_: known.times(program),
    (remembered_joins, "pays"): lambda *_: True,
    (remembered_joins, "dear_runs"): lambda *_: 1,
    # Which comes first does not hang on what runs have taken here.
    (remembered_joins, "_saved"): lambda found: found.chains,
}
USUAL = {(module, name): getattr(module, name) for module, name in EAGER}


@contextmanager
def eagerly(*, really: bool = True) -> Iterator[None]:
    """Let joins be remembered from the second run on; as usual where that is not asked for."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in (EAGER if really else USUAL).items():
            patch.setattr(module, name, value)
        yield


def are_eager() -> bool:
    """Whether views remember all joins now."""
    return any(getattr(module, name) is not usual for (module, name), usual in USUAL.items())
