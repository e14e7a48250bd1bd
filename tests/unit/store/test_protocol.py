"""The commit protocol holds under every interleaving, and the machine sees where it would not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from slacktide import store as s
from slacktide.common.clock import parse_instant
from slacktide.store.garbage import GRACE
from slacktide.store.layout import FOLDERS
from slacktide.store.naming import named
from tests.harness.protocol import Attempt, Protocol, requirements

TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(stateful_step_count=40)


def by_age(store: s.Store, now: datetime, *, keep_runs: int | None) -> None:
    """A collector that measures from when a file was written, not from when it lost its name."""
    there = set(named(store.world()))
    old = [f.path for f in _listed(store) if parse_instant(f.modified) < now - GRACE]
    store.delete(path for path in old if path not in there)


def without_fence(store: s.Store, now: datetime, *, keep_runs: int | None) -> None:
    """A collector that keeps what was named lately, and tells no run that it was there."""
    point = store.settled(now - GRACE)
    if point is not None:
        there = store.named_since(point.number)
        old = [f.path for f in _listed(store) if parse_instant(f.modified) < point.at]
        store.delete(path for path in old if path not in there)


def looking_once(store: s.Store, now: datetime, *, keep_runs: int | None) -> None:
    """A collector that does not look again after it has moved the collection point."""
    point = store.settled(now - GRACE)
    if point is not None:
        there = store.named_since(point.number)
        old = [f.path for f in _listed(store) if parse_instant(f.modified) < point.at]
        store.commit([s.Collect(point.number)])
        store.delete(path for path in old if path not in there)


def _listed(store: s.Store) -> list[s.ObjectMeta]:
    return [meta for folder in FOLDERS for meta in store.list_objects(folder)]


def without(*kinds: type) -> Any:
    """Writers that do not require something."""

    def required(attempt: Attempt, run: int) -> list[s.Requirement]:
        return [item for item in requirements(attempt, run) if not isinstance(item, kinds)]

    return staticmethod(required)


Step = Callable[[Protocol], object]
Script = list[Step]


def works(who: int, times: int, *, is_full: bool = True, first: int | None = None) -> Script:
    """Some steps of a writer; five bring a run to its commit, a sixth commits.

    One that compacts has two more, and writes what it has merged in these.
    """
    return [lambda machine: machine.work(who, is_full, "well", first)] * times


def discovers(machine: Protocol) -> None:
    machine.discover("well")


def waits(machine: Protocol) -> None:
    machine.wait(GRACE + timedelta(hours=1))


def dies(machine: Protocol) -> None:
    machine.die(0)


def collects(*others: tuple[int, int]) -> Step:
    """A collection; writers work before some of its steps."""
    return lambda machine: machine.gc(None, list(others), None)


RUN = works(0, 6)
LONG_CHAIN = [*RUN, *([discovers, *works(0, 6, is_full=False)] * 3)]
LONG_RUN = [*works(0, 5), waits, discovers, waits]
SCRIPTS: dict[str, list[Script]] = {
    "reads what was replaced": [[*RUN, waits, Protocol.read, *RUN, collects()]],
    "runs for long": [[*LONG_RUN, collects(), *works(0, 1)]],
    "commits during a collection": [[*LONG_RUN, collects((step, 0))] for step in range(20)],
    "two runs at once": [
        [*RUN, discovers, *works(0, 5, is_full=False), *works(1, 6), *works(0, 2)]
    ],
    "reads what was compacted": [
        [*LONG_CHAIN, waits, Protocol.read, *works(0, 8, is_full=False, first=first), collects()]
        for first in (0, 1)
    ],
    "compacts what another extends": [
        [
            *[*LONG_CHAIN, discovers, *works(0, 7, is_full=False, first=first)],
            *[discovers, *works(1, 6, is_full=False), *works(0, 2)],
        ]
        for first in (0, 1)
    ],
    "dies before a compaction is committed": [
        [
            *[*LONG_CHAIN, *works(0, steps, is_full=False, first=0), dies],
            *[waits, discovers, waits, collects(), *works(0, 6, is_full=False)],
        ]
        for steps in range(1, 8)
    ],
    "reset during a run": [[discovers, *works(0, 5), Protocol.reset, *works(0, 1)]],
}
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("by age", {"collect": staticmethod(by_age)}, "reads what was replaced"),
    ("without fence", {"collect": staticmethod(without_fence)}, "runs for long"),
    ("looking once", {"collect": staticmethod(looking_once)}, "commits during a collection"),
    ("no collections", {"requirements": without(s.NotCollected)}, "runs for long"),
    ("no other runs", {"requirements": without(s.ChainIs, s.ViewIs)}, "two runs at once"),
    ("by age, compacted", {"collect": staticmethod(by_age)}, "reads what was compacted"),
    (
        "no other runs, compacted",
        {"requirements": without(s.ChainIs, s.ViewIs)},
        "compacts what another extends",
    ),
    ("no resets", {"requirements": without(s.SourceIs, s.ViewIs)}, "reset during a run"),
]


def play(machine: Protocol, script: Script) -> None:
    """Let a machine do what a script says, and look at the invariants after every step."""
    machine.create()
    try:
        for step in script:
            step(machine)
            machine.all_hold()
    finally:
        machine.folder.cleanup()


def play_all(machine: Callable[[], Protocol], script: str) -> None:
    """Play all variants of a script."""
    for steps in SCRIPTS[script]:
        play(machine(), steps)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_protocol_holds(script: str) -> None:
    play_all(Protocol, script)


@pytest.mark.parametrize(
    ("change", "script"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_a_broken_protocol_is_caught(change: dict[str, Any], script: str) -> None:
    broken = type("Broken", (Protocol,), change)
    with pytest.raises(AssertionError):
        play_all(broken, script)


def test_a_collector_that_removes_too_much_is_found_by_search() -> None:
    broken = seed(1)(type("Broken", (Protocol,), {"collect": staticmethod(by_age)}))
    plainly = settings(
        TestProtocol.settings, max_examples=400, phases=[Phase.generate], database=None
    )
    with pytest.raises((AssertionError, ExceptionGroup)):
        run_state_machine_as_test(broken, settings=plainly)
