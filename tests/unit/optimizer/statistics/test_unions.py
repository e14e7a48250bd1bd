"""What is known of rows that come one after another."""

from __future__ import annotations

import pytest

from slacktide.algebra.textual import from_text
from slacktide.optimizer.statistics import ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.optimizer.statistics.estimate import Estimate
from slacktide.optimizer.statistics.ranges import Range, values_together
from slacktide.optimizer.statistics.relation import Cardinality

pytestmark = pytest.mark.unit
UNION = (
    "union 2 [at#5:INT, n#6:INT]\n  scan old [at#1:INT, n#2:INT]\n  scan new [at#3:INT, n#4:INT]"
)


def told(distinct: float, low: float | None, high: float | None, nulls: float = 0.0) -> ColumnFacts:
    return ColumnFacts(Figure(distinct, "observed"), low, high, Figure(nulls, "observed"))


def united(old: ColumnFacts, new: ColumnFacts, text: str = UNION) -> Estimate:
    """The estimate of 300 old rows and 100 new ones, by what is known of a column of theirs."""
    sources = {
        name: SourceFacts(rows=Figure(rows, "observed"), columns={"at": facts})
        for name, rows, facts in (("old", 300.0, old), ("new", 100.0, new))
    }
    return Cardinality(Statistics(sources)).of(from_text(text))


@pytest.mark.parametrize(
    ("old", "new", "distinct", "ends"),
    [
        (told(60, 1, 60), told(40, 61, 100), 100, (1, 100)),
        (told(60, 1, 60), told(60, 1, 60), 60, (1, 60)),
        (told(100, 0, 100), told(50, 50, 150), 125, (0, 150)),
        (told(100, 0, 100), told(10, 40, 50), 100, (0, 100)),
        (told(1, 2025, 2025), told(1, 2026, 2026), 2, (2025, 2026)),
        (told(60, None, None), told(40, 61, 100), 60, (None, None)),
        (told(100, 0, 100), told(1, 50, 50), 100, (0, 100)),
        (told(100, 0, 100), told(1, 200, 200), 101, (0, 200)),
        (told(9, -1.7e308, 1.7e308), told(40, 61, 100), 40, (None, None)),
        (told(9, -1.7e308, 0), told(4, 0, 1.7e308), 13, (-1.7e308, 1.7e308)),
    ],
)
def test_values_of_both_sides(
    old: ColumnFacts, new: ColumnFacts, distinct: float, ends: tuple[float | None, float | None]
) -> None:
    found = united(old, new).column(5)
    assert found.distinct is not None
    assert found.distinct.value == pytest.approx(distinct)
    assert found.distinct.origin == "observed"
    assert (found.low, found.high) == ends


def test_nulls_are_those_of_both_sides() -> None:
    found = united(told(60, 1, 60, nulls=1.0), told(40, 1, 60)).column(5)
    assert found.nulls == Figure(0.75, "observed")


def test_a_filter_over_both_sides_goes_by_where_all_values_lie() -> None:
    """Without the range a third of the rows would be expected."""
    newest = f"filter (#5 > 75)\n{UNION}".replace("\n", "\n  ")
    rows = united(told(50, 1, 50), told(50, 51, 100), newest).rows.value
    assert rows == pytest.approx(400 / 4, rel=0.05)


def test_ranges_that_no_number_spans_are_none() -> None:
    """Half of all rows lie above 0, and the range of these is no number either."""
    far = told(1000, -1.7e308, 1.7e308)
    twice = "filter (#5 < 50)\n  filter (#5 >= 0)\n    " + UNION.replace("\n", "\n    ")
    assert united(far, far, twice).rows.value == pytest.approx(400 / 9)
    near = told(1000, -1.7e308, 0.0)
    assert 0.0 <= united(near, far, twice).rows.value <= 400


def test_many_sides_are_put_together_quickly() -> None:
    ranges = [Range(float(n), n + 1.5, 3.0) for n in range(20_000)]
    assert values_together(ranges) == pytest.approx(40_000, rel=0.01)
