"""The programs that the planner derives give what batch evaluation gives, after every batch.

Of some views all chains are compacted in every run, whole or above their base.
"""

from __future__ import annotations

from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import strategies as st

from slacktide.algebra.textual import to_text
from slacktide.optimizer.rule_parts import first
from tests.harness.maintained import Maintained
from tests.harness.plans import cases

pytestmark = pytest.mark.timeout(600)

SHARDS = 8
EXAMPLES = 75
DECISIONS = ((("auto", 0.0),) * 6) + (("full", 0.0), ("auto", 0.5))
COMPACTED = (None, None, 0, 1)


SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES, suppress_health_check=list(hypothesis.HealthCheck)
)


@SETTINGS
@hypothesis.given(data=st.data())
def refresh_equals_batch(data: st.DataObject) -> None:
    case = data.draw(cases())
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case, keep=data.draw(st.sampled_from(COMPACTED)))
    maintained.refresh()
    for batch in case.batches:
        maintained.arrive(batch)
        maintained.refresh(*data.draw(st.sampled_from(DECISIONS)))


@SETTINGS
@hypothesis.given(data=st.data())
def resumed_equals_batch(data: st.DataObject) -> None:
    case = data.draw(cases())
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    maintained.refresh()
    for batch in case.batches:
        maintained.arrive(batch)
        if data.draw(st.booleans()):
            lost = [
                chain for chain in sorted(maintained.states) if data.draw(st.integers(0, 3)) == 0
            ]
            maintained.replace(lost)
        maintained.refresh()


@SETTINGS
@hypothesis.given(data=st.data())
def caught_up_equals_batch(data: st.DataObject) -> None:
    case = data.draw(cases())
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    maintained.refresh()
    for batch in case.batches:
        maintained.arrive(batch)
        if data.draw(st.booleans()):
            maintained.fall_behind()
            lost = [c for c in sorted(maintained.states) if data.draw(st.integers(0, 3)) == 0]
            for chain in lost:
                del maintained.states[chain]
        else:
            maintained.refresh()


@SETTINGS
@hypothesis.given(data=st.data())
def without_states_equals_batch(data: st.DataObject) -> None:
    case = data.draw(cases())
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    for batch in case.batches:
        maintained.arrive(batch)
        maintained.refresh("full")


def play(
    refresh: Callable[[], None], seed: int, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Split into shards, that workers share them; where examples are fixed, each has its own."""
    if shard % 2:
        monkeypatch.setattr(first, "FEWEST_KEPT", 1)  # so that first rows run dry
    if hypothesis.settings().derandomize:
        hypothesis.seed(seed + shard)(refresh)
    refresh()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_refresh_equals_batch(shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    play(refresh_equals_batch, 0, shard, monkeypatch)


@pytest.mark.parametrize("shard", range(SHARDS // 4))
def test_every_answer_from_kept_states_equals_batch(
    shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view whose answer goes away while some of its states stay, as where its text is replaced."""
    play(resumed_equals_batch, 100, shard, monkeypatch)


@pytest.mark.parametrize("shard", range(SHARDS // 4))
def test_every_answer_of_a_view_that_lags_equals_batch(
    shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that failed or was paused while another one went on with the states that both keep."""
    play(caught_up_equals_batch, 200, shard, monkeypatch)


@pytest.mark.parametrize("shard", range(SHARDS // 4))
def test_every_answer_without_states_equals_batch(
    shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over signed rows, wherever the view is maintainable and would keep states."""
    play(without_states_equals_batch, 300, shard, monkeypatch)
