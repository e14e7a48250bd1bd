"""What the campaign of wrong statistics has planners believe, and what it says of their costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slacktide.engine.planning.knowledge import Knowledge
from slacktide.optimizer.statistics import (
    ChangeFacts,
    ColumnFacts,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
)
from tests.campaigns import misled
from tests.campaigns.misled import WAYS, summary
from tests.campaigns.side_by_side import believing
from tests.harness.priced import VIEW, Priced
from tests.unit.engine.test_weighing import BIG, costs
from tests.unit.optimizer.views import SUMMED, view


def figure(value: float) -> Figure:
    return Figure(value, "observed")


KNOWN = Statistics(
    {
        "a": SourceFacts(
            figure(1e6),
            changes=(ChangeFacts(figure(1e4), 1e5, figure(5e3)),),
            columns={"k": ColumnFacts(figure(1e5))},
        ),
        "b": SourceFacts(figure(10.0)),
    },
    {"states/x": StoredFacts(2e3, 2e4)},
)


def test_what_is_believed_is_wrong_by_a_thousand() -> None:
    small, few = misled.smaller(KNOWN), misled.few_changes(KNOWN)
    assert small.sources["a"].rows.value == 1e3
    assert small.sources["a"].changes[0].rows.value == 1e4
    assert small.sources["a"].columns["k"].distinct == figure(100.0)
    assert small.stored["states/x"].rows == 2.0
    assert misled.larger(KNOWN).sources["a"].rows.value == 1e9
    assert few.sources["a"].rows.value == 1e6
    assert few.sources["a"].changes[0].rows.value == 10.0
    assert misled.nothing(KNOWN) == Statistics()


def test_figures_of_tables_are_swapped_and_columns_are_not() -> None:
    found = misled.swapped(KNOWN).sources
    assert (found["a"].rows.value, found["b"].rows.value) == (10.0, 1e6)
    assert found["a"].columns == KNOWN.sources["a"].columns


@pytest.mark.parametrize("way", WAYS)
def test_plans_are_made_by_what_is_believed_and_then_again_by_what_is_known(
    tmp_path: Path, way: str
) -> None:
    priced = Priced(tmp_path, view(SUMMED), BIG)
    priced.run(costs(0.5))
    priced.arrive("lines", 1_000_000)
    before, told = priced.ws.plan().views[0], Knowledge.statistics
    with believing(WAYS[way].belief):
        misguided = priced.ws.plan().views[0]
    assert misguided.view == VIEW
    assert (misguided.predicted == before.predicted) == (way in {"full", "told"})
    assert Knowledge.statistics is told
    assert priced.ws.plan().views[0].predicted == before.predicted


def test_what_each_took_is_held_against_full() -> None:
    def told(full: float, other: float, **more: Any) -> dict[str, Any]:
        sides: dict[str, Any] = {way: {"v": {"seconds": other, **more}} for way in WAYS}
        return {**sides, "full": {"v": {"seconds": full}}}

    found = summary([told(1.0, 0.5), told(1.0, 2.0, switched=True), {way: {} for way in WAYS}])
    assert found["full"] == {"of full": 1.0, "views above 1.1": {}, "switched": 0}
    assert found["swapped"] == {"of full": 1.25, "views above 1.1": {"v": 1.25}, "switched": 1}
