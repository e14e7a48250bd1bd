"""The sinks of views that a run brings are held apart from what came while it worked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.clock import system_clock
from slacktide.engine.definitions.drafts import ViewDraft
from slacktide.engine.running.registering import kept_apart
from slacktide.engine.work import Work
from slacktide.errors import CommitConflictError, DataError

READ = ReadView(None, ())


@pytest.fixture
def store(tmp_path: Path) -> s.Store:
    return s.Store.create(str(tmp_path / "ws"), settings={}, clock=system_clock)


def work(name: str, **settings: Any) -> Work:
    unused = cast("Any", None)
    draft = ViewDraft(name, "SELECT 1", settings, READ)
    return Work(name, "SELECT 1", READ, unused, unused, None, draft, cast("Any", object()))


def to(path: Path) -> dict[str, str]:
    return {"parquet": str(path)}


def test_a_place_that_another_writer_took_ends_the_attempt(store: s.Store, tmp_path: Path) -> None:
    works = [work("v", sink=to(tmp_path / "in" / "out")), work("w", sink=to(tmp_path / "w"))]
    world = store.world()
    assert kept_apart(store, world, works) == [s.NonePlaced(world.number)]
    store.commit([s.AddSource("late", "files", {"path": str(tmp_path / "in")}, ())])
    with pytest.raises(CommitConflictError, match=r"meanwhile the sink of view v .* source late"):
        kept_apart(store, store.world(), works)
    assert kept_apart(store, store.world(), works[1:]) == [s.NonePlaced(world.number + 1)]


def test_what_publishes_nothing_requires_nothing(store: s.Store, tmp_path: Path) -> None:
    failed = replace(work("v", sink=to(tmp_path / "out")), outcome=None, error=DataError("no"))
    assert kept_apart(store, store.world(), [work("w"), failed]) == []
