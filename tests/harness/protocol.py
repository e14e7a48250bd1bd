"""The commit protocol as a machine that a property test drives, over the real store.

Writers refresh one view step by step, and some compact its chains in the same commit; each of them
may stop or die anywhere, and begins anew with the same plan. Meanwhile arrivals come, readers open the workspace, checkpoints are written and lost,
time goes by and a collector collects, with others at work between any two of its own steps. The
invariants are those of ``provider/docs/design/store.md``.

A file holds the versions it leads from and to, so that a chain shows whether an update was lost or
came twice.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from slacktide import store as s
from slacktide.common.digest import digest_of
from slacktide.errors import CommitConflictError, StorageError
from slacktide.store.checkpoint import Checkpoints
from slacktide.store.entry import decode_entry
from slacktide.store.garbage import GRACE, collect
from slacktide.store.layout import FOLDERS
from slacktide.store.naming import named, segments, with_merged
from tests.harness.objects import FaultyObjects, Killed, SetClock, StampedObjects, arrival, lost

STATE, ANSWER, CHANGES = "states/s", "views/v", "changes/v"
MOODS = ("well", "well", "dies before", "dies after", "answer lost")
SPANS = (timedelta(seconds=1), timedelta(hours=1), GRACE / 2, GRACE + timedelta(hours=1))


class MoodyObjects(FaultyObjects):
    """Objects whose next conditional write may kill its caller, or lose its answer."""

    mood = "well"

    def put_if_absent(self, key: str, data: bytes) -> bool:
        mood, self.mood = self.mood, "well"
        if mood == "dies before":
            raise Killed
        is_ours = super().put_if_absent(key, data)
        if mood == "dies after":
            raise Killed
        if mood == "answer lost":
            raise lost()
        return is_ours


class Attempt:
    """One attempt of a refresh; `steps` does its work up to the next point of interruption."""

    def __init__(
        self,
        machine: Protocol,
        plan_id: str,
        name: str,
        *,
        is_full: bool,
        first: int | None = None,
    ) -> None:
        self.plan_id = plan_id
        self.objects = MoodyObjects(machine.objects)
        self._store = machine.opened(self.objects)
        self.world = self._store.world()
        self.written: dict[str, s.Segment] = {}
        self.merged: dict[str, s.Segment] = {}
        self._first = first
        self.is_full = is_full or self.world.views["v"].versions is None
        self._name = name
        self._place = digest_of(name).hex()
        self._requirements = machine.requirements
        self.steps = self._steps()

    def _steps(self) -> Iterator[str]:
        for chain in (STATE, ANSWER, CHANGES):
            self._write(chain)
            yield "wrote"
        for chain in (STATE, ANSWER):
            if self._first is not None and not self.is_base(chain):
                self._merge(chain, self._first)
                yield "merged"
        while self.plan_id not in self._store.world().plans:
            run = self._store.world().next_run
            yield "about to commit"
            try:
                self._store.commit(self._updates(run), self._requirements(self, run))
            except CommitConflictError:
                if self._store.world().next_run == run:
                    return

    def _write(self, chain: str) -> None:
        before = self.world.views["v"].versions or {"t": 0}
        after = {"t": self.world.sources["t"].version}
        start = 0 if self.is_base(chain) else before["t"]
        content = f"{start} {after['t']}".encode()
        path = f"{chain}/{self._place}/piece/part"
        self._store.write_bytes(path, content)
        self.written[chain] = s.Segment(
            self._name, (s.StoredFile(path, len(content)),), 1, 1, after
        )

    def _merge(self, chain: str, first: int) -> None:
        """Write the pieces of a chain from one on as one, where there are several."""
        pieces = list(segments(self.world.chains[chain]))[first:]
        if len(pieces) < 2:
            return
        read = [self.objects.get(file.path) or b"" for s in pieces for file in s.files]
        content = b" ".join((read[0].split()[0], read[-1].split()[1]))
        path = f"{chain}/{self._place}/merged/part"
        self._store.write_bytes(path, content)
        self.merged[chain] = s.Segment(
            self._name, (s.StoredFile(path, len(content)),), 1, 1, pieces[-1].versions
        )

    def is_base(self, chain: str) -> bool:
        """Whether the attempt writes a chain anew."""
        return self.is_full and chain != CHANGES

    def _updates(self, run: int) -> list[s.Update]:
        updates: list[s.Update] = [
            s.SetChain(with_merged(self.world.chains[chain], self._first or 0, merged))
            for chain, merged in self.merged.items()
        ]
        for chain, written in self.written.items():
            segment = replace(written, run=run)
            if self.is_base(chain):
                updates.append(s.SetChain(s.Chain(chain, (), segment)))
            elif chain in self.world.chains:
                updates.append(s.ExtendChain(chain, segment))
            else:
                updates.append(s.SetChain(s.Chain(chain, (), None, (segment,))))
        versions = self.written[ANSWER].versions
        return [
            *updates,
            s.AdvanceView("v", versions, run),
            s.RecordRun(run, self.plan_id, {}),
        ]

    @property
    def needs(self) -> set[str]:
        """The files that the attempt may read, or name when it commits."""
        written = [*self.written.values(), *self.merged.values()]
        own = {file.path for segment in written for file in segment.files}
        return {*named(self.world), *own}


def requirements(attempt: Attempt, run: int) -> list[s.Requirement]:
    """What a refresh requires, as `slacktide.engine.running.committing` has it."""
    world = attempt.world
    chains = {chain: world.chains.get(chain) for chain in attempt.written}
    return [
        s.PlanOpen(attempt.plan_id),
        s.NotCollected(world.number),
        s.SourceIs("t", world.sources["t"].epoch),
        s.SkippedAre("t", tuple(sorted(world.sources["t"].skipped))),
        s.ViewIs("v", world.views["v"].token),
        *(
            s.ChainIs(name, None if chain is None else chain.token)
            for name, chain in chains.items()
        ),
        s.RunFree(run),
    ]


class Protocol(RuleBasedStateMachine):
    """Two writers, readers, discoveries, checkpoints and a collector on one workspace."""

    collect: Callable[..., Any] = staticmethod(collect)
    requirements: Callable[[Attempt, int], list[s.Requirement]] = staticmethod(requirements)

    @initialize()
    def create(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = SetClock()
        address = s.parse_address(self.folder.name)
        self.objects = StampedObjects(s.connect(address), self.clock)
        store = s.Store.create("unused", settings={}, clock=self.clock, objects=self.objects)
        store.commit([s.AddSource("t", "files", {"path": "/in"}, ()), _view()])
        self.attempts: list[Attempt | None] = [None, None]
        self.plans = ["plan 0 of 0", "plan 0 of 1"]
        self.readers: list[tuple[datetime, s.World]] = []
        self.entries: dict[str, bytes] = {}
        self.count = 0

    def opened(self, objects: s.Objects | None = None) -> s.Store:
        """The workspace as another process opens it."""
        return s.Store.open("unused", clock=self.clock, objects=objects or self.objects)

    # -------------------------------------------------------------------- rules

    @rule(
        who=st.integers(0, 1),
        is_full=st.booleans(),
        mood=st.sampled_from(MOODS),
        first=st.none() | st.integers(0, 1),
    )
    def work(self, who: int, is_full: bool, mood: str, first: int | None = None) -> None:
        """Let a writer do its next step; one that begins may compact chains from a piece on."""
        attempt = self.attempts[who]
        if attempt is None:
            self.count += 1
            name = f"attempt {self.count}"
            self.attempts[who] = Attempt(self, self.plans[who], name, is_full=is_full, first=first)
            return
        attempt.objects.mood = mood
        try:
            next(attempt.steps)
        except (StopIteration, Killed, StorageError):
            self._ended(who)
        else:
            attempt.objects.mood = "well"

    def _ended(self, who: int) -> None:
        self.attempts[who] = None
        if self.plans[who] in self.opened().world().plans:
            self.plans[who] = f"plan {self.count} of {who}"

    @rule(who=st.integers(0, 1))
    def die(self, who: int) -> None:
        """Let a writer die between two steps."""
        self.attempts[who] = None

    @rule(mood=st.sampled_from(MOODS))
    def discover(self, mood: str) -> None:
        """Accept an arrival."""
        objects = MoodyObjects(self.objects)
        store = self.opened(objects)
        source = store.world().sources["t"]
        objects.mood = mood
        with contextlib.suppress(Killed):
            store.commit(
                [s.AcceptArrivals("t", [arrival(f"{source.version}")])],
                [s.SourceIs("t", source.epoch), s.SourceArrivals("t", source.version)],
            )

    @rule()
    def reset(self) -> None:
        """Forget the history of the source."""
        self.opened().commit([s.ResetSource("t")])

    @rule()
    def read(self) -> None:
        """Open the workspace, to read what it names later."""
        self.readers.append((self.clock.now, self.opened().world()))

    @rule(span=st.sampled_from(SPANS))
    def wait(self, span: timedelta) -> None:
        """Let time go by."""
        self.clock.now += span

    @rule(
        keep_runs=st.sampled_from([None, 1, 2]),
        others=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), max_size=3),
        end=st.none() | st.integers(0, 12),
    )
    def gc(self, keep_runs: int | None, others: list[tuple[int, int]], end: int | None) -> None:
        """Collect; writers work between its steps, and it may die at one."""
        calls: list[str] = []

        def between(name: str, _: str) -> None:
            calls.append(name)
            if len(calls) - 1 == end:
                raise Killed
            for step, who in others:
                if step == len(calls) - 1:
                    self.work(who, False, "well")

        objects = FaultyObjects(self.objects)
        store = self.opened(objects)
        objects.hook = between
        with contextlib.suppress(Killed):
            self.collect(store, self.clock.now, keep_runs=keep_runs)

    @rule(end=st.none() | st.integers(0, 3))
    def checkpoint(self, end: int | None) -> None:
        """Write a checkpoint, or die at one of its steps."""
        world = self.opened().world()
        with contextlib.suppress(Killed):
            Checkpoints(FaultyObjects(self.objects, fail_at=end)).write(world)

    @rule(which=st.integers(0, 3))
    def lose(self, which: int) -> None:
        """Lose a part of the checkpoints."""
        known = sorted(meta.path for meta in self.objects.list("log/checkpoint"))
        self.objects.delete(known[which : which + 1])

    # --------------------------------------------------------------- invariants

    @invariant()
    def all_hold(self) -> None:
        """Look at the disk and at what a new process sees."""
        self._entries_are_written_once_and_without_gaps()
        self._whoever_opens_sees_what_the_entries_say()
        self._runs_are_numbered_and_commit_their_plan_once()
        self._what_the_log_names_is_there()
        self._chains_lead_to_the_version_of_the_view_without_gaps()
        self._what_a_run_may_need_is_there()
        self._what_a_reader_may_need_is_there()

    def _entries_are_written_once_and_without_gaps(self) -> None:
        found = {p.name: p.read_bytes() for p in (self.root / "log").glob("*.json")}
        assert sorted(found) == [f"{n:020d}.json" for n in range(len(found))]
        for name, data in self.entries.items():
            assert found[name] == data, f"entry {name} was rewritten"
        self.entries = found

    def _whoever_opens_sees_what_the_entries_say(self) -> None:
        entries = (decode_entry(self.entries[name], name) for name in sorted(self.entries))
        self.newest = s.fold(s.World(), ((n, entry.updates) for n, entry in enumerate(entries)))
        assert self.opened().world() == self.newest

    def _runs_are_numbered_and_commit_their_plan_once(self) -> None:
        assert sorted(self.newest.runs) == list(range(1, len(self.newest.runs) + 1))
        assert len(self.newest.plans) == len(self.newest.runs)

    def _chains_lead_to_the_version_of_the_view_without_gaps(self) -> None:
        versions = self.newest.views["v"].versions
        for name in (STATE, ANSWER):
            chain = self.newest.chains.get(name)
            if chain is None or versions is None:
                assert versions is None, f"{name} is gone and the view has not noticed"
                continue
            steps = [self._content(segment) for segment in segments(chain)]
            ends = [0, *(end for _, end in steps)]
            assert [start for start, _ in steps] == ends[:-1], f"{name} has a gap or an overlap"
            assert ends[-1] == versions["t"], f"{name} is not at the version of the view"
            assert versions["t"] <= self.newest.sources["t"].version, "the view is ahead"
        told = self.newest.chains.get(CHANGES)
        pairs = [] if told is None else [self._content(segment) for segment in told.segments]
        for (_, end), (start, _) in pairwise(pairs):
            assert start in {0, end}, "readers of changes miss one, or get one twice"

    def _what_the_log_names_is_there(self) -> None:
        self._there(named(self.newest), "the newest world")

    def _what_a_run_may_need_is_there(self) -> None:
        for attempt in self.attempts:
            if attempt is not None and attempt.world.number >= self.newest.collected:
                self._there(attempt.needs, attempt.plan_id)

    def _what_a_reader_may_need_is_there(self) -> None:
        since = self.clock.now - GRACE
        self.readers = [(at, world) for at, world in self.readers if at > since]
        for at, world in self.readers:
            self._there(named(world), f"a reader since {at}")

    @property
    def root(self) -> Path:
        """The directory of the workspace."""
        return Path(self.folder.name)

    def _there(self, paths: Iterable[str], who: str) -> None:
        lacking = [path for path in paths if not (self.root / path).is_file()]
        assert not lacking, f"{who} needs {lacking}"

    def _content(self, segment: s.Segment) -> tuple[int, int]:
        (file,) = segment.files
        start, end = (self.root / file.path).read_text().split()
        return int(start), int(end)

    def teardown(self) -> None:
        """A retry of every plan succeeds, and in the end what nobody needs is gone."""
        if not hasattr(self, "folder"):
            return
        try:
            self.attempts = [None, None]
            for plan_id in self.plans:
                list(Attempt(self, plan_id, f"last of {plan_id}", is_full=False).steps)
                assert plan_id in self.opened().world().plans
            for _ in range(2):
                self.clock.now += GRACE + timedelta(hours=1)
                collect(self.opened(), self.clock.now)
            found = {f.path for folder in FOLDERS for f in self.opened().list_files(folder)}
            assert found == set(named(self.opened().world()))
        finally:
            self.folder.cleanup()


def _view() -> s.AddView:
    return s.AddView("v", "SELECT 1", {}, {}, {"sources": ["t"]})
