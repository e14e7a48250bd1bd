"""What is on disk stays readable: every record's JSON is pinned to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from slacktide import store as s
from slacktide.store.checkpoint import (
    checkpoint_key,
    chunk_key,
    decode_checkpoint,
    encode_checkpoint,
)
from slacktide.store.entry import Entry, decode_entry, encode_entry, entry_key
from slacktide.store.record import ArrivalSpans, ColumnStatistics, KeySpans
from slacktide.store.serde import REQUIREMENTS, UPDATES, TaggedUnion
from slacktide.store.update import CreateWorkspace
from tests.harness.objects import no_part

DATA = Path(__file__).parent / "data"
GOLDEN = (DATA / "format_1.jsonl").read_text(encoding="utf-8").splitlines()

COLUMN = {"name": "o_orderkey", "type": "BIGINT", "nullable": False}
FILE = s.PinnedFile("s3://in/a b.parquet", 7, "2026-01-01T00:00:00+00:00", '"e"', 3, "d5")
BARE = s.PinnedFile("/in/é", 1, "2026-01-02T00:00:00+00:00")
ARRIVALS = [
    s.Arrival((FILE, BARE), 4, 8, "2026-01-03T00:00:00.000000Z", 1),
    s.Arrival((), None, 0, "2026-01-04T00:00:00.000000Z"),
]
SEGMENT = s.Segment(
    3,
    (s.StoredFile("states/x/3/a", 5, 2, s.Seal(4, "d7")), s.StoredFile("b", 6)),
    2,
    11,
    {"o": 1},
    read=40,
)
NAMED = s.Segment("register", (), 0, 0, {})
CHAIN = s.Chain("states/x", (COLUMN,), NAMED, (SEGMENT,), 9, over={"states/y": 2})
FOREIGN_KEY = s.ForeignKeyRecord(
    "orders(o_parent) -> orders(o_orderkey)",
    "orders",
    ("o_parent",),
    "orders",
    ("o_orderkey",),
    {"orders": 2},
)
DEFINITION: dict[str, Any] = {
    "conf": {"spark.sql.ansi.enabled": "true"},
    "definition": {"plan": [1, None]},
}
REASONS = ("CLOCK(now())", {"code": "POLICY"})
SAMPLES: list[Any] = [
    CreateWorkspace({"goal": "cost", "budget": None}),
    s.AddSource("orders", "change-feed", {"path": "s3://in"}, (COLUMN,)),
    s.DropSource("orders"),
    s.AcceptArrivals("orders", ARRIVALS),
    s.RepinFiles("orders", (FILE,)),
    s.NoteColumns("orders", ({"name": "new", "type": "INT", "version": 2},)),
    s.NoteStatistics("orders", {"a": ColumnStatistics(5, 1, -2.5, 7.0, None)}),
    s.NoteSpans("orders", (ArrivalSpans(2, {"a": KeySpans(3, (1.0, 2.0, 9.0, 9.0))}),)),
    s.AlterSource("orders", {"path": "s3://in"}, (COLUMN, {**COLUMN, "name": "b", "added": True})),
    s.SkipArrival("orders", 2),
    s.ExamineArrivals("orders", 2, {"1": 7}),
    s.HoldSource("orders", held=True),
    s.MarkComplete("orders", "2026-01-01"),
    s.ResetSource("orders"),
    s.AddFunction(s.FunctionRecord("price", "shop:price", "DOUBLE", {"deterministic": True})),
    s.DropFunction("price"),
    s.AddView("q1", "SELECT 'é'", {"due": "1h"}, **DEFINITION, reasons=REASONS, states=("x",)),
    s.ReplaceView("q1", "SELECT 2", {}, **DEFINITION, reasons=(), states=()),
    s.RestateView("q1", "SELECT 2", {}, **DEFINITION, reasons=(), states=()),
    s.ForgetFormer("q1", 3),
    s.DropView("q1"),
    s.PauseView("q1", paused=False),
    s.NoteForeignKeys((FOREIGN_KEY,)),
    s.NoteCalibration({"coefficients": {"rows_read": 5e-08}, "spark": "4.1.2"}),
    s.NoteEngine("Spark 4.1.2 on Java 17"),
    s.DoubtAnswer("q1", "orders(o_parent) -> orders(o_orderkey)"),
    s.DoubtAnswer("q1", engine="Spark 4.1.2 on Java 17"),
    s.SetChain(CHAIN),
    s.SetChain(s.Chain("views/q1", (), None)),
    s.ExtendChain("states/x", SEGMENT),
    s.DropChain("states/x"),
    s.AdvancePeriod("q1", s.Period(2, ({"orders": 2},), ("states/x",), {"orders": 3})),
    s.AdvanceView("q1", {"orders": 2}, 3, ("states/x",)),
    s.AdvanceView("q1", {"orders": 2}, 3, origins={"states/x": 2}),
    s.RecordRun(3, "plan-3", {"views": {"q1": {"method": "full"}}}),
    s.Collect(0),
    s.NameFree("view", "q1"),
    s.SourceIs("orders", 4),
    s.SourceArrivals("orders", 2),
    s.SkippedAre("orders", (1, 3)),
    s.ViewIs("q1", None),
    s.DefinedBy("source", "orders", 4),
    s.NonePlaced(7, read=False),
    s.ReadersAre("orders", ("q1", "q2")),
    s.ChainIs("states/x", 9),
    s.ForeignKeyIs("orders(o_parent) -> orders(o_orderkey)", 9),
    s.EngineIs("Spark 4.1.2 on Java 17"),
    s.PlanOpen("plan-3"),
    s.RunFree(3),
    s.NotCollected(7),
    s.FunctionIs(s.FunctionRecord("price", "shop:price", "DOUBLE", {"kind": "pandas"})),
    s.Uncalled("price"),
]


def codec(sample: Any) -> TaggedUnion:
    """The union that a sample belongs to."""
    return UPDATES if isinstance(sample, get_args(s.Update)) else REQUIREMENTS


def line(sample: Any) -> str:
    """A sample as it stands in the log."""
    return json.dumps(codec(sample).encode(sample), ensure_ascii=False)


def test_every_member_has_a_tag_and_a_sample() -> None:
    for union, codec_ in ((s.Update, UPDATES), (s.Requirement, REQUIREMENTS)):
        kinds = set(get_args(union))
        assert set(codec_.tags.values()) == kinds
        assert kinds <= {type(sample) for sample in SAMPLES}


def test_nothing_is_pinned_that_is_not_tried() -> None:
    assert len(GOLDEN) == len(SAMPLES)


@pytest.mark.parametrize(("sample", "pinned"), list(zip(SAMPLES, GOLDEN, strict=False)))
def test_json_of_each_record(sample: Any, pinned: str) -> None:
    assert line(sample) == pinned
    assert codec(sample).decode(json.loads(pinned), "here") == sample


def test_fields_with_a_default_may_be_missing() -> None:
    """An entry of an older version of the same format is read."""
    value = {
        "tag": "add-view",
        "name": "q",
        "sql": "",
        "settings": {},
        "conf": {},
        "definition": {},
    }
    assert UPDATES.decode(value, "here") == s.AddView("q", "", {}, {}, {})
    segment = {"run": 3, "files": [], "rows": 0, "bytes": 0, "versions": {}}
    extended = UPDATES.decode({"tag": "extend-chain", "id": "views/v", "segment": segment}, "here")
    assert extended == s.ExtendChain("views/v", s.Segment(3, (), 0, 0, {}, runs=1, read=None))
    advanced = UPDATES.decode(
        {"tag": "advance-view", "view": "v", "versions": {}, "run": 3}, "here"
    )
    assert advanced == s.AdvanceView("v", {}, 3)


def test_an_entry() -> None:
    entry = Entry("token", "2026-01-01T00:00:00.000000Z", (s.DropView("q1"),), (s.PlanOpen("p"),))
    pinned = (
        b'{"format":1,"writer":"token","at":"2026-01-01T00:00:00.000000Z",'
        b'"updates":[{"tag":"drop-view","name":"q1"}],'
        b'"requirements":[{"tag":"plan-open","plan_id":"p"}],'
        b'"digest":"2c350bdcae07eeeea629fae1aa730488"}'
    )
    assert encode_entry(entry) == pinned
    assert decode_entry(pinned, "here") == entry
    assert entry_key(42) == "log/00000000000000000042.json"
    assert chunk_key("ab") == "log/checkpoint/arrivals/ab.json"
    assert checkpoint_key(50) == "log/checkpoint/00000000000000000050.jsonl"


def test_a_checkpoint() -> None:
    updates = [sample for sample in SAMPLES[1:] if isinstance(sample, get_args(s.Update))]
    drops = (
        s.DropSource,
        s.DropFunction,
        s.DropView,
        s.DropChain,
        s.ResetSource,
        s.ReplaceView,
    )
    kept = [update for update in updates if not isinstance(update, drops)]
    replaced = next(update for update in updates if isinstance(update, s.ReplaceView))
    world = s.fold(s.World(), [(0, [SAMPLES[0]]), (1, kept), (2, [replaced])])
    assert world.views["q1"].former
    pinned = (DATA / "checkpoint_1.jsonl").read_bytes()
    assert encode_checkpoint(world, lambda _: None) == pinned
    assert decode_checkpoint(pinned, "here", no_part) == world
