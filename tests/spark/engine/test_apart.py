"""Answers that were made by the author's text beside states of their versions, which another query has made."""

from __future__ import annotations

import pytest

from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

LISTS = """
SELECT g.k, g.xs, u.name AS name
FROM (SELECT k, collect_list(d) AS xs FROM t GROUP BY k) g JOIN u ON g.k = u.k
"""
OTHERS = LISTS.replace("u.", "w.").replace("JOIN u", "JOIN w")


@pytest.fixture
def shared(lab: Lab) -> Lab:
    """Two views above one grouping, each with a source of its own."""
    lab.source("t", "k INT, d DOUBLE", *((number % 3, float(number)) for number in range(150)))
    lab.source("u", "k INT, name STRING", (1, "n"))
    lab.source("w", "k INT, name STRING", (1, "n"))
    lab.view("v", LISTS)
    lab.view("other", OTHERS)
    lab.refresh()
    assert not is_apart(lab)
    return lab


def is_apart(lab: Lab, name: str = "v") -> bool:
    """Whether an answer goes with other states than those that are there."""
    world = lab.ws._store.world()
    record = world.views[name]
    origins = {c.id: c.origin for c in world.chains.values() if c.id in record.states}
    return record.origins != origins


def names(lab: Lab) -> list[tuple[object, ...]]:
    """Keys and names of the answer, whose lists have all values, in whatever order."""
    rows = lab.read("v")
    for key, values, _ in rows:
        assert sorted(values) == sorted(value for k, value in lab.rows["t"] if k == key)
    return sorted((key, name) for key, _, name in rows)


def test_an_answer_of_the_text_is_made_anew_before_increments_go_on(shared: Lab) -> None:
    """They would take away lists as the state has them, and the answer has them in another order."""
    lab = shared
    lab.ws.replace_view(lab.spark, "v", LISTS, policy="full")
    lab.land("u", insert=[(2, "m")])
    assert lab.refresh().views["v"].method == "full"
    lab.ws.replace_view(lab.spark, "v", LISTS, policy="incremental")
    assert is_apart(lab)
    assert lab.refresh().views["v"].method == "unchanged"
    lab.land("t", insert=[(1, 9.9)])
    told = lab.refresh().views["v"]
    assert (told.method, told.reasons) == (
        "full",
        ("STATE_MISSING(states that the answer was made from)", "STATES_KEPT"),
    )
    assert names(lab) == [(1, "n"), (2, "m")]
    assert not is_apart(lab)
    lab.land("t", insert=[(2, 9.9)], delete=[(1, 9.9)])
    assert lab.refresh().views["v"].method == "incremental"
    assert names(lab) == [(1, "n"), (2, "m")]


def test_a_state_that_another_view_makes_anew_parts_the_answers_above_it(shared: Lab) -> None:
    """They are made from it once, and part no other answer by that."""
    lab = shared
    for file in lab.files("states"):
        file.unlink()
    lab.land("w", insert=[(2, "m")])
    report = lab.refresh()
    assert (report.views["v"].method, report.views["other"].method) == ("unchanged", "full")
    assert (is_apart(lab, "v"), is_apart(lab, "other")) == (True, False)
    lab.land("u", insert=[(2, "m")])
    assert lab.refresh().views["v"].method == "full"
    assert names(lab) == [(1, "n"), (2, "m")]
    assert (is_apart(lab, "v"), is_apart(lab, "other")) == (False, False)
    for source, view in (("w", "other"), ("u", "v"), ("w", "other")):
        lab.land(source, insert=[(0, "o")])
        assert lab.refresh().views[view].method == "incremental"
    assert names(lab) == [(0, "o"), (1, "n"), (2, "m")]


COUNTED = """
SELECT k, xs, count(*) AS n FROM (SELECT k, collect_list(d) AS xs FROM t WHERE k IS NOT NULL GROUP BY k)
GROUP BY k, xs
"""


def test_a_state_above_one_that_was_made_anew_is_made_anew_from_it(lab: Lab) -> None:
    """It would be asked to take away lists as they are now, and counts them as they were."""
    lab.source("t", "k INT, d DOUBLE", *((number % 3, float(number)) for number in range(60)))
    lab.source("w", "k INT, name STRING", (1, "n"))
    lab.view("counted", COUNTED)
    lab.view("other", OTHERS)
    lab.refresh()
    for number in (60, 61, 62):  # lists in an order in which no other query has them
        lab.land("t", insert=[(number % 3, float(number))], delete=[(number % 3, number - 60.0)])
        assert lab.refresh().views["counted"].method == "incremental"
    world = lab.ws._store.world()
    for state in {*world.views["other"].states} & {*world.views["counted"].states}:
        pieces = (world.chains[state].base, *world.chains[state].segments)
        for file in (file for piece in pieces if piece for file in piece.files):
            (lab.root / "workspace" / file.path).unlink()
    lab.land("w", insert=[(2, "m")])
    report = lab.refresh()
    assert (report.views["counted"].method, report.views["other"].method) == ("unchanged", "full")
    lab.land("t", insert=[(1, 99.0)])
    told = lab.refresh().views["counted"]
    assert (told.method, told.reasons[-1]) == ("full", "STATES_KEPT")
    now = lab.ws._store.world()
    (above,) = {*now.views["counted"].states} - {*now.views["other"].states}
    assert now.chains[above].origin == now.next_run - 1
    below = now.chains[above].over
    assert below
    assert below == {one: now.chains[one].origin for one in below}
    for _ in range(2):
        expected = sorted(sorted(d for k, d in lab.rows["t"] if k == key) for key in range(3))
        found = [(sorted(values), number) for _, values, number in lab.read("counted")]
        assert sorted(found) == [(values, 1) for values in expected]
        lab.land("t", insert=[(2, 98.0)], delete=[(2, 5.0)])
        assert lab.refresh().views["counted"].method == "incremental"
        lab.land("t", insert=[(2, 5.0)])
        lab.refresh()
