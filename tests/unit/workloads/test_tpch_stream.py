from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.errors import InvalidSettingError, InvariantError, SourceError
from slacktide.workloads import tpch
from slacktide.workloads.tpch import values
from tests.harness.tpch_history import History, feed_rows

Open = Callable[..., tpch.ChangeStream]
BATCHES = 8


def keys_of(path: Path, kind: str) -> list[int]:
    return [row[0] for change, row in feed_rows(path) if change == kind]


def content(batches: list[tpch.Batch]) -> list:
    return [{name: feed_rows(path) for name, path in b.files.items()} for b in batches]


@pytest.mark.parametrize("masters", [False, True])
@pytest.mark.parametrize("nature", tpch.NATURES)
def test_history_is_a_legal_bag_after_every_batch(
    nature: str, masters: bool, root: Path, open_stream: Open
) -> None:
    stream = open_stream(nature, masters=masters)
    history = History(root)
    for number in range(1, BATCHES + 1):
        batch = stream.write_next(late=2 if number == 3 else 0, empty=number == 5)
        assert batch.number == number
        assert batch.rows == {name: len(feed_rows(path)) for name, path in batch.files.items()}
        history.apply(batch.files.items())
        history.assert_legal()
    for name, rows in history.rows.items():
        current = pa.Table.from_batches(stream.current(name)).to_pydict()
        assert Counter(zip(*current.values(), strict=True)) == rows


@pytest.mark.parametrize("nature", tpch.NATURES)
def test_natures_may_follow_one_another(nature: str, root: Path, open_stream: Open) -> None:
    history = History(root)
    for number, other in enumerate([nature, *tpch.NATURES, nature], 1):
        batch = open_stream(other, seed=number, share=0.1).write_next(late=2)
        history.apply(batch.files.items())
        history.assert_legal()


@pytest.mark.parametrize("nature", tpch.NATURES)
def test_the_seed_decides(nature: str, base: Path, tmp_path: Path) -> None:
    def run(name: str, seed: int) -> list:
        root = shutil.copytree(base, tmp_path / name)
        stream = tpch.ChangeStream(root, scale=0.001, seed=seed, nature=nature, share=0.03)
        return content([stream.write_next(late=int(n == 1), empty=n == 2) for n in range(4)])

    first = run("first", 3)
    assert run("again", 3) == first
    assert run("other", 4) != first


@pytest.mark.parametrize("nature", tpch.NATURES)
def test_reopening_changes_nothing(nature: str, base: Path, tmp_path: Path) -> None:
    def run(name: str, reopen: bool) -> list:
        root = shutil.copytree(base, tmp_path / name)
        batches = []
        stream = tpch.ChangeStream(root, scale=0.001, seed=5, nature=nature)
        for number in range(5):
            if reopen:
                stream = tpch.ChangeStream(root, scale=0.001, seed=5, nature=nature)
            assert stream.number == number
            batches.append(stream.write_next(late=2 if number == 1 else 0))
        return content(batches)

    assert run("once", reopen=False) == run("often", reopen=True)


@pytest.mark.parametrize("nature", tpch.NATURES)
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_a_batch_changes_its_share(nature: str, share: float, open_stream: Open) -> None:
    batch = open_stream(nature).write_next(rows_share=share)
    base = {"orders": 1500, "lineitem": 6005}
    if nature == "scattered":
        base |= {"customer": 150, "partsupp": 800, "part": 200}
    else:
        assert set(batch.files) == set(base)
    for name, rows in base.items():
        kinds = Counter(kind for kind, _ in feed_rows(batch.files[name]))
        changed = kinds.total() - kinds["update_preimage"]
        assert changed == pytest.approx(share * rows, rel=0.35, abs=3), name


def test_clustered_orders_grow_at_the_end_and_shrink_at_the_beginning(
    root: Path, open_stream: Open
) -> None:
    stream, history = open_stream("clustered"), History(root)
    for _ in range(4):
        present = sorted(history.values("orders.o_orderkey"))
        batch = stream.write_next()
        assert min(keys_of(batch.files["orders"], "insert")) > present[-1]
        gone = sorted(keys_of(batch.files["orders"], "delete"))
        assert gone == present[: len(gone)]
        assert len(gone) >= 29
        history.apply(batch.files.items())


def test_gaps_are_filled_and_old_orders_leave_anywhere(root: Path, open_stream: Open) -> None:
    stream, history = open_stream("gaps"), History(root)
    present = set(history.values("orders.o_orderkey"))
    greatest, used = max(present), set(present)
    for _ in range(4):
        file = stream.write_next().files["orders"]
        new, gone = set(keys_of(file, "insert")), keys_of(file, "delete")
        assert not new & used
        assert max(new) <= greatest
        assert all(key >> 3 & 3 for key in new)
        assert min(gone) < greatest / 4 < 3 * greatest / 4 < max(gone)
        used |= new


def test_orders_come_and_go_with_their_lines(root: Path, open_stream: Open) -> None:
    stream, history = open_stream("gaps"), History(root)
    lines = Counter(history.values("lineitem.l_orderkey"))
    batch = stream.write_next()
    orders, items = batch.files["orders"], batch.files["lineitem"]
    assert set(keys_of(orders, "insert")) == set(keys_of(items, "insert"))
    gone = Counter(keys_of(items, "delete"))
    assert gone == {key: lines[key] for key in keys_of(orders, "delete")}


def test_scattered_changes_touch_every_table_in_every_way(root: Path, open_stream: Open) -> None:
    stream = open_stream("scattered")
    kinds: dict[str, set[str]] = {name: set() for name in tpch.TABLES}
    for number in range(1, BATCHES + 1):
        batch = stream.write_next(empty=number == 4)
        for name, path in batch.files.items():
            kinds[name] |= {kind for kind, _ in feed_rows(path)}
    images = {"update_preimage", "update_postimage"}
    for name in tpch.TABLES:
        assert kinds[name] >= images
    for name in ("customer", "part", "partsupp", "orders", "lineitem"):
        assert kinds[name] >= {"insert", "delete"}, name


def test_updates_come_in_pairs_that_differ_and_keep_keys(open_stream: Open) -> None:
    for name, path in open_stream("scattered").write_next().files.items():
        rows = feed_rows(path)
        before = [row for kind, row in rows if kind == "update_preimage"]
        after = [row for kind, row in rows if kind == "update_postimage"]
        names = [column.name for column in tpch.TABLES[name].columns]
        places = [names.index(column) for column in tpch.TABLES[name].key]
        for old, new in zip(before, after, strict=True):
            assert old != new
            assert [old[place] for place in places] == [new[place] for place in places]


def test_every_row_tells_its_batch(open_stream: Open) -> None:
    stream = open_stream("scattered")
    stream.write_next()
    for path in stream.write_next().files.values():
        assert set(pq.read_table(path, partitioning=None)["_commit_version"].to_pylist()) == {2}


def test_late_rows_come_when_they_are_due(open_stream: Open) -> None:
    stream = open_stream("gaps")
    first = stream.write_next(late=2)
    assert 0 < first.held["orders"] < first.held["lineitem"]
    second = stream.write_next()
    third = stream.write_next()
    early = set(keys_of(first.files["orders"], "insert"))
    assert {
        n: len(keys_of(b.files["orders"], "insert")) for n, b in enumerate((second, third))
    } == {
        0: 30,
        1: 30 + first.held["orders"],
    }
    late_lines = set(keys_of(third.files["lineitem"], "insert"))
    assert early & late_lines, "lines of an order that came before"
    assert not early & set(keys_of(second.files["lineitem"], "insert"))


def test_late_rows_wait_while_batches_are_empty(open_stream: Open) -> None:
    stream = open_stream("gaps")
    held = stream.write_next(late=True).held["orders"]
    stream.write_next(empty=True)
    batch = open_stream("gaps").write_next()
    assert len(keys_of(batch.files["orders"], "insert")) == 30 + held


def test_nothing_late_is_deleted_before_it_came(root: Path, open_stream: Open) -> None:
    history = History(root)
    stream = open_stream("gaps", share=0.8)
    for late in (3, 0, 0, 0):
        batch = stream.write_next(late=late)
        history.apply(batch.files.items())
        history.assert_legal()


def test_empty_batch_is_files_without_rows_and_no_files(open_stream: Open) -> None:
    batch = open_stream("scattered").write_next(empty=True)
    assert batch.rows == {"orders": 0, "lineitem": 0}
    assert {name: feed_rows(path) for name, path in batch.files.items()} == {
        "orders": [],
        "lineitem": [],
    }
    assert "_change_type" in pq.read_schema(batch.files["orders"]).names


def test_new_masters_on_request(open_stream: Open) -> None:
    batch = open_stream("clustered", masters=True, share=0.1).write_next()
    assert {"customer", "part", "partsupp", "supplier"} <= set(batch.files)
    assert min(keys_of(batch.files["customer"], "insert")) == 151
    parts = keys_of(batch.files["part"], "insert")
    assert Counter(keys_of(batch.files["partsupp"], "insert")) == dict.fromkeys(parts, 4)


def test_killed_before_publishing_goes_on(root: Path, open_stream: Open) -> None:
    batch = open_stream("gaps").write_next()
    expected = content([batch])
    for path in batch.files.values():
        path.rename(path.with_name(f".{path.name}.part"))
    assert open_stream("gaps").number == 1
    assert content([batch]) == expected


def test_killed_before_the_record_writes_the_batch_anew(root: Path, open_stream: Open) -> None:
    stream, history = open_stream("scattered"), History(root)
    history.apply(stream.write_next().files.items())
    record = root / ".stream" / "stream.json"
    before = record.read_text()
    lost = stream.write_next()
    for path in lost.files.values():
        path.rename(path.with_name(f".{path.name}.part"))
    record.write_text(before)
    again = open_stream("gaps")
    assert again.number == 1
    for _ in range(2):
        history.apply(again.write_next().files.items())
        history.assert_legal()
    assert not (root / "customer" / "batch-000002.parquet").exists()
    reopened = open_stream("gaps")
    rows = pa.Table.from_batches(reopened.current("customer")).to_pydict()
    assert Counter(zip(*rows.values(), strict=True)) == history.rows["customer"]


def test_lost_file_is_told(root: Path, open_stream: Open) -> None:
    open_stream("gaps").write_next().files["orders"].unlink()
    record = json.loads((root / ".stream" / "stream.json").read_text())
    assert record["publish"]
    with pytest.raises(InvariantError, match="never written"):
        open_stream("gaps")


def test_used_up_holes_are_told(open_stream: Open) -> None:
    stream = open_stream("gaps", share=1.0)
    for _ in range(6):
        stream.write_next()
    with pytest.raises(InvalidSettingError, match="no holes left"):
        stream.write_next(rows_share=1.0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"nature": "chaos"}, "nature 'chaos'"),
        ({"seed": -1}, "seed -1"),
        ({"share": 0}, "share 0"),
        ({"share": 1.5}, "share 1.5"),
        ({"scale": 0.01}, "scale 0.001, not 0.01"),
    ],
)
def test_bad_settings_are_refused(options: dict, told: str, open_stream: Open) -> None:
    with pytest.raises(InvalidSettingError, match=told):
        open_stream(**options)


def test_bad_batch_options_are_refused(open_stream: Open) -> None:
    stream = open_stream()
    with pytest.raises(InvalidSettingError, match="late -1"):
        stream.write_next(late=-1)
    with pytest.raises(InvalidSettingError, match="share -1"):
        stream.write_next(rows_share=-1)
    assert stream.number == 0


def test_stream_without_base_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no base"):
        tpch.ChangeStream(tmp_path, scale=0.001, seed=1, nature="gaps")


def test_money_and_numbers_round_trip() -> None:
    cents = np.array([0, 1, -1, 99_999_999_999, -99_999], dtype=np.int64)
    column = values.money(cents)
    assert [str(value) for value in column.to_pylist()][1:] == [
        "0.01",
        "-0.01",
        "999999999.99",
        "-999.99",
    ]
    assert values.cents(column).tolist() == cents.tolist()
    assert values.cents(column.slice(2, 2)).tolist() == cents[2:4].tolist()
    assert values.numbers(values.days(cents[:3])).tolist() == [0, 1, -1]
