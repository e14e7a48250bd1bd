"""Files that are not as the source declares them: refused before anything is written, with file and row."""

from __future__ import annotations

import hashlib
import os

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from slacktide.engine.sources import peek
from slacktide.errors import SourceError
from tests.harness.landing import NOW, SCHEMA, arrivals_of, feed, source, table, write


def error_of(source, *, now=NOW):
    with pytest.raises(SourceError) as caught:
        arrivals_of(source, peek(source, now=now).fresh, now=now)
    assert "slacktide source skip orders" in caught.value.hint
    assert caught.value.message.startswith("source orders: ")
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (pa.table({"id": [1]}), "0.parquet has no column name (STRING)"),
        (pa.table({"id": [1], "NAME": ["x"]}), "only NAME, which differs in case"),
        (table(1, Name=["x"]), "has the columns name and Name, the same to Spark"),
        (
            pa.table({"id": pa.array([1], pa.int32()), "name": ["x"]}),
            "0.parquet has the column id of type INT, expected BIGINT",
        ),
        (
            pa.table({"id": [1], "name": pa.array([None], pa.time64("us"))}),
            "has the column name of type Time in microseconds (INT64), expected STRING",
        ),
    ],
)
def test_a_file_of_another_schema(landing, orders, data, fact):
    write(landing / "0.parquet", data)
    assert fact in error_of(orders)


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda whole: whole[:-5], lambda whole: b"x" * len(whole)]
)
def test_a_corrupt_file(landing, damage, suffix):
    path = write(landing / f"0.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    orders = source(landing, format=suffix)
    message = error_of(orders)
    assert f"0.{suffix} is corrupt, or not a file of the format {suffix}" in message


def test_a_column_with_damaged_pages(landing):
    path = write(landing / "0.parquet", feed(*["insert"] * 5000))
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    path.write_bytes(b"PAR1" + b"\xff" * (len(content) - footer - 4) + content[-footer:])
    assert "0.parquet is corrupt" in error_of(source(landing, "change-feed"))


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("bad", "fact"),
    [("Insert", "has _change_type 'Insert' in row 4"), (None, "has _change_type NULL in row 4")],
)
def test_an_unknown_change(landing, bad, fact, suffix):
    write(landing / f"0.{suffix}", feed("insert", "delete", "insert", bad, "what"))
    assert fact in error_of(source(landing, "change-feed", format=suffix))


def test_an_unknown_change_far_into_a_file(landing):
    data = feed(*["insert"] * 100_000, "?")
    pq.write_table(data, landing / "0.parquet", row_group_size=30_000)
    assert "has _change_type '?' in row 100001" in error_of(source(landing, "change-feed"))


def test_a_feed_without_changes(landing):
    write(landing / "0.parquet")
    assert "has no column _change_type (STRING)" in error_of(source(landing, "change-feed"))


def test_a_delete_where_none_may_be(landing):
    write(landing / "0.parquet", feed("insert", "insert", "delete"))
    orders = source(landing, "change-feed", append_only=True)
    assert "takes a row away in row 3, and the source is append_only" in error_of(orders)


UPDATE = ("update_preimage", "update_postimage")


@pytest.mark.parametrize(
    ("ids", "changes", "fact"),
    [
        ([1, 1], UPDATE, None),
        ([1, 2, 1, 2], UPDATE[::-1] * 2, "for id 1, row 1"),
        (
            [1, 2, 2, 1],
            (*UPDATE, *UPDATE[::-1]),
            "update_preimage without its update_postimage for",
        ),
        (
            [7, 8],
            ("insert", UPDATE[1]),
            "update_postimage without its update_preimage for id 8, row 2",
        ),
        ([None, None], UPDATE, None),
    ],
)
def test_update_images_come_in_pairs(landing, ids, changes, fact):
    data = pa.table(
        {"id": pa.array(ids, pa.int64()), "name": ["x"] * len(ids), "_change_type": list(changes)}
    )
    write(landing / "0.parquet", data)
    keyless = source(landing, "change-feed")
    assert len(arrivals_of(keyless, peek(keyless, now=NOW).fresh, now=NOW)) == 1
    keyed = source(landing, "change-feed", key=["id"])
    if fact is None:
        assert len(arrivals_of(keyed, peek(keyed, now=NOW).fresh, now=NOW)) == 1
    else:
        assert fact in error_of(keyed)


@pytest.mark.parametrize(
    ("data_type", "keys", "fact"),
    [
        (
            "DATE",
            pa.array([2_932_897, 5], pa.int32()).cast(pa.date32()),
            "for k 10000-01-01, row 1",
        ),
        (
            "TIMESTAMP",
            pa.array([253_402_300_800_000_000, 5], pa.timestamp("us", "UTC")),
            "10000-01",
        ),
        ("DOUBLE", pa.array([0.0, -0.0]), None),
        ("STRING COLLATE UTF8_LCASE", pa.array(["a", "A"]), None),
    ],
)
def test_keys_that_python_does_not_know_or_compares_otherwise(landing, data_type, keys, fact):
    schema = ({"name": "k", "type": data_type, "nullable": True},)
    write(landing / "0.parquet", pa.table({"k": keys, "_change_type": list(UPDATE)}))
    keyed = source(landing, "change-feed", schema, key=["k"])
    if fact is None:
        assert len(arrivals_of(keyed, peek(keyed, now=NOW).fresh, now=NOW)) == 1
    else:
        assert fact in error_of(keyed)


def updates(path, ids, changes, *, group=10_000):
    """A file of updates in many row groups, with keys that no encoding makes small."""
    names = [hashlib.sha256(b"%d" % number).hexdigest() for number in ids]
    data = pa.table({"id": pa.array(ids, pa.int64()), "name": names, "_change_type": changes})
    pq.write_table(data, path, row_group_size=group)


def test_images_that_are_far_apart_are_halves_of_one_update(landing):
    keyed = source(landing, "change-feed", key=["id", "name"])
    ids, halves = [*range(60_000), *reversed(range(60_000))], [60_000 * [half] for half in UPDATE]
    updates(landing / "0.parquet", ids, [*halves[0], *halves[1]])
    assert len(arrivals_of(keyed, peek(keyed, now=NOW).fresh, now=NOW)) == 1
    ids[70_000] = 60_001
    updates(landing / "0.parquet", ids, [*halves[0], *halves[1]])
    assert "update_preimage without its update_postimage for id 49999, name " in error_of(keyed)
    assert ", row 50000 (an update that gives a row another key is written" in error_of(keyed)


@pytest.fixture
def usual_pool():
    """The pool of memory that is used, and is again afterwards."""
    usual = pa.default_memory_pool()
    yield usual
    pa.set_memory_pool(usual)


def test_updates_are_not_held_in_memory(landing, usual_pool):
    updates(landing / "0.parquet", [n // 2 for n in range(300_000)], list(UPDATE) * 150_000)
    keyed = source(landing, "change-feed", key=["name"])
    counted = pa.proxy_memory_pool(usual_pool)
    pa.set_memory_pool(counted)
    assert len(arrivals_of(keyed, peek(keyed, now=NOW).fresh, now=NOW)) == 1
    assert 0 < counted.max_memory() < 24_000_000, "of a batch, not of all keys"


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
def test_not_null_is_checked(landing, suffix):
    strict = ({**SCHEMA[0], "nullable": False}, SCHEMA[1])
    path = write(landing / f"0.{suffix}", table(2))
    orders = source(landing, schema=strict, format=suffix)
    assert arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)[0].rows == 2
    write(path, pa.table({"id": pa.array([1, None], pa.int64()), "name": ["x", None]}))
    assert "has NULL in the column id (NOT NULL), row 2" in error_of(orders)


@pytest.mark.parametrize(
    ("name", "data_type", "values"),
    [
        ("tags", "ARRAY<STRING>", pa.array([["a"], None])),
        ("s", "STRUCT<x: BIGINT>", pa.array([{"x": 1}, None])),
        (
            "pairs",
            "MAP<STRING, BIGINT>",
            pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        ),
        ("a.b", "BIGINT", pa.array([1, None])),
    ],
)
def test_not_null_is_checked_of_what_is_nested_or_called_like_it(landing, name, data_type, values):
    """Of Parquet's leaves the struct a has one that is called like the column a.b."""
    beside = pa.array([{"b": 1}, {"b": 2}])
    schema = (
        {"name": "a", "type": "STRUCT<b: BIGINT>", "nullable": True},
        {"name": name, "type": data_type, "nullable": False},
    )
    orders = source(landing, schema=schema)
    path = write(landing / "0.parquet", pa.table({"a": beside[:1], name: values[:1]}))
    assert arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)[0].rows == 1
    write(path, pa.table({"a": beside, name: values}))
    assert f"has NULL in the column {name} (NOT NULL), row 2" in error_of(orders)


def test_not_null_is_checked_without_statistics(landing):
    strict = ({**SCHEMA[0], "nullable": False}, SCHEMA[1])
    orders = source(landing, schema=strict)
    pq.write_table(table(2), landing / "0.parquet", write_statistics=False)
    assert arrivals_of(orders, peek(orders, now=NOW).fresh, now=NOW)[0].rows == 2


def test_all_files_or_none(landing, orders):
    for seconds, name in enumerate(["good", "bad", "worse"]):
        path = write(landing / f"{name}.parquet")
        if name != "good":
            path.write_bytes(b"no")
        os.utime(path, (seconds, seconds))
    assert "bad.parquet is corrupt" in error_of(orders)
    good = [file for file in peek(orders, now=NOW).fresh if file.path.endswith("good.parquet")]
    assert len(arrivals_of(orders, good, now=NOW)) == 1
