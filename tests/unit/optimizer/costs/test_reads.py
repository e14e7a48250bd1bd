"""What a step is expected to read before it runs: by the run before, and by the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.algebra.scalar import Column
from slacktide.optimizer.costs import Vector
from slacktide.optimizer.costs.reads import MOST_OFF, reads_expected
from slacktide.optimizer.statistics import (
    ChangeFacts,
    Extension,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
)
from slacktide.program import operator as o

X = Column(1, "x", "INT", nullable=True)
CHAIN = "states/s"
CHANGES, TABLE = o.ReadChanges("t", (X,)), o.ReadSnapshot("t", (X,), "before")
STEP = o.Save(CHAIN, o.Add((CHANGES, TABLE), (X,)), is_base=False)
SURE = SourceFacts(changes=(ChangeFacts(Figure(100.0, "observed")),), reach=Figure(0.1, "observed"))


def known(before: Extension | None, source: SourceFacts = SURE) -> Statistics:
    return Statistics({"t": source}, {CHAIN: StoredFacts(1e4, 1e5, 2, before)})


def expected(statistics: Statistics, planned: float = 0.0, step: o.Step = STEP) -> float | None:
    works = {CHANGES: Vector(rows_read=100.0), TABLE: Vector(rows_read=planned)}
    return reads_expected(step, works, statistics)


@pytest.mark.parametrize(
    ("changes", "rows"), [(100.0, 5_000.0), (25.0, 20_000.0), (400.0, 5_000.0)]
)
def test_as_much_as_the_run_before_read_and_more_for_more_changes(
    changes: float, rows: float
) -> None:
    assert expected(known(Extension(5_000.0, changes))) == rows


def test_keys_that_lay_close_together_may_lie_anywhere_now() -> None:
    """Which the plan knows, but for tables of which nobody knows where the keys reach."""
    before = Extension(5_000.0, 100.0)
    assert expected(known(before), 1e6) == (1e6 + 100) / MOST_OFF
    guessed = replace(SURE, reach=Figure(0.1))
    assert expected(known(before, guessed), 1e6) == 5_000.0


def test_what_the_plan_expects_where_there_was_no_run_before() -> None:
    assert expected(known(None), 900.0) == 1_000.0
    assert expected(Statistics({"t": SURE}), 900.0) == 1_000.0
    assert expected(known(None, replace(SURE, reach=Figure(0.1))), 900.0) is None


def test_what_is_written_anew_extends_nothing() -> None:
    assert expected(known(None), 900.0, o.Save(CHAIN, TABLE, is_base=True)) is None
    assert expected(known(None), 900.0, o.Publish("v", TABLE, is_base=True)) is None
