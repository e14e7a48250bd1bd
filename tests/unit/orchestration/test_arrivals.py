"""The one decision behind sensor and trigger, and the trigger itself."""

from __future__ import annotations

import asyncio
import importlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.errors import SetupError, StorageError, UnknownObjectError
from slacktide.orchestration import arrivals, trigger
from slacktide.orchestration.arrivals import Sight, decide, judge
from slacktide.orchestration.trigger import DeltaArrivalTrigger
from slacktide.orchestration.variable import WorkspaceConfig

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PATIENCE = timedelta(minutes=10)
SHOP = WorkspaceConfig(
    "shop", root="/x", declarations={"sources": {"orders": {}}, "views": {"revenue": {}}}
)


def status(version=1, views=("revenue",), sources=("orders",)):
    return {
        "sources": {name: {"version": version} for name in sources},
        "views": {name: {"versions": {"orders": version}} for name in views},
    }


def step(sight, memory, minutes=0):
    return decide([sight], memory, now=NOW + timedelta(minutes=minutes), patience=PATIENCE)


def test_an_arrival_calls():
    sight = judge(SHOP, status(), {"orders": 2})
    assert sight.calls
    assert sight.reason == "arrived 2 of orders"
    assert step(sight, {}).ready == ("shop",)


def test_arrivals_that_no_view_waits_for_do_not_call():
    assert not judge(replace(SHOP, declarations={}), status(views=()), {"orders": 2}).calls


def test_a_store_that_cannot_be_reached_is_the_same_whatever_it_says_of_time():
    marks = {
        arrivals._broken(SHOP, SetupError(f"/x needs credentials: 401 in {ms} ms")).mark
        for ms in (1.23, 4.56)
    }
    assert len(marks) == 1


def test_a_sink_that_lacks_its_answer_calls():
    told = status()
    told["views"]["revenue"]["sink"] = {"path": "/out", "run": 1, "behind": True, "error": None}
    sight = judge(SHOP, told, {})
    assert sight.reason == "the sinks of revenue lack their answers"
    memory = step(sight, {}).memory
    assert step(sight, memory, minutes=1).ready == ()
    for state in ({"behind": False}, {"behind": True, "error": {"message": "no access"}}):
        told["views"]["revenue"]["sink"] = {"path": "/out", "run": 1, "error": None, **state}
        assert not judge(SHOP, told, {}).calls


def test_nothing_new_does_not_call():
    assert step(judge(SHOP, status(), {}), {}).ready == ()


def test_what_is_declared_and_not_there_calls():
    sight = judge(SHOP, status(views=()), {})
    assert sight.reason == "view revenue declared and not there yet"
    assert judge(SHOP, status(sources=(), views=()), {}).reason.startswith(
        "source orders, view revenue"
    )


def test_the_same_sight_waits_for_patience_and_then_calls_again():
    sight = judge(SHOP, status(), {"orders": 1})
    memory = step(sight, {}).memory
    assert step(sight, memory, minutes=9).ready == ()
    again = step(sight, memory, minutes=10)
    assert again.ready == ("shop",)
    assert step(sight, again.memory, minutes=19).ready == ()


def test_whatever_moves_calls_at_once():
    memory = step(judge(SHOP, status(), {"orders": 1}), {}).memory
    for moved in (
        judge(SHOP, status(version=2), {"orders": 1}),
        judge(SHOP, status(), {"orders": 2}),
        judge(SHOP, status(views=()), {"orders": 1}),
        judge(WorkspaceConfig("shop", root="/y"), status(), {"orders": 1}),
    ):
        assert step(moved, memory, minutes=1).ready == ("shop",)


def test_a_declaration_that_is_changed_calls_once():
    memory = step(judge(SHOP, status(), {"orders": 1}), {}).memory
    edited = judge(replace(SHOP, declarations={**SHOP.declarations, "apply": True}), status(), {})
    decision = step(edited, memory, minutes=1)
    assert decision.reasons == ("shop: what the Variable says of it was changed",)
    assert step(edited, decision.memory, minutes=60).ready == ()
    assert step(edited, {}).ready == (), "nobody knows what it was"
    other = WorkspaceConfig(
        "shop", root="/x", declarations=dict(sorted(SHOP.declarations.items(), reverse=True))
    )
    assert step(judge(other, status(), {}), memory, minutes=1).ready == (), "in another order"


def test_what_a_run_did_not_change_as_it_failed_calls_again_after_patience():
    sight = judge(SHOP, status(), {}, ["view revenue"])
    assert sight.reason == "view revenue declared otherwise"
    memory = step(sight, {}).memory
    assert step(sight, memory, minutes=9).ready == ()
    assert step(sight, memory, minutes=10).ready == ("shop",)
    assert step(judge(SHOP, status(), {}), memory, minutes=60).ready == ()


def test_what_is_seen_beside_a_call_is_remembered_as_it_was_declared():
    quiet = judge(replace(SHOP, name="b"), status(), {})
    memory = decide(
        [judge(SHOP, status(), {"orders": 1}), quiet], {}, now=NOW, patience=PATIENCE
    ).memory
    edited = judge(replace(SHOP, name="b", declarations={}), status(), {})
    assert step(edited, memory, minutes=1).ready == ("b",)
    assert step(judge(replace(SHOP, name="b"), status(), {"orders": 1}), memory).ready == ("b",)


def test_one_workspace_does_not_hide_another():
    busy, quiet = Sight("a", True, "r", "m"), Sight("b", False, "", "m")
    first = decide([busy, quiet], {}, now=NOW, patience=PATIENCE)
    assert first.ready == ("a",)
    woken = Sight("b", True, "r", "n")
    second = decide([busy, woken], first.memory, now=NOW, patience=PATIENCE)
    assert second.ready == ("b",)
    assert set(second.memory) == {"a", "b"}


sights = st.lists(
    st.builds(Sight, st.sampled_from("abc"), st.booleans(), st.just("r"), st.sampled_from("xyz")),
    unique_by=lambda sight: sight.workspace,
)


@given(sights, sights)
def test_decisions_are_sound_whatever_is_seen(first, second):
    before = decide(first, {}, now=NOW, patience=PATIENCE)
    assert set(before.ready) == {sight.workspace for sight in first if sight.calls}
    memory = json.loads(json.dumps(before.memory))
    soon = decide(second, memory, now=NOW + timedelta(minutes=1), patience=PATIENCE)
    late = decide(second, memory, now=NOW + timedelta(hours=1), patience=PATIENCE)
    assert set(soon.ready) <= set(late.ready) == {s.workspace for s in second if s.calls}
    assert all(
        memory[name]["mark"] != soon.memory[name]["mark"] for name in soon.ready if name in memory
    )


GIVEN = {
    "workspaces": ["shop"],
    "slacktide_conn_id": None,
    "variable": "other",
    "poll_interval": 3.0,
    "patience": 60.0,
    "memory": {"shop": {"mark": "ab", "at": "2026-11-21T12:00:00Z"}},
    "deadline": "2099-01-01T00:00:00Z",
}


@pytest.mark.parametrize("given_", [{}, GIVEN], ids=["defaults", "all"])
def test_a_trigger_survives_being_stored(given_):
    path, kwargs = DeltaArrivalTrigger(**given_).serialize()
    module, _, name = path.rpartition(".")
    again = getattr(importlib.import_module(module), name)(**json.loads(json.dumps(kwargs)))
    assert again.serialize() == (path, kwargs)
    assert {name: kwargs[name] for name in given_} == given_


def fire(**given_):
    async def first():
        events = [event async for event in DeltaArrivalTrigger(poll_interval=0, **given_).run()]
        assert len(events) == 1
        return json.loads(json.dumps(events[0].payload))

    return asyncio.run(first(), debug=True)


class Looks:
    """Stands for `Watch`: every look gives, or raises, the next of a list."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, *_):
        return self

    def look(self):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_the_trigger_fires_when_something_calls(monkeypatch):
    quiet, busy = Sight("shop", False, "", "m"), Sight("shop", True, "arrived", "n")
    monkeypatch.setattr(trigger, "Watch", Looks([quiet], [quiet], [busy]))
    event = fire()
    assert (event["status"], event["ready"], event["reasons"]) == (
        "ready",
        ["shop"],
        ["shop: arrived"],
    )
    assert event["memory"]["shop"]["mark"] == "n"


def test_a_store_that_does_not_answer_is_looked_at_again(monkeypatch, caplog):
    """Whatever other workspaces do; the log says so."""
    busy, answers = Sight("shop", True, "arrived", "n"), [StorageError("no answer"), None]

    def observed(config):
        if config.name == "shop" and (error := answers.pop(0)):
            raise error
        return replace(busy, workspace=config.name, calls=config.name == "shop")

    both = {name: replace(SHOP, name=name) for name in ("shop", "other")}
    monkeypatch.setattr(arrivals, "observe", observed)
    monkeypatch.setattr(arrivals, "configured", lambda _: both)
    assert fire()["ready"] == ["shop"]
    assert not answers
    (warning,) = caplog.records
    assert "the store of shop did not answer" in warning.getMessage()


def test_the_trigger_ends_with_an_event_whatever_happens(monkeypatch):
    monkeypatch.setattr(trigger, "Watch", Looks(UnknownObjectError("no workspace shop")))
    assert fire() == {"status": "error", "message": "UNKNOWN_OBJECT: no workspace shop"}
    monkeypatch.setattr(trigger, "Watch", Looks(RuntimeError("defect")))
    assert fire() == {"status": "error", "message": "RuntimeError: defect"}
    assert fire(deadline="2020-01-01T00:00:00Z")["status"] == "timeout"


def test_a_broken_workspace_calls_so_that_its_run_shows_why(monkeypatch):
    def fail(config):
        raise UnknownObjectError("nothing there", hint="make it")

    monkeypatch.setattr(arrivals, "open_workspace", fail)
    sight = arrivals.observe(SHOP)
    assert sight.calls
    assert sight.reason == "UNKNOWN_OBJECT: nothing there (make it)"
