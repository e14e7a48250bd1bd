"""From a landed file to an exact answer, typed as a user types it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from slacktide import store as s
from slacktide.common.clock import system_clock
from tests.harness.lab import as_if_written
from tests.spark.cli.conftest import land
from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.spark

REVENUE = "SELECT customer, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer"
RANKED = "SELECT id, row_number() OVER (ORDER BY id) AS place FROM orders"


def rows(program: Program, *command: str) -> list[list]:
    ran = program(*command, "--json")
    assert ran.code == 0, ran.err
    return sorted(ran.document["rows"], key=repr)


def test_a_change_becomes_an_exact_answer(shop: Program, landing: Path) -> None:
    added = shop("view", "add", "revenue", "--sql", REVENUE)
    assert (added.code, added.err) == (0, "")
    assert "view revenue is incremental" in added.out
    land(landing, "many", "".join(f"{number},zoe,1.00\n" for number in range(10, 50)))
    assert shop("refresh").code == 0
    before = [["ada", "10.50", 2], ["bob", "20.00", 1], ["zoe", "40.00", 40]]
    assert rows(shop, "read", "revenue") == before
    land(landing, "b", "4,ada,1.00\n")
    report = shop("refresh", "--json").document
    assert report["views"]["revenue"]["method"] == "incremental"
    after = [["ada", "11.50", 3], *before[1:]]
    assert rows(shop, "read", "revenue") == after
    assert rows(shop, "read", "revenue", "--run", "1") == before
    assert rows(shop, "changes", "revenue", "--since", "1") == [
        ["ada", "10.50", 2, "delete", 2],
        ["ada", "11.50", 3, "insert", 2],
    ]
    verified = shop("verify", "--json")
    assert verified.code == 0
    assert verified.document["equal"] is True
    runs = shop("history", "revenue", "--json").document["runs"]
    assert [run["run"] for run in runs] == [2, 1]
    assert "nothing to do" in shop("refresh").out


def test_the_verdict_comes_before_anything_is_written(shop: Program) -> None:
    ran = shop("view", "add", "ranked", "--sql", RANKED, "--dry-run")
    assert ran.code == 0
    assert "view ranked is recomputed in full whenever its sources change, because" in ran.out
    assert "window without PARTITION BY is computed anew from the sources" in ran.out
    daily = "SELECT id, current_date() AS day FROM orders"
    ran = shop("view", "add", "daily", "--sql", daily, "--dry-run")
    assert "view daily is recomputed in full by every run, because" in ran.out
    assert shop("view", "list", "--json").document == {"views": {}}
    document = shop("view", "add", "ranked", "--sql", RANKED, "--json").document
    assert document["is_incremental"] is False
    assert document["reasons"] == ["OPERATOR_NOT_INCREMENTAL(window without PARTITION BY)"]


def test_intervals_are_printed(shop: Program) -> None:
    made = "SELECT make_ym_interval(1, id) AS y, array(make_ym_interval(id)) AS ys"
    sql = f"{made}, make_dt_interval(id, 2) AS d FROM orders WHERE id < 2"
    assert shop("view", "add", "terms", "--sql", sql).code == 0
    assert shop("refresh").code == 0
    month, days = "INTERVAL '1-1' YEAR TO MONTH", "1 day, 2:00:00"
    row = [month, ["INTERVAL '1-0' YEAR TO MONTH"], days]
    assert rows(shop, "read", "terms") == [row]
    assert rows(shop, "changes", "terms", "--since", "0") == [[*row, "insert", 1]]
    assert month in shop("read", "terms").out


def test_a_stored_plan_is_run_as_it_is(shop: Program, landing: Path, tmp_path: Path) -> None:
    shop("view", "add", "revenue", "--sql", REVENUE)
    plan = shop("plan", "--out", str(tmp_path / "plan.json"), "--json").document
    land(landing, "b", "4,cyd,1.00\n")
    report = shop("refresh", "--plan", str(tmp_path / "plan.json"), "--json").document
    assert report["plan_id"] == plan["plan_id"]
    assert len(rows(shop, "read", "revenue")) == 2
    again = shop("refresh", "--plan", plan["plan_id"], "--json").document
    assert again["run"] == report["run"]


def test_some_views_are_brought_up_to_date_and_due_at_once(shop: Program, landing: Path) -> None:
    goal = '{"weights": [0.001, 1]}'
    for name in ("one", "other"):
        shop("view", "add", name, "--sql", REVENUE, "--set", f"goal={goal}")
    shop("refresh")
    land(landing, "b", "4,cyd,1.00\n")
    report = shop("refresh", "--views", "one", "--due", "--json").document
    assert list(report["views"]) == ["one"]
    assert [len(rows(shop, "read", name)) for name in ("one", "other")] == [3, 2]
    report = shop("refresh", "--views", "other", "--json").document
    assert list(report["views"]) == ["other"]
    assert report["views"]["other"]["reasons"][0].startswith("NOT_DUE(1 of 2")


def test_a_query_is_read_from_standard_input_and_from_a_file(
    shop: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(REVENUE))
    assert shop("view", "add", "piped").code == 0
    (tmp_path / "q.sql").write_text(REVENUE, encoding="utf-8")
    assert shop("view", "add", "filed", "--file", str(tmp_path / "q.sql")).code == 0
    assert sorted(shop("view", "list", "--json").document["views"]) == ["filed", "piped"]


def test_views_are_replaced_paused_and_dropped(shop: Program) -> None:
    shop("view", "add", "v", "--sql", REVENUE)
    assert shop("view", "replace", "v", "--sql", "SELECT id FROM orders WHERE id > 1").code == 0
    shop("refresh")
    assert rows(shop, "read", "v") == [[2], [3]]
    assert shop("view", "pause", "v").code == 0
    assert shop("view", "list", "--json").document["views"]["v"]["paused"] is True
    assert shop("view", "resume", "v").code == 0
    assert shop("view", "list", "--json").document["views"]["v"]["paused"] is False
    assert shop("view", "drop", "v").code == 0
    assert shop("read", "v").code == 2


def test_an_answer_is_published_and_rows_are_kept_apart(
    shop: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "a.csv").write_text("1\nx\n", encoding="utf-8")
    form = ("--kind", "files", "--format", "csv", "--schema", "id INT")
    place = ("--path", str(tmp_path / "lines"), "--quarantine", str(tmp_path / "bad"))
    assert shop("source", "add", "lines", *form, *place).code == 0
    monkeypatch.chdir(tmp_path)
    added = shop("view", "add", "ids", "--sql", "SELECT id FROM lines", "--sink", "out")
    assert added.code == 0, added.err
    out = tmp_path / "out"
    assert f"view ids is published to {out}: nothing yet" in shop("view", "list").out
    ran = shop("refresh")
    assert ran.code == 0
    assert f"view ids is published to {out}" in ran.out
    assert "source lines: 1 rows do not fit its schema and are in quarantine" in ran.out
    assert pq.read_table(out).to_pylist() == [{"id": 1}]
    shown = shop("status").out
    assert f"view ids is published to {out}: run 1" in shown
    assert f"1 rows in quarantine at {tmp_path / 'bad'}" in shown
    out.unlink()
    out.write_text("mine", encoding="utf-8")
    (tmp_path / "lines" / "b.csv").write_text("2\n", encoding="utf-8")
    ran = shop("refresh")
    assert ran.code == 2
    assert f"view ids was not published to {out}" in ran.out
    assert "run 2 of plan" in ran.out
    assert shop("refresh", "--json").document["sinks"]["ids"]["error"]["code"] == "SINK"
    assert f"{out} is a file" in shop("view", "list").out
    out.unlink()
    assert f"view ids will be published to {out}" in shop("plan").out
    assert "nothing to do" in shop("refresh").out
    assert pq.read_table(out).num_rows == 2
    ended = f"view ids is no longer published to {out}; what is there stays"
    again = ("view", "replace", "ids", "--sql", "SELECT id FROM lines")
    assert ended not in shop(*again, "--sink", "out").out
    assert ended in shop(*again).out
    assert pq.read_table(out).num_rows == 2


def test_explains_a_view_a_query_and_a_plan(shop: Program, tmp_path: Path) -> None:
    shop("view", "add", "revenue", "--sql", REVENUE)
    assert "view revenue is maintained incrementally" in shop("explain", "revenue").out
    asked = shop("explain", RANKED, "--json").document
    assert asked["is_incremental"] is False
    shop("plan", "--out", str(tmp_path / "plan.json"))
    assert "view revenue: full" in shop("explain", "--plan", str(tmp_path / "plan.json")).out
    assert list(shop("view", "list", "--json").document["views"]) == ["revenue"]


BAD = {
    "a query that does not parse": (("--sql", "SELEC 1"), "QUERY"),
    "a column that is not there": (("--sql", "SELECT nothing FROM orders"), "QUERY"),
    "a table that is not there": (("--sql", "SELECT * FROM ghosts"), "QUERY"),
    "a policy that excludes the query": (
        ("--sql", RANKED, "--policy", "incremental"),
        "UNSUPPORTED_QUERY",
    ),
    "a policy that is none": (("--sql", REVENUE, "--policy", "lazy"), "INVALID_SETTING"),
    "a setting that is none": (("--sql", REVENUE, "--set", "speed=9"), "INVALID_SETTING"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_view_that_cannot_be(shop: Program, case: str) -> None:
    options, code = BAD[case]
    ran = shop("view", "add", "v", *options, "--json")
    assert (ran.code, ran.err) == (2, "")
    assert ran.document["error"]["code"] == code
    assert ran.document["error"]["hint"]
    assert shop("view", "list", "--json").document == {"views": {}}


def test_a_name_that_is_taken(shop: Program) -> None:
    shop("view", "add", "v", "--sql", REVENUE)
    ran = shop("view", "add", "v", "--sql", REVENUE)
    assert ran.code == 2
    assert ran.err.startswith("error: the name v is taken")
    assert ran.err.count("\n") == 1


def test_a_view_that_fails_while_others_go_on(shop: Program, landing: Path) -> None:
    shop("view", "add", "good", "--sql", REVENUE)
    shop("view", "add", "bad", "--sql", "SELECT CAST(customer AS INT) AS number FROM orders")
    ran = shop("refresh", "--json")
    assert ran.code == 2
    assert ran.document["views"]["bad"]["error"]["code"] == "DATA"
    assert ran.document["views"]["good"]["error"] is None
    assert len(rows(shop, "read", "good")) == 2
    assert "bad" in shop("history").out


def test_verify_finds_a_row_that_is_wrong(shop: Program) -> None:
    shop("view", "add", "v", "--sql", "SELECT id, customer FROM orders")
    shop("refresh")
    (path,) = (shop.root / "views" / "v").rglob("*.parquet")
    table = pq.read_table(path, partitioning=None)
    names = pc.replace_substring(table["c1"], "bob", "eve")
    pq.write_table(table.set_column(1, "c1", names), path)
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    as_if_written(s.Store.open(str(shop.root), clock=system_clock), "views/v", path)
    ran = shop("verify")
    assert ran.code == 1
    assert "extra 1 of id=2, customer=eve" in ran.out
    assert "missing 1 of id=2, customer=bob" in ran.out


def test_verify_checks_what_sources_declare(shop: Program, tmp_path: Path) -> None:
    assert shop("verify", "--references").out == "no source declares a key or a foreign key\n"
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "a.csv").write_text("name\nada\n", encoding="utf-8")
    form = ("--format", "csv", "--option", "header=true", "--kind", "files")
    people = ("--path", str(folder), "--schema", "name STRING", "--key", "name")
    assert shop("source", "add", "people", *form, *people).code == 0
    schema = "id BIGINT, customer STRING, amount DECIMAL(10,2)"
    bills = ("--path", str(tmp_path / "orders"), "--schema", schema)
    referring = ("--reference", "customer=people.name")
    assert shop("source", "add", "bills", *form, *bills, *referring).code == 0
    shop("discover")
    ran = shop("verify", "--references")
    assert ran.code == 2
    assert ran.out.splitlines() == [
        "key people(name): ok",
        "foreign key bills(customer) -> people(name): 1 key violates it: bob",
        "as of bills 1, orders 1, people 1, which refreshes have taken in; later arrivals are not looked at",
    ]
    broken = "foreign key bills(customer) -> people(name) does not hold: 1 key violates it: bob"
    assert broken in shop("status").out
    (folder / "b.csv").write_text("name\nbob\n", encoding="utf-8")
    shop("discover")
    ran = shop("verify", "--references", "--json")
    assert (ran.code, ran.document["holds"]) == (0, True)
    assert "foreign key" not in shop("status").out
    assert ran.document["versions"] == {"orders": 1, "people": 2, "bills": 1}
    refused = shop("verify", "--views", "v", "--references")
    assert refused.code == 2
    assert "about sources" in refused.err


def test_instants_are_printed_whatever_formatter_the_session_has(shop: Program, spark) -> None:
    sql = "SELECT TIMESTAMP '2026-10-25 01:30:00 UTC' AS t, id FROM orders WHERE id = 1"
    shop("view", "add", "v", "--sql", sql)
    shop("refresh")
    policy = "spark.sql.legacy.timeParserPolicy"
    spark.conf.set(policy, "LEGACY")
    try:
        assert rows(shop, "read", "v") == [["2026-10-25 01:30:00+00:00", 1]]
        assert spark.conf.get(policy) == "LEGACY"
    finally:
        spark.conf.unset(policy)


def test_rows_are_printed_in_three_forms(shop: Program) -> None:
    shop("view", "add", "v", "--sql", TYPES)
    shop("refresh")
    ran = shop("read", "v", "--json")
    document = ran.document
    assert [column["name"] for column in document["columns"]] == NAMES
    (row,) = document["rows"]
    assert dict(zip(NAMES, row, strict=True)) == {
        "text": 'a "quoted", text',
        "empty": "",
        "nothing": None,
        "exact": "1.50",
        "odd": "nan",
        "day": "2026-01-31",
        "moment": "2026-01-31 12:00:00",
        "raw": "ff00",
        "list": [1, None],
        "pairs": [["k", 1]],
        "inner": {"x": 1, "y": "z"},
        "yes": True,
        "months": "INTERVAL '1-2' YEAR TO MONTH",
        "late": "+10000-01-01",
        "nested": [["2026-01-31", [{"at": "2026-10-25 01:30:00+00:00"}]]],
    }
    line = shop("read", "v", "--format", "csv").out.split("\r\n")[1]
    assert line == (
        '"a ""quoted"", text","",,1.50,nan,2026-01-31,2026-01-31 12:00:00,ff00,'
        '"[1, null]","[[""k"", 1]]","{""x"": 1, ""y"": ""z""}",true,'
        "INTERVAL '1-2' YEAR TO MONTH,+10000-01-01,"
        '"[[""2026-01-31"", [{""at"": ""2026-10-25 01:30:00+00:00""}]]]"'
    )
    table = shop("read", "v").out
    assert "NULL" in table
    assert "1 row" in table


NAMES = ["text", "empty", "nothing", "exact", "odd", "day", "moment", "raw", "list", "pairs"]
NAMES += ["inner", "yes", "months", "late", "nested"]
TYPES = """
SELECT 'a "quoted", text' AS text, '' AS empty, CAST(NULL AS INT) AS nothing,
  CAST(1.5 AS DECIMAL(5,2)) AS exact, double('NaN') AS odd, DATE '2026-01-31' AS day,
  TIMESTAMP_NTZ '2026-01-31 12:00:00' AS moment, X'FF00' AS raw, array(1, NULL) AS list,
  map('k', 1) AS pairs, named_struct('x', 1, 'y', 'z') AS inner, true AS yes,
  INTERVAL '1-2' YEAR TO MONTH AS months, date_add(DATE '9999-12-31', 1) AS late,
  map(DATE '2026-01-31', array(named_struct('at', TIMESTAMP '2026-10-25 01:30:00 UTC'))) AS nested
FROM orders WHERE id = 1
"""


def test_limits(shop: Program) -> None:
    shop("view", "add", "v", "--sql", "SELECT id FROM orders ORDER BY id DESC")
    shop("refresh")
    assert shop("read", "v", "--limit", "2", "--json").document["rows"] == [[3], [2]]
    assert "the first 2 rows" in shop("read", "v", "--limit", "2").out
    assert shop("read", "v", "--format", "csv").out == "id\r\n3\r\n2\r\n1\r\n"


def test_every_document_is_one(shop: Program) -> None:
    for command in (
        ("view", "add", "v", "--sql", REVENUE),
        ("refresh",),
        ("read", "v"),
        ("changes", "v", "--since", "0"),
        ("verify",),
        ("explain", "v"),
        ("status",),
        ("view", "replace", "v", "--sql", REVENUE),
        ("view", "drop", "v"),
    ):
        ran = shop(*command, "--json")
        assert (ran.code, ran.err) == (0, ""), command
        assert isinstance(json.loads(ran.out), dict)


def test_the_shared_session_goes_on(shop: Program, spark) -> None:
    shop("view", "add", "v", "--sql", REVENUE)
    assert spark.range(3).count() == 3
    assert os.environ.get("SPARK_LOCAL_IP") == "127.0.0.1"
