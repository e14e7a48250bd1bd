"""Which changes are netted: those of small sources that have lost rows."""

from __future__ import annotations

import pytest

from slacktide.algebra.textual import from_text
from slacktide.optimizer.programs.net_changes import SMALL, netted
from slacktide.optimizer.statistics import Figure, SourceFacts, Statistics

ROOT = from_text(
    "join inner on (#1 = #3)\n  scan facts [d#1:INT, v#2:INT]\n  scan dims [k#3:INT, g#4:STRING]\n"
)
FACTS = from_text("scan facts [d#1:INT, v#2:INT]\n")
BOTH = ("facts", "dims")


def known(facts: float, dims: float) -> Statistics:
    sizes = {"facts": facts, "dims": dims}
    return Statistics(
        {name: SourceFacts(rows=Figure(rows, "observed")) for name, rows in sizes.items()}
    )


@pytest.mark.parametrize(
    ("dims", "found"), [(SMALL * 100, {"dims"}), (SMALL * 100 + 1, set()), (400, {"facts"})]
)
def test_those_that_are_small_beside_all_that_is_read(dims: float, found: set[str]) -> None:
    facts = 100 - dims if dims < 100 else 100
    assert netted(ROOT, known(facts, dims), BOTH) == found


def test_what_has_never_lost_a_row_has_nothing_that_cancels_out() -> None:
    assert netted(ROOT, known(1000, 10), ["facts"]) == frozenset()
    assert netted(ROOT, known(1000, 10), ["dims", "of another view"]) == {"dims"}


def test_of_what_nobody_knows_the_size_nothing_is_netted() -> None:
    assert netted(ROOT, Statistics(), BOTH) == frozenset()


def test_a_source_that_is_alone_meets_nothing() -> None:
    assert netted(FACTS, known(1000, 10), BOTH) == frozenset()
