"""What a run tells of a part of its work: the model errs in each kind of work by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.optimizer.costs import DEFAULTS, Candidate, Evidence, PastRun, Vector, predict
from slacktide.optimizer.costs.increments import by_increments
from slacktide.optimizer.costs.vector import KINDS

EXPECTED = Vector(rows_read=4.7e6, bytes_shuffled=7e7, bytes_written=1.7e6, files=40, stages=22)
COUNTED = [kind for kind in KINDS if getattr(EXPECTED, kind)]
amounts = st.floats(1.0, 1e9)


def past(measured: Vector, seconds: float) -> PastRun:
    return PastRun(3, "incremental", "p", EXPECTED, measured, seconds)


def test_a_run_as_expected_leaves_the_model_as_it_is() -> None:
    part = Vector(rows_read=1e6, bytes_shuffled=3e6)
    found = past(EXPECTED, DEFAULTS.in_tasks(EXPECTED)).seconds_of(part, DEFAULTS)
    assert found == pytest.approx(DEFAULTS.in_tasks(part))


@given(st.builds(Vector, **dict.fromkeys(COUNTED, amounts)), amounts)
def test_all_of_the_work_is_what_the_run_took(measured: Vector, seconds: float) -> None:
    assert past(measured, seconds).seconds_of(EXPECTED, DEFAULTS) == pytest.approx(seconds)


def test_rows_that_were_more_and_shuffles_that_were_less_weigh_so() -> None:
    """As in Q17: nine million rows where the model saw five, and a tenth of the bytes shuffled."""
    measured = Vector(
        rows_read=9.2e6, bytes_shuffled=8.2e6, bytes_written=2.5e5, files=66, stages=19
    )
    found = past(measured, 3.3)
    rows = found.seconds_of(Vector(rows_read=3.2e6), DEFAULTS)
    counted = 3.2e6 * 9.2 / 4.7 * DEFAULTS.rows_read
    assert rows == pytest.approx(3.3 * counted / DEFAULTS.in_tasks(measured))
    assert found.seconds_of(Vector(bytes_shuffled=8e6), DEFAULTS) < rows / 5


def test_what_was_hardly_any_work_is_no_measure_of_much() -> None:
    """Sixty rows to interpret were expected, and there were 150,000, or four million: not 2,500 times of what is more."""
    part = Vector(rows_interpreted=3e5)
    for counted in (50.0, 1.5e5, 4e6):
        told = replace(EXPECTED, rows_interpreted=60.0), replace(EXPECTED, rows_interpreted=counted)
        run = PastRun(3, "incremental", "p", *told, DEFAULTS.in_tasks(told[1]))
        assert run.seconds_of(part, DEFAULTS) == pytest.approx(DEFAULTS.in_tasks(part))


def test_a_run_that_turned_back_tells_of_two_programs_and_so_of_none() -> None:
    mixed = replace(past(Vector(rows_read=1e9), 900.0), turned_back=True)
    part = Vector(rows_read=1e6)
    assert mixed.seconds_of(part, DEFAULTS) == DEFAULTS.in_tasks(part)


def test_a_kind_that_the_model_did_not_see_is_taken_as_it_is() -> None:
    found = past(Vector(rows_read=4.7e6), DEFAULTS.in_tasks(Vector(rows_read=4.7e6)))
    assert found.seconds_of(Vector(bytes_read=5.0, files=0.0), DEFAULTS) == 0.0
    assert found.seconds_of(Vector(rows_read=100.0), DEFAULTS) == pytest.approx(
        100 * DEFAULTS.rows_read
    )


def after(run: int, changed: int | None, seconds: float, program: str = "p") -> PastRun:
    return PastRun(run, "incremental", program, EXPECTED, EXPECTED, seconds, changed=changed)


RUNS = [after(1, 100, 0.1), after(2, 100_000, 9.0), after(3, 120, 0.2), after(4, 100, 5.0, "other")]


@pytest.mark.parametrize(
    ("changed", "run"), [(100, 3), (50_000, 2), (1, 3), (10**9, 2), (None, 3), (0, 3)]
)
def test_a_run_after_a_change_as_large_tells_most(changed: int | None, run: int) -> None:
    """Where nobody knows how large the change is, the newest does."""
    evidence = Evidence(RUNS, changed=changed)
    found = evidence.nearest(Candidate("p", EXPECTED))
    assert found is not None
    assert found.run == run
    predicted = predict(evidence, "incremental", Candidate("p", EXPECTED))
    assert predicted.in_tasks == pytest.approx(found.in_tasks)
    assert (predicted.basis, predicted.changed) == ("observed", changed)


def test_a_run_after_nobody_knows_what_tells_least() -> None:
    runs = [after(1, 10, 1.0), after(2, None, 2.0)]
    found = [
        Evidence(runs, changed=changed).nearest(Candidate("p", EXPECTED))
        for changed in (10**9, None)
    ]
    assert found == runs
    assert Evidence(runs, changed=5).nearest(Candidate("unknown", EXPECTED)) is None


def test_a_newer_run_that_was_far_dearer_after_a_smaller_change_tells_more() -> None:
    one = Candidate("p", EXPECTED)
    runs = [after(1, 100_000, 1.0), after(2, 1_000, 9.0), after(3, 10**7, 9.0)]
    assert Evidence(runs, changed=100_000).floor_under(runs[0], one) == runs[1]
    assert Evidence(runs, changed=1_000).nearest(one) == runs[1]
    again = [*runs, after(4, 1_000, 0.1)]
    assert Evidence(again, changed=100_000).floor_under(runs[0], one) is None, "it was the one run"
    assert Evidence(again, changed=1_000).nearest(one) == again[3]
    cheaper = Evidence([*runs[:2], after(4, 10**6, 1.2)], changed=100_000)
    assert cheaper.floor_under(runs[0], one) is None, "a larger change took less"
    for other in ((4, 10, 0.1), (4, 1_000, 5.0), (4, 200, 2.1)):
        more = Evidence([*runs[:2], after(*other)], changed=100_000)
        assert more.floor_under(runs[0], one) == runs[1], "the dearest stands"


def test_a_larger_change_takes_no_less_than_a_smaller_one_did_and_who_knows_how_much_more() -> None:
    """A run that was dear by chance is not taken for so many times the work."""
    large, small = EXPECTED, EXPECTED.times(0.02)
    for seconds, expected, by in ((2.2, 2.2, 3), (1.7, 1.7, 3), (1.5, 0.8, 1)):
        runs = [
            replace(after(1, 600_000, 0.8), expected=large),
            replace(after(2, 600, 0.2), expected=small),
            replace(after(3, 600, seconds), expected=small),
        ]
        evidence, one = Evidence(runs, changed=600_000), Candidate("p", large)
        assert predict(evidence, "incremental", one).in_tasks == pytest.approx(expected)
        told = by_increments(evidence, one)
        assert told is not None
        assert told[0].run == by


def test_as_many_changes_may_lie_close_together_or_anywhere() -> None:
    """Where they reach much, a run tells of those that reached as much, however new the others are."""
    far, near = EXPECTED, EXPECTED.times(0.05)
    runs = [
        replace(after(1, 1_000, 9.0), expected=far),
        replace(after(2, 1_000, 0.5), expected=near),
        replace(after(3, 1_000, 8.0), expected=far),
        replace(after(4, 1_000, 0.4), expected=near),
    ]
    evidence = Evidence(runs, changed=1_100)
    assert evidence.nearest(Candidate("p", far)) == runs[2]
    assert evidence.nearest(Candidate("p", near)) == runs[3]
    assert predict(evidence, "incremental", Candidate("p", far)).in_tasks == pytest.approx(8.0)
    assert predict(evidence, "incremental", Candidate("p", near)).in_tasks == pytest.approx(0.4)
    once = Evidence(runs[:1], changed=1_000)
    assert predict(once, "incremental", Candidate("p", near)).in_tasks == pytest.approx(
        0.3 + 8.7 * 0.05
    )


def test_dear_runs_are_those_after_changes_not_much_larger() -> None:
    """What would have helped a small change says nothing of a large one's run."""
    full = {"text": 1.0, "rebuild": 1.0}
    runs = [
        PastRun(1, "text", "t", EXPECTED, EXPECTED, 1.0, {**full, "incremental": 5.0}, changed=rows)
        for rows in (100, 190, 210, 10_000)
    ]
    assert [len(Evidence(runs, changed=rows).dear("p", 0.5)) for rows in (100, 10_000)] == [2, 4]
    assert len(Evidence(runs).dear("p", 0.5)) == 4, "of how many have come nobody knows"
