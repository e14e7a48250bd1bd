"""Links that lead round in a circle are named, with the way out, wherever a user may name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.engine.workspace import Workspace
from slacktide.errors import SinkError, SourceError, WorkspaceError, WorkspaceMissingError
from slacktide.store import parse_address
from slacktide.store.pointers import open_publication

BACK = "is a symbolic link that leads back to itself"


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    """Two links, each of which leads to the other."""
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "there").symlink_to("here")
    return tmp_path / "here"


@pytest.mark.parametrize("below", ["", "below", "far/below"])
def test_no_workspace_is_there(circle: Path, below: str) -> None:
    for call in (Workspace.open, Workspace.create):
        with pytest.raises(WorkspaceError, match=f"{circle / below} .*: {circle} {BACK}") as found:
            call(circle / below)
        assert not isinstance(found.value, WorkspaceMissingError)
        assert found.value.hint == "remove the link, or give the path of a directory"


@pytest.mark.parametrize("below", ["", "below"])
def test_nothing_lands_there(tmp_path: Path, circle: Path, below: str) -> None:
    ws = Workspace.create(tmp_path / "ws")
    with pytest.raises(SourceError, match=f"{circle / below} .*: {circle} {BACK}") as found:
        ws.add_source("t", kind="files", format="csv", schema="a INT", path=circle / below)
    assert found.value.hint == "remove the link, or give the path where files land"
    assert ws.status().sources == {}


@pytest.mark.parametrize("target", ["circle", ".", "..", "../.."])
def test_a_link_among_files_is_named(tmp_path: Path, target: str) -> None:
    ws = Workspace.create(tmp_path / "ws")
    folder = tmp_path / "t" / "day"
    folder.mkdir(parents=True)
    ws.add_source("t", kind="files", format="csv", schema="a INT", path=tmp_path / "t")
    (folder / "circle").symlink_to(target)
    with pytest.raises(SourceError, match=f"{tmp_path / 't'} .*: {folder / 'circle'} {BACK}"):
        ws.discover()
    (folder / "circle").unlink()
    (folder / "a.csv").write_text("1\n", encoding="utf-8")
    assert ws.discover() == {"t": 1}


def test_a_link_that_leads_elsewhere_is_followed(tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    (tmp_path / "day" / "a.csv").write_text("1\n", encoding="utf-8")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "day").symlink_to("../day")
    (tmp_path / "link").symlink_to("t")
    ws = Workspace.create(tmp_path / "ws")
    ws.add_source("t", kind="files", format="csv", schema="a INT", path=tmp_path / "link")
    assert ws.discover() == {"t": 1}


def test_nothing_is_published_below_it(circle: Path) -> None:
    with pytest.raises(SinkError, match=f"{circle / 'sink'} .*: {circle} {BACK}"):
        open_publication(parse_address(circle / "sink")).check("workspace")
