"""Answers that may not follow from the states of their versions: a query of its own has made them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slacktide import store as s
from slacktide.algebra import relation as r
from slacktide.algebra import scalar as sc
from slacktide.algebra.scalar import SortKey
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.engine.planning.plan_making import make_plan
from slacktide.engine.planning.staleness import stale
from slacktide.optimizer.programs.determinacy import are_states_determined
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.upkeep import state_sources, undetermined_states
from slacktide.program.operator import Save
from slacktide.store.update import CreateWorkspace

NOW = "2026-01-01T00:00:00.000000Z"
JOINED = (
    "join inner on (#3 = #5)\n"
    "  aggregate key=[#3:INT! := #1] [s#4:{type} := {measure}]\n    scan a [k#1:INT!, v#2:{of}!]\n"
    "  scan b [k#5:INT!, w#6:INT!]\n"
)
EXACT = JOINED.format(type="BIGINT", measure="sum(#2)", of="INT")
DOUBLES = JOINED.format(type="DOUBLE", measure="sum(#2)", of="DOUBLE")
ANY = JOINED.format(type="INT", measure="first(#2):INT", of="INT")


def world(text: str, origin: int | None) -> s.World:
    """A view and its states, of run 1, at the first version of `a` and `b`, of which more has come.

    Args:
        text: of the view.
        origin: of the states that its answer goes with; 0 of one without states, None where nobody has noted any.
    """
    relation = from_text(text)
    view = ReadView(relation, relation.columns, sources=sources(relation))
    at = {"a": 1, "b": 1}
    kept = state_sources(view)
    types = {"k": "INT", "v": "DOUBLE" if "DOUBLE" in text else "INT", "w": "INT"}
    updates: list[s.Update] = []
    for name, columns in (("a", "kv"), ("b", "kw")):
        pins = [s.PinnedFile(f"/in/{name}/{n}", rows, "m") for n, rows in enumerate((1000, 1))]
        taken = [s.Arrival((pin,), pin.size, pin.size, NOW, 0) for pin in pins]
        schema = tuple({"name": c, "type": types[c], "nullable": False} for c in columns)
        updates += [s.AddSource(name, "files", {"path": f"/in/{name}"}, schema)]
        updates += [s.AcceptArrivals(name, taken)]
    updates += [
        s.AddView("v", "SELECT 1", {}, {}, view.to_dict(), states=(*kept,)),
        s.AdvanceView(
            "v",
            at,
            1,
            origins=None if origin is None else dict.fromkeys(kept, origin) if origin else {},
        ),
        s.SetChain(s.Chain("views/v", (), s.Segment(1, (), 10, 100, at))),
    ]
    for chain, of in kept.items():
        versions = dict.fromkeys(of, 1)
        updates.append(
            s.SetChain(s.Chain(chain, (), s.Segment(1, (), 10, 100, versions), origin=1))
        )
    return s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, updates)])


@pytest.mark.parametrize("text", [DOUBLES, ANY], ids=["doubles", "any value"])
def test_an_answer_that_was_made_without_its_states_is_made_anew_from_them(text: str) -> None:
    for origin in (None, 1):
        (plan,) = make_plan(world(text, origin), now=NOW).views
        assert plan.method == "incremental"
    for origin in (0, 2):
        (plan,) = make_plan(world(text, origin), now=NOW).views
        reasons = [str(reason) for reason in plan.reasons]
        assert (plan.method, reasons) == (
            "full",
            ["STATE_MISSING(states that the answer was made from)", "STATES_KEPT"],
        )
        assert plan.program is not None
        assert not any(save.is_base for save in of_type(plan.program, Save)), "no other view minds"


def test_what_follows_from_rows_alone_goes_on_from_its_states() -> None:
    (plan,) = make_plan(world(EXACT, 0), now=NOW).views
    assert plan.method == "incremental"


def test_averages_that_spark_adds_up_as_doubles_do_not_follow_from_rows() -> None:
    text = JOINED.format(type="DOUBLE", measure="avg(#2)", of="INT")
    (plan,) = make_plan(world(text, 0), now=NOW).views
    assert plan.method == "full"


SCAN = from_text("scan a [k#1:INT!, v#2:INT!]\n")
KEY, VALUE = map(sc.reference, SCAN.columns)
FIRST = SortKey(VALUE, ascending=True, nulls_first=True)


def above(rel: r.Rel) -> bool:
    """Whether what is stored of a relation, which is not the answer, follows from rows alone."""
    return are_states_determined(
        Maintainability(r.Filter(rel, sc.Call("isnotnull", (KEY,), "BOOLEAN", nullable=False)))
    )


def window(function: str) -> r.Rel:
    call = sc.Call(function, (), "INT", nullable=False)
    column = sc.Column(3, "n", "INT", nullable=False)
    return r.Window(SCAN, (KEY,), (FIRST,), (sc.WindowCall(column, call, ""),))


def test_ranks_follow_from_rows_and_numbers_of_rows_do_not() -> None:
    assert above(window("rank"))
    assert not above(window("row_number"))
    assert are_states_determined(Maintainability(window("row_number"))), (
        "the answer is stored itself"
    )


def test_of_ties_a_limit_takes_any() -> None:
    assert not above(r.Limit(r.Sort(SCAN, (FIRST,)), 3))


def test_a_plan_is_stale_once_a_state_was_made_anew_at_the_same_versions() -> None:
    for text, moved in ((DOUBLES, True), (ANY, True), (EXACT, False)):
        before = world(text, 1)
        plan = make_plan(before, now=NOW)
        assert stale(before, plan) == ""
        states = [chain for chain in before.chains.values() if chain.origin]
        after = [s.SetChain(replace(chain, origin=2)) for chain in states]
        found = stale(s.fold(before, [(2, after)]), plan)
        assert found.endswith(", which was made anew") is moved, text
        assert bool(found) is moved


STACKED = (
    "join inner on (#7 = #5)\n"
    "  aggregate key=[#7:INT := #4] [n#8:BIGINT! := count()]\n"
    "    aggregate key=[#3:INT! := #1] [f#4:INT := first(#2):INT]\n"
    "      scan a [k#1:INT!, v#2:INT!]\n"
    "  scan b [k#5:INT!, w#6:INT!]\n"
)


def test_a_state_goes_with_those_below_it_that_it_was_made_from() -> None:
    before = world(STACKED, 1)
    below = undetermined_states(ReadView.from_dict(before.views["v"].definition))
    top = max(below, key=lambda chain: len(below[chain]))
    assert below[top]
    first = s.SetChain(replace(before.chains[top], over=dict.fromkeys(below[top], 1)))
    noted = s.fold(before, [(2, [first])])
    assert make_plan(noted, now=NOW).views[0].method == "incremental"
    anew = [s.SetChain(replace(noted.chains[chain], origin=2)) for chain in below[top]]
    (plan,) = make_plan(s.fold(noted, [(3, anew)]), now=NOW).views
    assert (plan.method, str(plan.reasons[-1])) == ("full", "STATES_KEPT")
    assert plan.program is not None
    written = {save.chain: save.is_base for save in of_type(plan.program, Save)}
    assert written[top], "it is made from what is there below it"
    assert not any(written[chain] for chain in below[top] & written.keys()), "no other view minds"
    assert {plan.origins[chain] for chain in below[top]} == {2}


def test_what_follows_from_rows_alone_stands_on_whatever_is_there() -> None:
    view = from_text(STACKED.replace("first(", "max("))
    assert undetermined_states(ReadView(view, view.columns, sources=sources(view))) == {}
