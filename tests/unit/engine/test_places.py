"""Where sources, quarantines and sinks may lie, and how a sink is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slacktide import store as s
from slacktide.algebra.scalar import Column
from slacktide.engine.definitions.places import check_apart, check_source_places, sink_path, written
from slacktide.engine.definitions.sink_setting import check_columns, check_sink
from slacktide.errors import InvalidSettingError
from slacktide.store.record import Source, ViewRecord

ROOT = "/lake/ws"
WORLD = s.World(
    sources={
        "a": Source("a", "files", {"path": "/in/a", "quarantine": "/bad/a"}, ()),
        "b": Source("b", "files", {"path": "s3://lake/in/b"}, ()),
    },
    views={
        "v": ViewRecord("v", "SELECT 1", {"sink": {"parquet": "/out/v"}}, {}, {}),
        "w": ViewRecord("w", "SELECT 1", {}, {}, {}),
    },
)


def source(path: str, world: s.World = WORLD, **more: Any) -> None:
    check_source_places("new", {"path": path, **more}, ROOT, world)


def test_what_we_write_is_every_sink_and_quarantine() -> None:
    assert dict(written(WORLD)) == {
        "the quarantine of source a": "/bad/a",
        "the sink of view v": "/out/v",
    }


@pytest.mark.parametrize("path", ["/lake/ws", "/lake", "/in/a/x", "s3://lake/in", "/bad", "/out/v"])
def test_where_we_write_lies_apart_from_all(path: str) -> None:
    with pytest.raises(
        InvalidSettingError, match=r"the sink of view x is .* shares files with"
    ) as e:
        check_apart("the sink of view x", path, ROOT, WORLD)
    assert e.value.hint == "give it a directory of its own"


def test_places_that_only_look_alike_are_apart(tmp_path: Path) -> None:
    for path in ("/lake/ws2", "/in/ab", "s3://other/in/b", "s3://lake/in/bc", str(tmp_path)):
        check_apart("the sink of view x", path, ROOT, WORLD)
    check_apart("the sink of view v", "/out/v", ROOT, WORLD)  # its own place, named again


def test_the_root_is_no_place_to_write() -> None:
    with pytest.raises(InvalidSettingError, match="the sink of view x is the root /"):
        check_apart("the sink of view x", "/", ROOT, s.World())


def test_a_link_on_the_way_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "ws")
    with pytest.raises(InvalidSettingError, match="shares files with the workspace"):
        check_apart("the sink of view x", f"{tmp_path}/alias/out", f"{tmp_path}/ws", s.World())


def test_a_source_that_is_a_link_is_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "land").symlink_to(tmp_path / "real")
    linked = s.World(sources={"s": Source("s", "files", {"path": str(tmp_path / "land")}, ())})
    with pytest.raises(InvalidSettingError, match="shares files with source s"):
        check_apart("the sink of view x", str(tmp_path / "real" / "out"), ROOT, linked)


@pytest.mark.parametrize("path", ["/lake/ws", "/lake", "/"])
def test_a_source_holds_no_workspace(path: str) -> None:
    with pytest.raises(InvalidSettingError, match="which holds the workspace /lake/ws"):
        check_source_places("new", {"path": path}, ROOT, s.World())
    check_source_places("new", {"path": "/lake/other"}, ROOT, s.World())


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/bad/a", "the quarantine of source a, /bad/a"),
        ("/bad", "the quarantine of source a, /bad/a"),
        ("/bad/a/deep", "the quarantine of source a, /bad/a"),
        ("/out", "the sink of view v, /out/v"),
    ],
)
def test_nothing_that_we_write_lands_in_a_new_source(path: str, other: str) -> None:
    with pytest.raises(InvalidSettingError, match=f"source new is .* shares files with {other}"):
        source(path)


def test_sources_may_share_their_files() -> None:
    source("/in/a")
    source("/in/a", quarantine="/bad/new")


@pytest.mark.parametrize("place", ["/in/new", "/in/a", "/bad/a", "/out/v/x", "/lake/ws/states"])
def test_a_new_quarantine_lies_apart_from_all(place: str) -> None:
    with pytest.raises(InvalidSettingError, match=r"the quarantine of source new is .* shares"):
        source("/in/new", quarantine=place)


def test_a_clash_of_others_is_not_told_of_a_new_source() -> None:
    """Links made since may have led two places of old into one."""
    sources = {"c": Source("c", "files", {"path": "/out/v/in"}, ()), **WORLD.sources}
    source("/in/new", s.World(sources=sources, views=WORLD.views), quarantine="/bad/new")


def test_a_sink_is_kept_as_its_address_is_spelled() -> None:
    sink = check_sink("v", {"parquet": "s3a://lake/out/"})
    assert sink == {"parquet": "s3://lake/out"}
    assert sink_path({"sink": sink}) == "s3://lake/out"
    assert sink_path({}) is None


@pytest.mark.parametrize("kind", ["csv", "delta", "iceberg"])
def test_other_kinds_of_sinks_are_refused_by_name(kind: str) -> None:
    with pytest.raises(InvalidSettingError, match=f"kind {kind}; only parquet"):
        check_sink("v", {kind: "/out"})


@pytest.mark.parametrize("value", [{"parquet": " "}, {}, "/out", {"parquet": 1}])
def test_what_is_no_sink_is_refused(value: object) -> None:
    with pytest.raises(InvalidSettingError, match="view v has the sink") as e:
        check_sink("v", value)
    assert '{"parquet": PATH}' in (e.value.hint or "")


@pytest.mark.parametrize(
    "columns",
    [
        {"a": "VOID"},
        {"a": "ARRAY<INTERVAL>"},
        {"a": "INT", "A": "STRING"},
        {"a": "ARRAY<STRUCT<x: INT, X: INT>>"},
    ],
)
def test_columns_that_readers_of_parquet_do_not_know(columns: dict[str, str]) -> None:
    made = tuple(
        Column(n, name, kind, nullable=True) for n, (name, kind) in enumerate(columns.items())
    )
    with pytest.raises(InvalidSettingError, match="the sink of view v would have"):
        check_columns("the sink of view v", made)


def test_names_that_differ_are_columns_apart() -> None:
    check_columns(
        "v", tuple(Column(n, name, "INT", True) for n, name in enumerate(("straße", "strasse")))
    )


@pytest.mark.parametrize("inside", ["sources", "sources/orders", "states/x", "views/v/"])
def test_a_source_where_the_workspace_keeps_chains_is_refused(tmp_path: Path, inside: str) -> None:
    root, world = str(tmp_path / "ws"), s.World()
    with pytest.raises(InvalidSettingError, match="keeps what it remembers"):
        check_source_places("orders", {"path": f"{root}/{inside}"}, root, world)
    check_source_places("orders", {"path": f"{root}/sources/landing/2026"}, root, world)
