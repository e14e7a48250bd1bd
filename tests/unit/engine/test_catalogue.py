"""Functions are dropped only while no text may call them, whoever adds one meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide import store as s
from slacktide.common.clock import system_clock
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.errors import CommitConflictError, InvalidSettingError, ObjectExistsError
from tests.harness.objects import FaultyObjects

PRICE = s.AddFunction(s.FunctionRecord("price", "shop:price", "DOUBLE", {}))


def view(sql: str) -> s.AddView:
    return s.AddView("q", sql, {}, {}, {})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Price(a) FROM t",
        "SELECT `price` (a) FROM t",
        "SELECT IDENTIFIER('price')(a) FROM t",
        "SELECT identifier ('pri' || 'ce')(a) FROM t",
        "SELECT transform(list, x -> price(x)) FROM t",
    ],
)
def test_a_function_that_a_text_may_call_stays(tmp_path: Path, sql: str) -> None:
    store = s.Store.create(str(tmp_path / "ws"), settings={}, clock=system_clock)
    store.commit([PRICE, view(sql)])
    with pytest.raises(ObjectExistsError, match="texts of q may call function price") as refused:
        Catalogue(store).drop_function("price")
    assert refused.value.hint.startswith("drop these views first, or replace them")
    store.commit([s.DropView("q"), view("SELECT prices(a), my_price(b) FROM t")])
    Catalogue(store).drop_function("price")
    assert not store.world().functions


def test_a_function_that_a_new_view_calls_is_not_dropped_under_it(tmp_path: Path) -> None:
    root = str(tmp_path / "ws")
    other = s.Store.create(root, settings={}, clock=system_clock)
    other.commit([PRICE])
    done: list[str] = []

    def hook(name: str, key: str) -> None:
        if name.startswith("put") and key.startswith("log/") and not done:
            done.append(key)
            other.commit([view("SELECT price(a) FROM t")])

    objects = FaultyObjects(s.connect(s.parse_address(root)), hook=hook)
    store = s.Store.open(root, clock=system_clock, objects=objects)
    with pytest.raises(CommitConflictError, match="function price is called by q"):
        Catalogue(store).drop_function("price")
    assert set(other.world().functions) == {"price"}


@pytest.mark.parametrize("returns", ["", " ", "nonsense", "int; drop", "struct<>"])
def test_a_function_returns_a_type(tmp_path: Path, returns: str) -> None:
    store = s.Store.create(str(tmp_path / "ws"), settings={}, clock=system_clock)
    with pytest.raises(InvalidSettingError, match="which is no type"):
        Catalogue(store).add_function("price", "shop:price", returns, {})
    store.commit([PRICE])
    with pytest.raises(ObjectExistsError, match="there is a function price already"):
        Catalogue(store).add_function("PRICE", "shop:price", "double", {})
    assert set(store.world().functions) == {"price"}


def beside(tmp_path: Path, update: s.Update) -> s.Store:
    """A store under whose first commit another writer's entry comes."""
    root = str(tmp_path / "ws")
    other = s.Store.create(root, settings={}, clock=system_clock)
    done: list[str] = []

    def hook(name: str, key: str) -> None:
        if name.startswith("put") and key.startswith("log/") and not done:
            done.append(key)
            other.commit([update])

    objects = FaultyObjects(s.connect(s.parse_address(root)), hook=hook)
    return s.Store.open(root, clock=system_clock, objects=objects)


def published(path: Path) -> s.AddView:
    return s.AddView("q", "SELECT 1", {"sink": {"parquet": str(path)}}, {}, {})


def test_a_source_and_a_sink_that_come_at_once_are_held_apart(tmp_path: Path) -> None:
    landing = tmp_path / "orders"
    landing.mkdir()
    store = beside(tmp_path, published(landing / "out"))
    declared = {"path": str(landing), "format": "csv", "schema": "a INT"}
    with pytest.raises(InvalidSettingError, match="shares files with the sink of view q"):
        Catalogue(store).add_source("orders", "files", declared)
    assert not store.world().sources


def test_a_source_and_a_sink_that_are_apart_may_come_at_once(tmp_path: Path) -> None:
    landing = tmp_path / "orders"
    landing.mkdir()
    store = beside(tmp_path, published(tmp_path / "out"))
    declared = {"path": str(landing), "format": "csv", "schema": "a INT"}
    Catalogue(store).add_source("orders", "files", declared)
    assert (set(store.world().sources), set(store.world().views)) == ({"orders"}, {"q"})
