"""A workspace with one answer, of sums; what must hold where a call is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slacktide import errors as e
from tests.harness.lab import Lab, Row

SUMS = "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k"
SUMS_ALONE = "SELECT k, sum(v) AS s FROM t GROUP BY k"
DDL = "k STRING, v INT"


def sums(rows: list[Row]) -> list[Row]:
    """What `SUMS_ALONE` gives."""
    return [(key, sum(v for k, v in rows if k == key)) for key in {k for k, _ in rows}]


def filled(lab: Lab) -> Lab:
    """Give an empty workspace its source."""
    lab.source("t", DDL, ("a", 1), ("a", 2), ("b", 3))
    return lab


def summed(lab: Lab) -> Lab:
    """Give an empty workspace its source, its view and its first answer."""
    filled(lab)
    lab.view("sums", SUMS)
    lab.refresh()
    return lab


@contextmanager
def refused(lab: Lab, error: type[e.SlacktideError], says: str) -> Iterator[None]:
    """The call inside fails so, and leaves the log, the plans and the answers as they were."""
    before, plans, answers = lab.number, lab.files("plans"), lab.bag("sums")
    with pytest.raises(error, match=says) as caught:
        yield
    assert type(caught.value) is error
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    assert lab.number == before
    assert lab.files("plans") == plans
    assert lab.bag("sums") == answers


def first_file(lab: Lab) -> Path:
    return min(lab.folder("t").iterdir())
