"""What a full run is expected to take by what others took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide.optimizer.costs import DEFAULTS, Candidate, Evidence, PastRun, Vector, predict


def test_what_building_a_join_took_is_none_of_what_the_states_take() -> None:
    work = Vector(rows_read=1e6)
    states, text = Candidate("states", work), Candidate("text", work)
    built = PastRun(1, "rebuild", "states", work, work, 9.0, joins={"states/j": 4.0})
    known = Evidence([built])
    assert predict(known, "rebuild", states, text).in_tasks == 5.0
    assert predict(known, "text", text, states).in_tasks == 5.0
    assert (known.last_build_of("states/j"), known.last_build_of("states/k")) == (4.0, None)
    assert known.spent_since(0) >= 9.0
    outside = DEFAULTS.outside(work) - DEFAULTS.outside(Vector(jobs=1, plans=1))
    assert predict(known, "rebuild", states).outside == max(outside, 0.0)
    dearer = replace(built, run=2, joins={"states/j": 12.0})
    assert predict(Evidence([dearer]), "rebuild", states).in_tasks == 0.0, "never less than nothing"
    assert Evidence([built, dearer]).last_build_of("states/j") == 12.0


def test_who_merges_no_rows_has_the_jobs_of_who_merged_none() -> None:
    """Q16: the answer alone had merged rows, in twelve jobs; the states had been built without, in six."""
    text, rebuild = Candidate("text", Vector()), Candidate("states", Vector())
    many, few = Vector(jobs=12), Vector(jobs=6)
    runs = [
        PastRun(1, "text", "text", Vector(), many, 1.06),
        PastRun(2, "rebuild", "states", Vector(), few, 1.08, merges=False),
    ]
    plain = Evidence(runs, merges=False)
    found = predict(plain, "text", text, rebuild)
    assert (found.in_tasks, found.outside) == (1.08, DEFAULTS.outside(few))
    assert found.price == predict(plain, "rebuild", rebuild, text).price
    assert predict(Evidence(runs), "text", text, rebuild).outside == DEFAULTS.outside(many)


REBUILD, TEXT = Candidate("states", Vector(rows_read=4e6)), Candidate("text", Vector(rows_read=3e6))


def built(run: int, seconds: float, *, merges: bool = True) -> PastRun:
    return PastRun(run, "rebuild", "states", REBUILD.work, REBUILD.work, seconds, merges=merges)


def alone(run: int, seconds: float, *, merges: bool = True) -> PastRun:
    return PastRun(run, "text", "text", TEXT.work, TEXT.work, seconds, merges=merges)


def building(*runs: PastRun, merges: bool = False) -> float:
    return predict(Evidence(runs, merges=merges), "rebuild", REBUILD, TEXT).in_tasks


def test_states_cost_more_than_the_answer_alone_by_what_they_took_more() -> None:
    """Q13: over merged rows the answer took 3.2 s and its states 5.4 s; the answer alone takes 1.6 s over others."""
    seen = [alone(1, 3.2), built(2, 5.4), alone(3, 1.6, merges=False)]
    assert building(*seen) == pytest.approx(1.6 + 2.2)
    assert building(*seen[::2]) == pytest.approx(1.6), (
        "nobody has seen more, which one build finds out"
    )
    assert building(seen[2], *seen[1:], built(4, 4.0, merges=False)) == pytest.approx(4.0)
    others = [*seen, built(4, 4.0, merges=False), alone(5, 1.7, merges=False)]
    assert building(*others, merges=True) == pytest.approx(5.4), "as it took over such mirrors"


def test_one_run_that_was_dear_is_not_taken_for_what_states_cost() -> None:
    runs = [
        alone(1, 3.0),
        built(2, 4.0),
        built(3, 4.2),
        built(4, 19.0),
        alone(5, 1.0, merges=False),
    ]
    assert building(*runs) == pytest.approx(1.0 + 1.2)
    cheaper = [alone(1, 3.0), built(2, 2.5), alone(3, 1.0, merges=False)]
    assert building(*cheaper) == pytest.approx(1.0), "never less than the answer alone"


def test_the_answer_alone_takes_its_share_of_building_once_it_has_ever_run() -> None:
    """Q16: it had run over merged rows; over others its states alone were known, so that it never ran there."""
    known = [alone(1, 3.0), built(2, 1.2, merges=False)]
    other = Candidate("other", TEXT.work)

    def priced(*runs: PastRun) -> float:
        evidence = Evidence(runs, merges=False)
        return predict(evidence, "text", other, REBUILD, TEXT).in_tasks

    assert priced(*known) == pytest.approx(1.2 * 3 / 4)
    assert priced(*known[1:]) == pytest.approx(1.2), "until it has run it costs what building does"
