"""When states are built again, and kept through runs that could do without: while runs that save are frequent enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.optimizer.costs import Evidence
from slacktide.optimizer.costs.evidence import LEAST_ROWS
from slacktide.optimizer.ways.keeping import worth_keeping
from slacktide.optimizer.ways.weighing import may_build, weigh, with_join
from tests.unit.optimizer.weighed import (
    at_large,
    case,
    code,
    past,
    price,
)


def test_states_are_built_again_when_that_pays() -> None:
    """Building costs 3 s more than the text, and increments would save 1 s a run."""
    runs = [past(1, "incremental", 1.0), past(2, "rebuild", 5.0), past(3, "text", 2.0)]
    taken = []
    for number in range(4, 8):
        found = weigh(case(*runs, missing="states/x"))
        taken.append((found.way, code(found)))
        runs.append(past(number, "text", 2.0, incremental=price(found, "incremental")))
    left, built = ("text", "STATES_LEFT"), ("rebuild", "STATE_MISSING")
    assert taken == [left, left, built, built], "the run that left them has missed nothing"


@pytest.mark.parametrize(
    ("later", "way"), [(0, "text"), (2, "text"), (3, "rebuild"), (8, "rebuild")]
)
def test_states_are_built_at_once_where_the_runs_to_come_pay_for_it(later: int, way: str) -> None:
    """Building costs 3 s more than the text, and increments save 1 s in each of the other runs."""
    runs = [past(1, "incremental", 1.0), past(2, "rebuild", 5.0), past(3, "text", 2.0)]
    found = weigh(replace(case(*runs, missing="states/x"), later=later))
    assert found.way == way


@pytest.mark.parametrize(("later", "way"), [(0, "text"), (1, "rebuild"), (8, "rebuild")])
def test_states_are_kept_through_any_large_change_that_the_runs_to_come_pay_for(
    later: int, way: str
) -> None:
    """Building costs 0.9 s more than the text, and increments save 1 s in each of the other runs."""
    runs = [past(1, "rebuild", 5.9), past(2, "text", 5.0)]
    runs += [past(3, "incremental", 3.0, rebuild=5.9, text=5.0), past(4, "incremental", 80.0)]
    for number in range(5, 8):
        found = weigh(replace(case(*runs), later=later))
        assert found.way == way
        runs.append(past(number, found.way, 5.9 if found.way == "rebuild" else 5.0))


def test_states_that_cost_little_are_built_at_once() -> None:
    runs = [past(1, "incremental", 1.0), past(2, "text", 5.0), past(3, "rebuild", 4.0)]
    assert weigh(case(*runs, missing="states/x")).way == "rebuild"


def test_states_are_kept_through_large_changes_until_small_ones_are_rare() -> None:
    """Increments save 2 s of 5 after a small change, and building the states costs 0.9 s more than the text."""
    runs = [past(1, "rebuild", 5.9), past(2, "text", 5.0)]
    runs += [past(number, "incremental", 3.0, rebuild=5.9, text=5.0) for number in range(3, 6)]
    taken = []
    for number in range(6, 14):
        found = weigh(at_large(*runs))
        taken.append((found.way, [reason.code for reason in found.reasons]))
        prices = {one.way: one.price for one in found.predictions}
        runs.append(past(number, found.way, 5.9 if found.way == "rebuild" else 5.0, **prices))
    kept, left = ("rebuild", ["CHEAPER_FULL", "STATES_PAY"]), ("text", ["CHEAPER_FULL"])
    assert taken == [kept] * 6 + [left] * 2, "2 of 8 save 4 s, which is 0.57 s for each of 6 and 1"


@pytest.mark.parametrize(
    ("saved", "small", "way"),
    [(3.0, 2, "text"), (3.0, 3, "rebuild"), (0.4, 6, "text"), (0.4, 7, "rebuild")],
)
def test_how_often_increments_save_decides_with_how_much(
    saved: float, small: int, way: str
) -> None:
    """Building costs 0.9 s more; of the newest eight runs so many saved something."""
    runs = [past(1, "rebuild", 5.9), past(2, "text", 5.0)]
    dear = {"incremental": 80.0, "rebuild": 5.9, "text": 5.0}
    runs += [past(number, "text", 5.0, **dear) for number in range(3, 11 - small)]
    for number in range(11 - small, 11):
        runs.append(past(number, "incremental", 5.0 - saved, rebuild=5.9, text=5.0))
    assert weigh(at_large(*runs)).way == way


def test_what_keeping_is_worth() -> None:
    """Of eight runs three saved 3 s each: 9 s for the other five, and one besides."""
    runs = [past(number, "incremental", 5.0, text=5.0) for number in range(1, 6)]
    runs += [past(number, "incremental", 2.0, text=5.0) for number in range(6, 9)]
    assert worth_keeping(case(*runs), 5.0) == pytest.approx(9.0 / 6.0)
    assert worth_keeping(case(*runs), 4.0) == pytest.approx(6.0 / 6.0), "full is cheaper by now"
    assert worth_keeping(case(*runs[:5]), 5.0) == worth_keeping(case(), 5.0) == 0.0


def test_a_join_pays_for_states_once_it_is_known_what_the_answer_alone_takes() -> None:
    runs = [past(1, "rebuild", 5.9), past(2, "text", 5.0), past(3, "text", 5.0, incremental=4.0)]
    unknown = weigh(at_large(runs[0]))
    assert not may_build(at_large(runs[0]), replace(unknown, way="text"))
    left = weigh(case(*runs[:2], past(3, "incremental", 4.95), missing="states/x"))
    assert (left.way, code(left)) == ("text", "STATES_LEFT")
    assert may_build(at_large(*runs), left)
    assert not may_build(replace(at_large(*runs), is_shared=True), left)
    built = with_join(left, 2.0, 1.0)
    assert (built.way, [reason.code for reason in built.reasons]) == ("rebuild", ["STATES_PAY"])
    assert with_join(built, 2.0, 1.0) == built


def test_what_increments_save_is_held_against_full_runs_that_merge_as_these_would_have() -> None:
    """A full run takes 3.3 s over mirrors with changes, and 1.9 s over those that a large change has written anew."""
    runs = [past(1, "rebuild", 3.4), replace(past(2, "text", 1.9), merges=False)]
    runs.append(replace(past(3, "rebuild", 3.4, rebuild=3.4, text=3.4), merges=False))
    runs += [past(number, "incremental", 1.5, rebuild=3.4, text=3.3) for number in (4, 5)]
    evidence = Evidence(runs, rows=LEAST_ROWS, merges=False)
    found = weigh(replace(at_large(), evidence=evidence))
    assert price(found, "rebuild") - price(found, "text") == pytest.approx(1.5)
    assert [reason.code for reason in found.reasons] == ["CHEAPER_FULL", "STATES_PAY"]
    untold = [replace(one, merges=False) if one.way == "rebuild" else one for one in runs]
    unseen = replace(evidence, runs=untold)
    found = weigh(replace(at_large(), evidence=unseen))
    assert found.way == "text", "no full run has merged: 3.3 s was a guess"
    gave_up = [replace(one, turned_back=one.way == "incremental") for one in runs]
    found = weigh(replace(at_large(), evidence=replace(evidence, runs=gave_up)))
    assert found.way == "text", "what it took is of a full run, too"


def test_states_that_were_built_for_nothing_are_not_built_again_at_once() -> None:
    """Increments of small changes cost 6 s, full 5: after ten losses of 1 s they are tried, and a large change comes between."""
    runs = [past(1, "rebuild", 5.0), past(2, "incremental", 6.0)]
    runs += [past(number, "text", 5.0) for number in range(3, 6)]
    tried = weigh(case(*runs, missing="states/x"))
    assert (tried.way, code(tried)) == ("rebuild", "STATE_MISSING")
    runs += [past(6, "rebuild", 5.0), past(7, "text", 5.0)]
    assert weigh(case(*runs, missing="states/x")).way == "text"
