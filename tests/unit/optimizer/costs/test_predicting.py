"""What a full run is expected to take by what others took."""

from __future__ import annotations

from dataclasses import replace

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
