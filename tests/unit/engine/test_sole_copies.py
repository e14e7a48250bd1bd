"""Whether an arrival, or a mirror, can be let go: landed files that it stands for may have been removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from slacktide import store as s
from slacktide.engine.intake.sole_copies import check_left_out, missing_for_mirror
from slacktide.engine.sources.pins import content_digest
from slacktide.errors import SourceError
from slacktide.store import requirement as q
from slacktide.store.update import CreateWorkspace

NOW = "2026-01-01T00:00:00.000000Z"


class Options:
    """As much of a store as looking at landed files needs."""

    options: None = None


STORE = cast("Any", Options())


def world(folder: Path, *mirrored: int) -> s.World:
    """A feed with five arrivals, and a mirror with pieces at some versions."""
    pins = []
    for number in range(1, 6):
        path = folder / f"t{number}"
        path.write_text("x")
        pins.append(s.PinnedFile(str(path), 1, "then", digest=content_digest([b"x"])))
    updates: list[s.Update] = [
        s.AddSource("t", "change-feed", {"path": str(folder)}, ()),
        s.AcceptArrivals("t", [s.Arrival((pin,), 1, 1, NOW) for pin in pins]),
    ]
    pieces = tuple(s.Segment(1, (), 1, 1, {"t": at}) for at in mirrored)
    updates += [s.SetChain(s.Chain("sources/t", (), pieces[0], pieces[1:]))] if pieces else []
    return s.fold(s.World(), [(0, [CreateWorkspace({})]), (1, updates)])


def test_what_no_mirror_holds_is_left_out_freely(tmp_path: Path) -> None:
    without, with_one = world(tmp_path), world(tmp_path, 3)
    (tmp_path / "t1").unlink()
    # A mirror that is written meanwhile may hold it.
    assert check_left_out(STORE, without, "t", 5) == [q.ChainIs("sources/t", None)]
    assert check_left_out(STORE, with_one, "t", 5) == [q.ChainIs("sources/t", 1)]


def test_a_mirror_goes_back_to_what_it_holds_from_before(tmp_path: Path) -> None:
    there = world(tmp_path, 2, 3, 5)
    for removed in ("t1", "t2", "t3", "t4"):  # the last is what is left out
        (tmp_path / removed).unlink()
    assert check_left_out(STORE, there, "t", 4) == [q.ChainIs("sources/t", 1)]


def test_files_that_are_gone_keep_an_arrival_in(tmp_path: Path) -> None:
    there = world(tmp_path, 3)
    (tmp_path / "t1").unlink()
    with pytest.raises(
        SourceError, match=r"arrival 2 of source t cannot be left out: .*t1 is gone"
    ) as caught:
        check_left_out(STORE, there, "t", 2)
    assert "take back what the arrival brought" in caught.value.hint


def test_a_mirror_cannot_be_made_without_the_files_that_it_stands_for(tmp_path: Path) -> None:
    there = world(tmp_path, 3)
    assert missing_for_mirror(STORE, there, "t") == ""
    (tmp_path / "t5").unlink()
    assert missing_for_mirror(STORE, there, "t") == "", "it does not hold that one"
    (tmp_path / "t3").unlink()
    assert "t3 is gone" in missing_for_mirror(STORE, there, "t")
