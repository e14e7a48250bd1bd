"""Commands that need no Spark, over a real workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide import store as s
from slacktide.algebra.view import ReadView
from slacktide.common.clock import system_clock
from tests.unit.cli.conftest import ORDERS, Program

WITHOUT_SPARK = (
    ("source", "list"),
    ("view", "list"),
    ("function", "list"),
    ("discover",),
    ("plan",),
    ("status",),
    ("history",),
    ("gc",),
)


@pytest.mark.parametrize("command", WITHOUT_SPARK, ids=" ".join)
def test_prints_one_json_document(shop: Program, command: tuple[str, ...]) -> None:
    ran = shop(*command, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert isinstance(ran.document, dict)


@pytest.mark.parametrize("command", WITHOUT_SPARK, ids=" ".join)
def test_an_empty_workspace_says_what_comes_next(
    program: Program, command: tuple[str, ...]
) -> None:
    program("init")
    ran = program(*command)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.strip()


def test_a_plan_tells_of_sinks_that_lack_an_answer(program: Program, tmp_path: Path) -> None:
    program("init")
    out = tmp_path / "out"
    settings = {"policy": "auto", "sink": {"parquet": str(out)}}
    store = s.Store.open(str(program.root), clock=system_clock)
    view = s.AddView("v", "SELECT 1", settings, {}, ReadView(None, ()).to_dict())
    answer = s.Chain("views/v", (), s.Segment(1, (), 0, 0, {}))
    store.commit([view, s.SetChain(answer), s.AdvanceView("v", {}, 1), s.RecordRun(1, "p", {})])
    said = program("plan").out
    assert f"view v will be published to {out}" in said
    assert "nothing to do" not in said


def test_init_makes_a_workspace_once(program: Program) -> None:
    assert program("init", "--json").document == {"workspace": str(program.root)}
    again = program("init")
    assert again.code == 2
    assert again.err.startswith("error: ")
    assert str(program.root) in again.err


def test_the_environment_names_the_workspace(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slacktide.cli.main import run_command

    program("init")
    monkeypatch.setenv("SLACKTIDE_WORKSPACE", str(program.root))
    assert run_command(["status"]) == 0
    assert str(program.root) in program.capture.readouterr().out


def test_storage_options_come_from_the_environment(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACKTIDE_STORAGE_OPTIONS", "region=eu")
    ran = program("init")
    assert ran.code == 2
    assert "SLACKTIDE_STORAGE_OPTIONS is not a JSON object" in ran.err


def test_discover_accepts_what_landed(shop: Program) -> None:
    before = shop("source", "list", "--json").document["sources"]["orders"]
    assert (before["version"], before["landed"]) == (0, 1)
    assert shop("discover", "--json").document == {"versions": {"orders": 1}, "extra": {}}
    after = shop("source", "list", "--json").document["sources"]["orders"]
    assert (after["version"], after["landed"]) == (1, 0)


def test_source_add_shows_the_columns(program: Program, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    program("init")
    ran = program(*ORDERS, "--path", str(tmp_path / "orders"), "--key", "id")
    assert ran.code == 0
    assert "source orders is added, with 2 columns" in ran.out
    assert "customer" in ran.out
    assert "STRING" in ran.out


def test_arrivals_say_which_file_is_which_version(shop: Program) -> None:
    assert shop("source", "arrivals", "orders").out == "source orders has no arrivals yet\n"
    shop("discover")
    shop("source", "skip", "orders", "1")
    (told,) = shop("source", "arrivals", "orders", "--json").document["arrivals"]
    (path,) = told["files"]
    assert Path(path).is_file()
    assert (told["version"], told["skipped"], told["needed"]) == (1, True, True)
    printed = " ".join(shop("source", "arrivals", "orders", "--limit", "1").out.split())
    assert Path(path).name in printed.replace(" ", "")
    assert printed.endswith("skipped")
    lost = shop("source", "arrivals", "order")
    assert (lost.code, "order" in lost.err) == (2, True)


def test_source_marks(shop: Program) -> None:
    shop("discover")
    assert shop("source", "hold", "orders").code == 0
    assert shop("source", "complete", "orders", "2026-01-31").code == 0
    assert shop("source", "skip", "orders", "1", "--json").document["skipped"] == 1
    entry = shop("source", "list", "--json").document["sources"]["orders"]
    assert entry["held"] is True
    assert entry["complete"] == ["2026-01-31"]
    assert entry["skipped"] == [1]
    shown = shop("source", "list").out
    assert "held; skipped 1; complete to 2026-01-31" in shown
    shop("source", "release", "orders")
    assert shop("source", "list", "--json").document["sources"]["orders"]["held"] is False


def test_source_skip_takes_a_file_name(shop: Program) -> None:
    assert shop("source", "skip", "orders", "a.csv").code == 0
    entry = shop("source", "list", "--json").document["sources"]["orders"]
    assert (entry["skipped"], entry["landed"]) == ([1], 0)


def test_source_reset_and_drop(shop: Program) -> None:
    shop("discover")
    assert shop("source", "reset", "orders").code == 0
    assert shop("source", "list", "--json").document["sources"]["orders"]["version"] == 0
    assert shop("source", "drop", "orders").code == 0
    assert shop("source", "list", "--json").document == {"sources": {}}


def test_a_source_whose_directory_went_away_hides_nothing_else(
    shop: Program, tmp_path: Path
) -> None:
    (tmp_path / "orders").rename(tmp_path / "moved")
    for command in (("status",), ("source", "list")):
        told = shop(*command)
        assert told.code == 0
        assert "source orders takes nothing in: there is no directory" in told.out.replace(
            "\n", " "
        )
    problem = shop("source", "list", "--json").document["sources"]["orders"]["error"]
    assert problem["message"] == f"there is no directory {tmp_path / 'orders'}"
    assert shop("discover").code != 0


def test_source_alter(program: Program, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    landing.mkdir()
    pq.write_table(pa.table({"id": [1]}), landing / "a.parquet")
    program("init")
    assert program("source", "add", "t", "--kind", "files", "--path", str(landing)).code == 0
    pq.write_table(pa.table({"id": [2], "a b": ["x"]}), landing / "b.parquet")
    told = program("discover").out
    assert "files have a b STRING, which is not declared and is ignored" in told
    assert "slacktide source alter t --schema 'id BIGINT, `a b` STRING' takes it in" in told
    extra = [{"name": "a b", "type": "STRING", "version": 2}]
    assert program("discover", "--json").document["extra"] == {"t": extra}
    assert "ignores a b STRING" in program("status").out
    altered = program("source", "alter", "t", "--schema", "id BIGINT, `a b` STRING", "--json")
    assert (altered.code, altered.document["replaced"]) == (0, [])
    assert "ignores" not in program("status").out
    refused = program("source", "alter", "t", "--schema", "id INT")
    assert (refused.code, "does not keep the column id BIGINT" in refused.err) == (2, True)


def test_functions(shop: Program) -> None:
    added = shop("function", "add", "score", "shop.functions:score", "--returns", "double")
    assert added.code == 0
    listed = shop("function", "list", "--json").document["functions"]
    assert listed["score"]["target"] == "shop.functions:score"
    assert listed["score"]["returns"] == "double"
    assert shop("function", "drop", "score").code == 0
    assert shop("function", "list", "--json").document == {"functions": {}}


@pytest.mark.parametrize("name", ["abs", "SUM", "Count_If", "from_json"])
def test_functions_of_spark_keep_their_names(shop: Program, name: str) -> None:
    added = shop("function", "add", name, "shop.functions:score", "--returns", "double")
    assert added.code == 2
    assert f"function name {name!r} is that of a function of Spark" in added.err
    assert "choose another name" in added.err
    assert shop("function", "list", "--json").document == {"functions": {}}


def test_plan_is_written_to_a_file(shop: Program, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    printed = shop("plan", "--out", str(out), "--json").document
    assert json.loads(out.read_text(encoding="utf-8")) == printed
    explained = shop("explain", "--plan", str(out))
    assert explained.code == 0
    assert printed["plan_id"] in explained.out


def test_lines_are_not_wrapped_in_a_pipe(shop: Program, tmp_path: Path) -> None:
    name = "f" * 100
    shop("function", "add", name, f"{'m' * 100}:{'g' * 100}", "--returns", "double")
    line = next(line for line in shop("function", "list").out.splitlines() if name in line)
    assert f"{'m' * 100}:{'g' * 100}" in line
