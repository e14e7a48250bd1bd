"""Bad input: one clear error with the way out, nothing written, nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide import errors as e
from slacktide.engine.workspace import Workspace
from tests.harness.lab import Lab
from tests.harness.summed import DDL, SUMS, first_file, refused, summed

pytestmark = pytest.mark.spark


QUERIES: dict[str, tuple[str, str]] = {
    "does not parse": ("SELEC k FROM t", "view bad.*(SELEC|syntax|parse)"),
    "is empty": ("", "view bad"),
    "is half a query": ("SELECT k FROM", "view bad"),
    "an unknown column": ("SELECT nothing FROM t", "view bad.*nothing"),
    "an unknown table": ("SELECT k FROM ghosts", "view bad.*ghosts"),
    "an unknown function": ("SELECT nosuch(k) FROM t", "view bad.*nosuch"),
    "types that do not meet": ("SELECT k + ARRAY(1) FROM t", "view bad"),
    "a command": ("DROP TABLE t", "view bad"),
    "an insert": ("INSERT INTO t VALUES ('x', 1)", "view bad"),
    "a definition": ("CREATE TEMPORARY VIEW t2 AS SELECT 1", "view bad"),
    "two statements": ("SELECT k FROM t; SELECT v FROM t", "view bad"),
    "no source": ("SELECT 1 AS one", "view bad reads no source"),
    "a file past the sources": ("SELECT * FROM parquet.`/tmp`", "view bad"),
}


@pytest.mark.parametrize("case", QUERIES)
def test_a_view_that_is_no_query_over_the_sources(case: str, seasoned: Lab) -> None:
    sql, says = QUERIES[case]
    with refused(seasoned, e.QueryError, says):
        seasoned.ws.add_view(seasoned.spark, "bad", sql)
    with refused(seasoned, e.QueryError, says.replace("view bad", "view sums")):
        seasoned.ws.replace_view(seasoned.spark, "sums", sql)
    seasoned.verified()


@pytest.fixture(scope="module")
def seasoned(spark, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """One workspace for all that writes nothing."""
    return summed(Lab(spark, tmp_path_factory.mktemp("seasoned")))


NAMES = ["it's", 'say "hi"', "a/b", "../up", "a b", "", "1st", "ü", "a.b", "x" * 129, "`t`"]


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str, seasoned: Lab) -> None:
    lab = seasoned
    with refused(lab, e.InvalidNameError, "view name"):
        lab.ws.add_view(lab.spark, name, SUMS)
    with refused(lab, e.InvalidNameError, "source name"):
        lab.ws.add_source(name, kind="files", path=str(lab.folder("t")))
    with refused(lab, e.InvalidNameError, "function name"):
        lab.ws.add_function(name, "math:sqrt", returns="double")


CALLS: dict[str, tuple[Callable[[Lab], Any], type[e.SlacktideError], str]] = {
    "a policy": (lambda lab: view(lab, policy="lazy"), e.InvalidSettingError, "policy 'lazy'"),
    "a setting": (lambda lab: view(lab, speed=9), e.InvalidSettingError, "setting 'speed'"),
    "paused": (lambda lab: view(lab, paused="no"), e.InvalidSettingError, "paused"),
    "a budget": (
        lambda lab: view(lab, state_budget="a lot"),
        e.InvalidSettingError,
        "state_budget",
    ),
    "a policy that cannot be": (
        lambda lab: view(lab, "SELECT rand() AS r FROM t", policy="incremental"),
        e.UnsupportedQueryError,
        "cannot be incremental",
    ),
    "a view twice": (
        lambda lab: lab.ws.add_view(lab.spark, "SUMS", SUMS),
        e.ObjectExistsError,
        "SUMS is taken by view sums",
    ),
    "a source that is a view": (
        lambda lab: lab.ws.add_source("sums", kind="files", path=str(lab.folder("t"))),
        e.ObjectExistsError,
        "taken by view sums",
    ),
    "read": (lambda lab: lab.read("ghost"), e.UnknownObjectError, "no view 'ghost'"),
    "a run": (lambda lab: lab.read("sums", run=0), e.UnknownObjectError, "run 0"),
    "changes": (lambda lab: lab.changes("ghost", 0), e.UnknownObjectError, "no view 'ghost'"),
    "refresh": (lambda lab: lab.refresh("ghost"), e.UnknownObjectError, "no view 'ghost'"),
    "verify": (
        lambda lab: lab.ws.verify(lab.spark, ["ghost"]),
        e.UnknownObjectError,
        "no view 'ghost'",
    ),
    "history": (lambda lab: lab.ws.history("ghost"), e.UnknownObjectError, "no view 'ghost'"),
    "drop": (lambda lab: lab.ws.drop_view("ghost"), e.UnknownObjectError, "no view 'ghost'"),
    "pause": (lambda lab: lab.ws.pause_view("ghost"), e.UnknownObjectError, "no view 'ghost'"),
    "drop a source": (
        lambda lab: lab.ws.drop_source("ghost"),
        e.UnknownObjectError,
        "no source 'ghost'",
    ),
    "hold": (lambda lab: lab.ws.hold_source("ghost"), e.UnknownObjectError, "no source 'ghost'"),
    "reset": (lambda lab: lab.ws.reset_source("ghost"), e.UnknownObjectError, "no source 'ghost'"),
    "complete": (
        lambda lab: lab.ws.mark_complete("ghost", "2026"),
        e.UnknownObjectError,
        "no source 'ghost'",
    ),
    "skip": (lambda lab: lab.ws.skip("ghost", 1), e.UnknownObjectError, "no source 'ghost'"),
    "skip a version": (lambda lab: lab.ws.skip("t", 7), e.UnknownObjectError, "no arrival 7"),
    "skip nothing": (lambda lab: lab.ws.skip("t", 0), e.UnknownObjectError, "no arrival 0"),
    "skip a file": (lambda lab: lab.ws.skip("t", "x.csv"), e.UnknownObjectError, "no file 'x.csv'"),
    "a function": (
        lambda lab: lab.ws.drop_function("ghost"),
        e.UnknownObjectError,
        "no function 'ghost'",
    ),
    "a plan": (
        lambda lab: lab.ws.refresh(lab.spark, "00ff"),
        e.UnknownObjectError,
        "no plan 00ff",
    ),
    "a target": (
        lambda lab: lab.ws.add_function("f", "math.sqrt", returns="double"),
        e.FunctionError,
        "target 'math.sqrt'",
    ),
    "what a function is": (
        lambda lab: function(lab, determinstic=False),
        e.InvalidSettingError,
        "setting 'determinstic'",
    ),
    "a function's kind": (
        lambda lab: function(lab, kind="panda"),
        e.InvalidSettingError,
        "kind 'panda'",
    ),
    "a text for a truth": (
        lambda lab: function(lab, deterministic="false"),
        e.InvalidSettingError,
        "deterministic = 'false'",
    ),
    "a kind": (
        lambda lab: lab.ws.add_source("u", kind="table", path="/tmp"),
        e.InvalidSettingError,
        "kind 'table'",
    ),
    "an argument": (
        lambda lab: lab.ws.add_source("u", kind="files", path="/tmp", colour="red"),
        e.InvalidSettingError,
        "argument 'colour'",
    ),
    "text without schema": (
        lambda lab: lab.ws.add_source("u", kind="files", path="/tmp", format="csv"),
        e.InvalidSettingError,
        "need a schema",
    ),
    "a path that is not there": (
        lambda lab: lab.ws.add_source("u", kind="files", path="/no/such/place", schema=DDL),
        e.SourceError,
        "/no/such/place",
    ),
    "a path that is a file": (
        lambda lab: lab.ws.add_source("u", kind="files", path=str(first_file(lab)), schema=DDL),
        e.SourceError,
        "parquet",
    ),
    "another schema": (
        lambda lab: source(lab, schema="k STRING, v STRING"),
        e.SourceError,
        "has the column v of type INT, expected STRING",
    ),
    "a column that is not there": (
        lambda lab: source(lab, schema="k STRING, w INT"),
        e.SourceError,
        "has no column w",
    ),
    "a key that is not there": (
        lambda lab: source(lab, key=["id"]),
        e.InvalidSettingError,
        "key names the column id",
    ),
    "a workspace that is there": (
        lambda lab: Workspace.create(lab.ws.root),
        e.WorkspaceExistsError,
        "workspace",
    ),
    "a workspace that is not there": (
        lambda lab: Workspace.open(str(lab.root / "nowhere")),
        e.WorkspaceMissingError,
        "nowhere",
    ),
}


def view(lab: Lab, sql: str = SUMS, **settings: Any) -> None:
    lab.ws.add_view(lab.spark, "bad", sql, **settings)


def function(lab: Lab, **declaration: Any) -> None:
    lab.ws.add_function("f", "math:sqrt", returns="double", **declaration)


def source(lab: Lab, **arguments: Any) -> None:
    lab.ws.add_source("u", kind="change-feed", path=str(lab.folder("t")), **arguments)


@pytest.mark.parametrize("case", CALLS)
def test_calls_that_cannot_be(case: str, seasoned: Lab) -> None:
    call, error, says = CALLS[case]
    with refused(seasoned, error, says):
        call(seasoned)


def test_a_directory_without_files(seasoned: Lab) -> None:
    empty = seasoned.root / "empty"
    empty.mkdir(exist_ok=True)
    (empty / "_SUCCESS").touch()
    with refused(seasoned, e.SourceError, "no data file yet"):
        seasoned.ws.add_source("u", kind="files", path=str(empty))


def test_a_feed_without_change_types(seasoned: Lab) -> None:
    folder = seasoned.root / "plain"
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"k": ["a"], "v": pa.array([1], pa.int32())}), folder / "a.parquet")
    with refused(seasoned, e.SourceError, "has no column _change_type"):
        seasoned.ws.add_source("u", kind="change-feed", path=str(folder))


def test_a_workspace_of_a_newer_version(shop: Lab) -> None:
    path = Path(shop.ws.root) / "log" / f"{shop.number + 1:020}.json"
    last = Path(shop.ws.root) / "log" / f"{shop.number:020}.json"
    entry = json.loads(last.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**entry, "format": 99}), encoding="utf-8")
    with pytest.raises(e.NewerFormatError, match="99") as caught:
        Workspace.open(shop.ws.root).status()
    assert "upgrade" in caught.value.hint.lower()
    with pytest.raises(e.NewerFormatError):
        shop.refresh()


LANDED: dict[str, tuple[Callable[[Lab], Path], str]] = {
    "corrupt": (lambda lab: write(lab, b"PAR1 this is not Parquet PAR1"), "corrupt"),
    "empty": (lambda lab: write(lab, b""), "corrupt"),
    "cut off": (lambda lab: write(lab, first_file(lab).read_bytes()[:-20]), "corrupt"),
    "an unknown change": (
        lambda lab: lab.land_as("t", [("insert", ("a", 1)), ("upsert", ("b", 1))]),
        "_change_type 'upsert' in row 2",
    ),
    "no change": (lambda lab: lab.land_as("t", [(None, ("a", 1))]), "_change_type NULL in row 1"),
    "a column less": (lambda lab: table(lab, k=["a"]), "has no column v"),
    "another type": (lambda lab: table(lab, k=["a"], v=["1"]), "v of type STRING, expected INT"),
    "no change types": (
        lambda lab: table(lab, _change_type=None, k=["a"], v=pa.array([1], pa.int32())),
        "has no column _change_type",
    ),
}


def write(lab: Lab, content: bytes) -> Path:
    path = lab.folder("t") / "9000.parquet"
    path.write_bytes(content)
    return path


def table(lab: Lab, **columns: Any) -> Path:
    given = {"_change_type": ["insert"], **columns}
    path = lab.folder("t") / "9000.parquet"
    pq.write_table(pa.table({k: v for k, v in given.items() if v is not None}), path)
    return path


@pytest.mark.parametrize("case", LANDED)
def test_files_that_are_not_as_declared(case: str, shop: Lab) -> None:
    land, says = LANDED[case]
    path = land(shop)
    for call in (shop.ws.discover, shop.ws.plan, shop.refresh):
        with refused(shop, e.SourceError, says):
            call()
    with pytest.raises(e.SourceError, match=path.name) as named:
        shop.ws.discover()
    assert "slacktide source skip t" in named.value.hint
    shop.ws.skip("t", path.name)
    shop.land("t", insert=[("c", 4)])
    shop.step(sums="incremental")


def csv_feed(lab: Lab, name: str, content: str) -> Path:
    folder = lab.root / "lines"
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


TEXTS = {
    "an unknown change": ("1,x,insert\n2,y,upsert\n", "unknown _change_type upsert"),
    "no change": ("1,x,\n", "unknown _change_type"),
    "a value of another type": ("one,x,insert\n", "cannot be read"),
    "a field too many": ("1,x,insert,more\n", "cannot be read"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text_that_is_not_as_declared(case: str, shop: Lab) -> None:
    text, says = TEXTS[case]
    csv_feed(shop, "a.csv", "1,a,insert\n")
    given = {"format": "csv", "schema": "id INT, name STRING"}
    shop.ws.add_source("lines", kind="change-feed", path=str(shop.root / "lines"), **given)
    shop.view("named", "SELECT name, count(id) AS n FROM lines GROUP BY name")
    shop.refresh()
    csv_feed(shop, "b.csv", text)
    shop.land("t", insert=[("c", 1)])
    plan = shop.ws.plan()
    with refused(shop, e.SourceError, says):
        shop.ws.refresh(shop.spark, plan)
    with pytest.raises(e.SourceError, match=r"b\.csv") as caught:
        shop.ws.refresh(shop.spark, plan)
    assert "slacktide source skip" in caught.value.hint
    shop.verified()
    shop.ws.skip("lines", "b.csv")
    csv_feed(shop, "c.csv", "1,z,insert\n")
    shop.step(sums="incremental", named="incremental")
    assert shop.bag("named") == {("a", 1): 1, ("z", 1): 1}


def test_a_delete_of_a_row_that_never_was_shows_in_a_count(shop: Lab) -> None:
    shop.land_as("t", [("delete", ("ghost", 1)), ("insert", ("a", 4))])
    plan = shop.ws.plan()
    with refused(shop, e.DataError, "view sums.*fewer"):
        shop.ws.refresh(shop.spark, plan)
    shop.verified()
    shop.ws.skip("t", 2)
    shop.step(sums="incremental")


def test_a_delete_of_a_row_that_never_was_is_found_by_verify(shop: Lab) -> None:
    shop.ws.drop_view("sums")
    shop.view("copied", "SELECT k, v FROM t")
    shop.refresh()
    shop.land_as("t", [("delete", ("ghost", 1)), ("insert", ("a", 4))])
    shop.refresh()
    error = shop.ws.verify(shop.spark).views["copied"].error or {}
    assert error["code"] == e.DataError.code
    assert re.search(r"source t.*fewer copies", error["message"])
    with pytest.raises(Exception, match="fewer copies"):
        shop.read("copied")
    shop.ws.skip("t", 2)
    shop.step()


def test_a_function_that_is_not_there(shop: Lab) -> None:
    shop.ws.add_function("lost", "no_such_module:f", returns="int")
    with refused(shop, e.FunctionError, "function lost is not at no_such_module:f"):
        shop.ws.add_view(shop.spark, "v", "SELECT lost(v) AS x FROM t")


def test_a_function_that_is_dropped_while_a_view_that_calls_it_is_read(
    shop: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "halves_of_a_test.py").write_text("def half(v):\n    return v // 2\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    shop.ws.add_function("half", "halves_of_a_test:half", returns="int")
    draft = shop.ws.draft_view(shop.spark, "halves", "SELECT half(v) AS h FROM t")
    shop.ws.drop_function("half")
    with pytest.raises(e.CommitConflictError, match="function half is gone"):
        shop.ws._catalogue.add_view(draft)
