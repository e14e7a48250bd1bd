"""Rows of text files that do not fit the schema: kept apart where the source has a quarantine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slacktide import errors as e
from slacktide.engine.running.refreshing import Refresh
from tests.harness.lab import Lab, bag
from tests.harness.objects import Killed

pytestmark = pytest.mark.spark

GOOD = '1,"x, y",1.5\n2,z,\n'
BAD = "oops,a,1\n3,b,2\n4,c\n5,d,6,7\n"


def lines(lab: Lab, name: str, content: str) -> Path:
    path = lab.folder("lines") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def source(lab: Lab, **arguments) -> None:
    given = {"format": "csv", "schema": "id INT, name STRING, x DOUBLE", **arguments}
    lab.ws.add_source("lines", path=str(lab.folder("lines")), **{"kind": "files", **given})


def kept(lab: Lab) -> dict[str, list[str]]:
    """The rows in quarantine by the name of the file that they came in."""
    found: dict[str, list[str]] = {}
    for part in sorted((lab.root / "quarantine").rglob("*.jsonl")):
        for line in part.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found.setdefault(Path(entry["file"]).name, []).append(entry["row"])
    return found


@pytest.mark.parametrize(
    ("kind", "schema", "query", "bad"),
    [
        ("csv", "id INT, name STRING, x DOUBLE", "SELECT id FROM s WHERE id > 5", "1,a,b\n"),
        ("json", "id INT, name STRING, x DOUBLE", "SELECT id FROM s", '{"id": 1, "x": "b"}\n'),
        ("csv", "id INT", "SELECT count(*) AS n FROM s", "a\n"),
        ("json", "id INT", "SELECT count(*) AS n FROM s", '{"id": "a"}\n'),
    ],
)
def test_a_row_that_does_not_fit_ends_the_run_whatever_a_view_reads(
    lab: Lab, kind: str, schema: str, query: str, bad: str
) -> None:
    lines(lab, f"a.{kind}", "")
    path = str(lab.folder("lines"))
    lab.ws.add_source("s", kind="files", path=path, format=kind, schema=schema)
    lab.view("v", query, None)
    lab.refresh()
    lines(lab, f"b.{kind}", bad)
    with pytest.raises(e.SourceError, match=rf"b\.{kind}") as caught:
        lab.refresh()
    assert "slacktide source skip" in caught.value.hint
    assert "--quarantine" in caught.value.hint


def test_bad_rows_are_kept_apart_and_counted(lab: Lab) -> None:
    lines(lab, "a.csv", GOOD)
    source(lab, quarantine=str(lab.root / "quarantine"))
    lab.view("names", "SELECT name FROM lines", None)
    lab.view("ids", "SELECT id FROM lines WHERE id > 1", None)
    lab.view("count", "SELECT count(*) AS n FROM lines", None)
    assert lab.step().quarantined == {}
    assert kept(lab) == {}
    lines(lab, "b 100%41 é.csv", BAD)
    report = lab.step(names="incremental", ids="incremental", count="incremental")
    assert report.quarantined == {"lines": 3}
    assert lab.bag("names") == bag([("x, y",), ("z",), ("b",)])
    assert lab.bag("ids") == bag([(2,), (3,)])
    assert lab.bag("count") == bag([(3,)])
    assert kept(lab) == {"b 100%41 é.csv": ["4,c", "5,d,6,7", "oops,a,1"]}
    status = lab.ws.status().sources["lines"]
    assert (status["quarantined"], status["quarantine"]) == (3, str(lab.root / "quarantine"))
    assert lab.ws.history()[-1].quarantined == {"lines": 3}
    before = {path: path.stat().st_mtime_ns for path in (lab.root / "quarantine").rglob("*")}
    lab.view("late", "SELECT name, x FROM lines", None)
    assert lab.step(late="full").quarantined == {}
    assert {path: path.stat().st_mtime_ns for path in before} == before, "known rows are left alone"
    lab.ws.skip("lines", "b 100%41 é.csv")
    assert lab.ws.status().sources["lines"]["quarantined"] == 0
    lab.step()
    assert lab.bag("count") == bag([(2,)])


def test_a_feed_in_json_and_its_mirror(lab: Lab) -> None:
    def feed(*rows: object) -> str:
        return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows)

    def row(number: object, name: str, change: str = "insert") -> dict[str, object]:
        return {"id": number, "name": name, "_change_type": change}

    lines(lab, "a.json", feed(row(1, "a"), row("one", "b"), "{broken", row(2, "c")))
    place = str(lab.root / "quarantine")
    source(lab, kind="change-feed", format="json", schema="id INT, name STRING", quarantine=place)
    lab.view("names", "SELECT name, max(id) AS m FROM lines GROUP BY name", None)
    lab.view("full", "SELECT name FROM lines", None, policy="full")
    lab.view("met", "SELECT a.name FROM lines a JOIN lines b ON a.id = b.id", None)
    lab.step()
    assert lab.bag("full") == bag([("a",), ("c",)])
    lines(lab, "b.json", feed(row(2, "c", "delete"), row(None, "d"), row([3], "e"), row(3, "f")))
    report = lab.step()
    assert report.quarantined == {"lines": 1}
    assert lab.bag("full") == bag([("a",), ("d",), ("f",)])
    assert lab.bag("met") == bag([("a",), ("f",)])
    assert [len(rows) for rows in kept(lab).values()] == [2, 1]
    lab.ws.reset_source("lines")
    assert lab.ws.status().sources["lines"]["quarantined"] == 0
    assert lab.step().quarantined == {"lines": 3}
    assert [len(rows) for rows in kept(lab).values()] == [2, 1], "the same arrivals, once"
    lines(lab, "c.json", feed(row(9, "z", "upsert")))
    with pytest.raises(e.SourceError, match="unknown _change_type upsert"):
        lab.refresh()


def test_a_retry_sees_and_keeps_the_same_rows(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lines(lab, "a.csv", GOOD + BAD)
    source(lab, quarantine=str(lab.root / "quarantine"))
    lab.view("names", "SELECT name FROM lines", None)
    plan = lab.ws.plan()

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Refresh, "_commit", die)
        with pytest.raises(Killed):
            lab.ws.refresh(lab.spark, plan)
    before = {p: p.read_bytes() for p in (lab.root / "quarantine").rglob("*.jsonl")}
    assert len(before) == 1
    assert lab.ws.status().sources["lines"]["quarantined"] == 0
    assert lab.ws.refresh(lab.spark, plan).quarantined == {"lines": 3}
    assert {p: p.read_bytes() for p in (lab.root / "quarantine").rglob("*.jsonl")} == before
    lab.verified()
    assert lab.ws.status().sources["lines"]["quarantined"] == 3


def test_a_quarantine_has_a_place_of_its_own(lab: Lab) -> None:
    lines(lab, "a.csv", GOOD)
    for place, says in (
        (lab.folder("lines") / "bad", "shares files with source lines"),
        (Path(lab.ws.root) / "bad", "shares files with the workspace"),
    ):
        with pytest.raises(e.InvalidSettingError, match=says):
            source(lab, quarantine=str(place))
    with pytest.raises(e.InvalidSettingError, match="Slacktide sets itself"):
        source(lab, options={"columnNameOfCorruptRecord": "x"})
