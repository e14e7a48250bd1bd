"""What a workspace takes in, and what it leaves, without a JVM."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slacktide.common.clock import system_clock
from slacktide.engine.sources import look_again
from slacktide.engine.workspace import Workspace
from slacktide.errors import (
    ArrivalChangedError,
    InvalidSettingError,
    SourceError,
    UnknownObjectError,
)
from slacktide.store.record import Source
from slacktide.store.store import Store
from tests.harness.landing import feed, write
from tests.harness.objects import SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def ws(tmp_path: Path, clock: SetClock) -> Workspace:
    return Workspace.create(str(tmp_path / "workspace"), clock=clock)


def land(folder: Path, name: str, *, at: float = 0) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1\n", encoding="utf-8")
    os.utime(path, (at, at))
    return path


def add(ws: Workspace, name: str, folder: Path, **arguments: object) -> None:
    folder.mkdir(exist_ok=True)
    given = {"kind": "files", "format": "csv", "schema": "a INT", **arguments}
    ws.add_source(name, path=str(folder), **given)  # type: ignore[arg-type]


def test_a_file_is_taken_once_it_has_settled(
    ws: Workspace, clock: SetClock, tmp_path: Path
) -> None:
    add(ws, "t", tmp_path / "t", settle="30s")
    add(ws, "u", tmp_path / "u")
    now = clock.now.timestamp()
    land(tmp_path / "t", "old.csv", at=now - 30)
    young = land(tmp_path / "t", "young.csv", at=now - 29)
    land(tmp_path / "u", "young.csv", at=now - 29)
    assert ws.pending() == {"t": 1, "u": 1}
    assert ws.discover() == {"t": 1, "u": 1}
    os.utime(young, (now, now))
    clock.now = clock.now.fromtimestamp(now + 29, clock.now.tzinfo)
    assert ws.discover() == {"t": 1, "u": 1}, "it was written again, and is waited for anew"
    clock.now = clock.now.fromtimestamp(now + 30, clock.now.tzinfo)
    assert ws.discover() == {"t": 2, "u": 1}


def test_a_held_source_takes_nothing_while_others_go_on(ws: Workspace, tmp_path: Path) -> None:
    for name in ("t", "u"):
        add(ws, name, tmp_path / name)
        land(tmp_path / name, "a.csv")
    ws.hold_source("t")
    ws.hold_source("t")
    assert ws.discover() == {"t": 0, "u": 1}
    status = ws.status().sources
    assert (status["t"]["held"], status["t"]["landed"]) == (True, 0)
    assert Workspace.open(ws.root).status().sources["t"]["held"], "it is in the log"
    ws.hold_source("t", held=False)
    assert ws.discover() == {"t": 1, "u": 1}


def test_a_file_is_skipped_by_any_of_its_names(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    add(ws, "t", folder)
    for name in ("mon/a.csv", "tue/a.csv", "b.csv"):
        land(folder, name)
    ws.discover()
    land(folder, "wed/a.csv")
    with pytest.raises(InvalidSettingError, match=r"3 files with the name 'a\.csv'") as caught:
        ws.skip("t", "a.csv")
    assert str(folder / "wed" / "a.csv") in caught.value.hint
    assert ws.status().sources["t"]["skipped"] == []
    ws.skip("t", "wed/a.csv")
    ws.skip("t", str(folder / "tue" / "a.csv"))
    ws.skip("t", "b.csv")
    assert ws.status().sources["t"]["skipped"] == [1, 3, 4]
    number = ws._store.world().number
    ws.skip("t", "b.csv")
    ws.skip("t", 1)
    assert ws._store.world().number == number, "what is left out stays so, and nothing is rebuilt"
    with pytest.raises(UnknownObjectError, match=r"no file 'z\.csv'"):
        ws.skip("t", "z.csv")


def test_a_skipped_file_is_not_looked_at(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    add(ws, "t", folder, format="parquet", schema="id BIGINT, name STRING")
    write(folder / "a.parquet")
    (folder / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(SourceError, match=r"bad\.parquet") as caught:
        ws.discover()
    assert "slacktide source skip t" in caught.value.hint
    ws.skip("t", "bad.parquet")
    assert ws.discover() == {"t": 2}


def test_a_delete_is_an_error_where_only_rows_are_added(ws: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    arguments = {"kind": "change-feed", "format": "parquet", "schema": "id BIGINT, name STRING"}
    add(ws, "t", folder, append_only=True, **arguments)
    write(folder / "a.parquet", feed("insert", "update_postimage"))
    assert ws.discover() == {"t": 1}
    write(folder / "b.parquet", feed("insert", "delete"))
    with pytest.raises(SourceError, match=r"b\.parquet takes a row away in row 2") as caught:
        ws.discover()
    assert "slacktide source skip t" in caught.value.hint
    assert ws.status().sources["t"]["version"] == 1
    ws.skip("t", "b.parquet")
    assert ws.discover() == {"t": 2}


def test_a_file_written_anew_ends_discovery_until_the_user_acts(
    ws: Workspace, tmp_path: Path
) -> None:
    add(ws, "t", tmp_path / "t")
    add(ws, "u", tmp_path / "u")
    path = land(tmp_path / "t", "a.csv")
    assert ws.discover() == {"t": 1, "u": 0}
    os.utime(path, (5, 5))  # delivered again as it was
    assert (ws.discover(), ws.pending()) == ({"t": 1, "u": 0}, {"t": 1, "u": 0})
    number = Store.open(ws.root, clock=system_clock).world().number
    assert ws.discover() == {"t": 1, "u": 0}
    assert Store.open(ws.root, clock=system_clock).world().number == number, "it is known by now"
    path.write_text("2\n", encoding="utf-8")
    assert ws.pending() == {"t": 1, "u": 0}, "as large, and no look reads it"
    with pytest.raises(ArrivalChangedError, match=r"a\.csv changed: it was written at"):
        ws.discover()
    path.write_text("22\n", encoding="utf-8")
    land(tmp_path / "t", "b.csv")
    land(tmp_path / "u", "b.csv")
    with pytest.raises(ArrivalChangedError, match=r"source t: .*a\.csv changed"):
        ws.pending()
    with pytest.raises(ArrivalChangedError, match=r"source t: .*a\.csv changed") as caught:
        ws.discover()
    assert "source hold t" in caught.value.hint
    told = ws.status().sources
    assert (told["t"]["error"]["code"], told["u"]["error"]) == ("ARRIVAL_CHANGED", None)
    assert (told["t"]["version"], told["u"]["version"]) == (1, 1), "others are taken in"
    ws.hold_source("t")
    assert ws.discover() == {"t": 1, "u": 1}
    assert ws.status().sources["t"]["error"] is None
    ws.hold_source("t", held=False)
    ws.skip("t", "a.csv")
    assert ws.discover() == {"t": 2, "u": 1}
    land(tmp_path / "t", "b.csv").unlink()
    assert ws.discover() == {"t": 2, "u": 1}, "what is gone may not be needed any more"


def test_what_is_as_it_was_is_pinned_though_another_file_is_not(
    ws: Workspace, tmp_path: Path
) -> None:
    add(ws, "t", tmp_path / "t")
    paths = [land(tmp_path / "t", f"{name}.csv") for name in "ab"]
    ws.discover()
    for path in paths:
        os.utime(path, (5, 5))
    paths[1].write_text("2\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ArrivalChangedError, match=r"b\.csv changed"):
            ws.discover()
    world = Store.open(ws.root, clock=system_clock).world()
    assert world.number == 3, "the touched one is pinned once"


def test_a_source_that_goes_while_its_files_are_looked_at_holds_back_no_other(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(ws, "t", tmp_path / "t")
    add(ws, "u", tmp_path / "u")
    path = land(tmp_path / "t", "a.csv")
    ws.discover()
    os.utime(path, (5, 5))
    land(tmp_path / "u", "a.csv")
    other = Workspace.open(ws.root)

    def reset_meanwhile(source: Source, *arguments: object, **named: object) -> object:
        found = look_again(source, *arguments, **named)  # type: ignore[arg-type]
        if source.arrivals:
            other.reset_source("t")
        return found

    monkeypatch.setattr("slacktide.engine.intake.accepting.look_again", reset_meanwhile)
    assert ws.discover() == {"t": 1, "u": 1}
