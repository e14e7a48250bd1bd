from __future__ import annotations

import io
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import obstore
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore
from pyarrow import parquet as pq

from slacktide.engine.sources import accept, check_pins, peek, resolve_file
from slacktide.engine.sources.arriving import look, take
from slacktide.engine.sources.directory import Directory, is_data
from slacktide.engine.sources.pins import difference
from slacktide.errors import SourceError, StorageError
from slacktide.store import Arrivals, Source, parse_address
from tests.harness.landing import NOW, feed, table, write

SCHEMA = (
    {"name": "id", "type": "BIGINT", "nullable": True},
    {"name": "name", "type": "STRING", "nullable": True},
)


def arrivals_of(source, files, *, now):
    return accept(source, files, now=now).arrivals


@pytest.fixture
def orders(landing):
    """A source of files with a known schema."""
    return source(landing)


def source(landing, kind="files", schema=SCHEMA, **arguments):
    return Source("orders", kind, {"path": str(landing), "format": "parquet", **arguments}, schema)


def names(landing, files):
    return [file.path.removeprefix(f"{landing}/") for file in files]


def accepted(source, arrivals):
    return replace(source, arrivals=source.arrivals.appended(arrivals))


def great_noise():
    """Texts that take more than 16 MiB in a file."""
    return [os.urandom(1024).hex() for _ in range(10_000)]


def error_of(source, *, now=NOW):
    with pytest.raises(SourceError) as caught:
        arrivals_of(source, peek(source, now=now), now=now)
    assert "slacktide source skip orders" in caught.value.hint
    assert caught.value.message.startswith("source orders: ")
    return caught.value.message


def test_files_are_listed_by_time_then_name(landing, orders):
    for name, seconds in {"d": 5, "b": 5, "x/y=1/a": 5, "c": 1}.items():
        os.utime(write(landing / f"{name}.parquet"), (seconds, seconds))
    found = peek(orders, now=NOW)
    assert names(landing, found) == ["c.parquet", "b.parquet", "d.parquet", "x/y=1/a.parquet"]
    assert all(file.rows is None and file.digest is None for file in found)
    assert found == peek(orders, now=NOW)


def test_hidden_files_are_no_data(landing, orders):
    for name in ["_SUCCESS", ".0.parquet.crc", "_temporary/0/a", "x/.tmp/a", "x/_COMPLETE_2030"]:
        write(landing / name)
    assert peek(orders, now=NOW) == []


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", True),
        ("a/b_c.d", True),
        ("_a", False),
        (".a", False),
        ("_a/b", False),
        ("a/.b/c", False),
    ],
)
def test_what_is_data(key, expected):
    assert is_data(key) is expected


def test_files_that_are_not_settled_wait(landing):
    orders = source(landing, settle="30s")
    os.utime(write(landing / "0.parquet"), (1000, 1000))
    written = datetime.fromtimestamp(1000, UTC)
    assert peek(orders, now=written + timedelta(seconds=29)) == []
    assert len(peek(orders, now=written + timedelta(seconds=30))) == 1


def test_ignored_files_are_left_out(landing, orders):
    path = write(landing / "x" / "0.parquet")
    for name in ["x/0.parquet", "/x/0.parquet", str(path)]:
        assert peek(orders, now=NOW, ignored=frozenset({resolve_file(orders, name)})) == []


def test_a_directory_that_went_away(landing, orders):
    landing.rmdir()
    with pytest.raises(SourceError, match="there is no directory"):
        peek(orders, now=NOW)


def test_a_name_that_no_store_can_spell(landing, orders):
    (landing / "a\nb").write_bytes(b"")
    with pytest.raises(SourceError) as caught:
        peek(orders, now=NOW)
    assert caught.value.hint


def test_every_file_is_an_arrival(landing, orders):
    for rows in range(3):
        os.utime(write(landing / f"{rows}.parquet", table(rows)), (rows, rows))
    files = peek(orders, now=NOW)
    arrivals = arrivals_of(orders, files, now=NOW)
    assert [arrival.rows for arrival in arrivals] == [0, 1, 2]
    assert [arrival.deletes for arrival in arrivals] == [0, 0, 0]
    assert [arrival.bytes for arrival in arrivals] == [file.size for file in files]
    assert {arrival.accepted for arrival in arrivals} == {"2030-01-01T00:00:00.000000Z"}
    for arrival, file in zip(arrivals, files, strict=True):
        (pin,) = arrival.files
        assert pin.digest
        assert replace(pin, rows=None, digest=None) == file
    assert peek(accepted(orders, arrivals), now=NOW) == []
    assert arrivals_of(orders, [], now=NOW) == []


def test_a_file_that_went_away_before_acceptance_never_came(landing, orders):
    write(landing / "0.parquet")
    gone = write(landing / "1.parquet")
    files = peek(orders, now=NOW)
    gone.unlink()
    assert len(arrivals_of(orders, files, now=NOW)) == 1


def test_a_file_that_grew_before_acceptance_is_pinned_as_it_is_read(landing, orders):
    path = write(landing / "0.parquet", table(1))
    files = peek(orders, now=NOW)
    write(path, table(1000))
    (arrival,) = arrivals_of(orders, files, now=NOW)
    assert arrival.rows == 1000
    check_pins(arrival.files)


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
def test_changes_are_counted(landing, suffix):
    write(
        landing / f"0.{suffix}",
        feed("insert", "delete", "update_preimage", "update_postimage", "delete"),
    )
    orders = source(landing, "change-feed", format=suffix)
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW), now=NOW)
    assert (arrival.rows, arrival.deletes) == (5, 3)
    assert list(Arrivals.of([arrival])) == [arrival]


@pytest.mark.parametrize("kind", ["files", "change-feed"])
@pytest.mark.parametrize("text_format", ["csv", "json", "avro"])
def test_formats_without_a_footer_have_no_counts(landing, kind, text_format):
    (landing / "0").write_text("whatever")
    orders = source(landing, kind, format=text_format)
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW), now=NOW)
    assert (arrival.rows, arrival.bytes) == (None, 8)
    assert arrival.deletes == (0 if kind == "files" else None)


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
    assert len(arrivals_of(keyless, peek(keyless, now=NOW), now=NOW)) == 1
    keyed = source(landing, "change-feed", key=["id"])
    if fact is None:
        assert len(arrivals_of(keyed, peek(keyed, now=NOW), now=NOW)) == 1
    else:
        assert fact in error_of(keyed)


@pytest.mark.parametrize("suffix", ["parquet", "orc"])
def test_not_null_is_checked(landing, suffix):
    strict = ({**SCHEMA[0], "nullable": False}, SCHEMA[1])
    path = write(landing / f"0.{suffix}", table(2))
    orders = source(landing, schema=strict, format=suffix)
    assert arrivals_of(orders, peek(orders, now=NOW), now=NOW)[0].rows == 2
    write(path, pa.table({"id": pa.array([1, None], pa.int64()), "name": ["x", None]}))
    assert "has NULL in the column id (NOT NULL), row 2" in error_of(orders)


def test_not_null_is_checked_without_statistics(landing):
    strict = ({**SCHEMA[0], "nullable": False}, SCHEMA[1])
    orders = source(landing, schema=strict)
    pq.write_table(table(2), landing / "0.parquet", write_statistics=False)
    assert arrivals_of(orders, peek(orders, now=NOW), now=NOW)[0].rows == 2


def test_all_files_or_none(landing, orders):
    for seconds, name in enumerate(["good", "bad", "worse"]):
        path = write(landing / f"{name}.parquet")
        if name != "good":
            path.write_bytes(b"no")
        os.utime(path, (seconds, seconds))
    assert "bad.parquet is corrupt" in error_of(orders)
    ignored = frozenset(resolve_file(orders, name) for name in ["bad.parquet", "worse.parquet"])
    assert len(arrivals_of(orders, peek(orders, now=NOW, ignored=ignored), now=NOW)) == 1


def test_other_columns_are_reported(landing, orders, caplog):
    write(landing / "0.parquet", table(1, extra=["x"], k=pa.array([None], pa.time64("us"))))
    found = accept(orders, peek(orders, now=NOW), now=NOW)
    assert "columns that are not declared, and are ignored: extra, k" in caplog.text
    assert [(column["name"], column["version"]) for column in found.extra] == [
        ("extra", 1),
        ("k", 1),
    ]
    caplog.clear()
    known = replace(orders, extra=found.extra)
    write(landing / "1.parquet", table(1, more=[1], extra=["x"]))
    found = accept(known, peek(known, now=NOW), now=NOW)
    assert [tuple(column.values()) for column in found.extra] == [("more", "BIGINT", 2)]
    assert "extra" not in caplog.text, "it is told once"


def test_a_column_that_was_added_may_be_missing(landing, declare):
    orders = declare(schema="id BIGINT, name STRING")
    added = {"name": "more", "type": "BIGINT", "nullable": True, "added": True}
    wide = replace(orders, schema=(*orders.schema, added))
    write(landing / "0.parquet", table(1))
    write(landing / "1.parquet", table(1, more=[1]))
    assert len(arrivals_of(wide, peek(wide, now=NOW), now=NOW)) == 2
    write(landing / "2.parquet", table(1, more=["x"]))
    with pytest.raises(SourceError, match="the column more of type STRING, expected BIGINT"):
        arrivals_of(wide, peek(wide, now=NOW), now=NOW)
    (landing / "2.parquet").unlink()
    write(landing / "2.parquet", table(1, More=[1]))
    with pytest.raises(SourceError, match=r"no column more .* only More, which differs in case"):
        arrivals_of(wide, peek(wide, now=NOW), now=NOW)


def test_the_commit_version_of_a_feed_is_not_reported(landing, caplog):
    write(landing / "0.parquet", feed("insert", _commit_version=pa.array([1], pa.int64())))
    orders = source(landing, "change-feed")
    assert len(arrivals_of(orders, peek(orders, now=NOW), now=NOW)) == 1
    assert caplog.text == ""


def test_great_files_are_read_in_parts(landing, orders):
    path = landing / "0.parquet"
    pq.write_table(
        table(10_000).set_column(1, "name", pa.array(great_noise())),
        path,
        compression="none",
        use_dictionary=False,
    )
    assert path.stat().st_size > 16 * 1024 * 1024
    (arrival,) = arrivals_of(orders, peek(orders, now=NOW), now=NOW)
    assert arrival.rows == 10_000
    os.utime(path, (7, 7))
    check_pins(arrival.files)


class Bucket:
    """A bucket in memory, with the files of one source."""

    def __init__(self):
        self.store = MemoryStore()
        self.directory = Directory(self.store, parse_address("s3://bucket/a b%20c/orders"))
        self.orders = Source("orders", "files", {"path": self.directory.address.spelling}, SCHEMA)

    def put(self, name, data):
        buffer = io.BytesIO()
        pq.write_table(data, buffer)
        obstore.put(self.store, f"a b%20c/{name}", buffer.getvalue())

    def look(self):
        return look(self.directory, self.orders, now=NOW)


def test_an_object_store():
    bucket = Bucket()
    bucket.put("orders/x=1/0.parquet", table(4))
    bucket.put("orders2/0.parquet", table(5))
    bucket.put("orders/_log/0.parquet", table(6))
    arrivals = take(bucket.directory, bucket.orders, bucket.look(), now=NOW).arrivals
    assert [arrival.rows for arrival in arrivals] == [4]
    (pin,) = arrivals[0].files
    assert pin.path == "s3://bucket/a b%20c/orders/x=1/0.parquet"
    assert difference(bucket.directory, "x=1/0.parquet", pin) is None
    bucket.put("orders/x=1/0.parquet", table(4))
    assert difference(bucket.directory, "x=1/0.parquet", pin) is None
    bucket.put("orders/x=1/0.parquet", table(4, extra=[0] * 4))
    assert "changed" in (difference(bucket.directory, "x=1/0.parquet", pin) or "")
    bucket.orders = replace(bucket.orders, arrivals=Arrivals.of(arrivals))
    assert bucket.look() == []
    obstore.delete(bucket.store, "a b%20c/orders/x=1/0.parquet")
    assert difference(bucket.directory, "x=1/0.parquet", pin) == "is gone"


def test_an_object_store_gives_the_first_error_in_order():
    bucket = Bucket()
    for name in "abcdef":
        bucket.put(f"orders/{name}.parquet", table(1) if name < "d" else pa.table({name: [1]}))
    with pytest.raises(SourceError, match=r"/d\.parquet has no column id"):
        take(bucket.directory, bucket.orders, sorted(bucket.look(), key=lambda f: f.path), now=NOW)


@pytest.mark.parametrize("name", ["name", "other"])
def test_a_file_that_is_written_while_it_is_read(name):
    bucket = Bucket()
    content = table(10_000).set_column(1, name, pa.array(great_noise()))
    bucket.put("orders/0.parquet", content)
    files = bucket.look()
    assert files[0].size > 16 * 1024 * 1024

    class Moving(Directory):
        """Writes the file anew as soon as a part of it was read."""

        def read_range(self, key, start, length):
            part = super().read_range(key, start, length)
            bucket.put("orders/0.parquet", content)
            return part

    moving = Moving(bucket.store, bucket.directory.address)
    with pytest.raises(StorageError, match="was written while it was read") as caught:
        take(moving, bucket.orders, files, now=NOW)
    assert "settle" in caught.value.hint


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), st.randoms())
def test_looks_and_acceptances_find_every_file_once(tmp_path_factory, steps, random):
    """Files land in any order, some between the look and the acceptance; none comes twice."""
    landing = tmp_path_factory.mktemp("landing")
    orders = source(landing)
    landed: list[str] = []
    for count, late in steps:
        for _ in range(count):
            landed.append(f"{random.randrange(10)}/{len(landed)}.parquet")
            seconds = random.randrange(5)
            os.utime(write(landing / landed[-1], table(1)), (seconds, seconds))
        files = peek(orders, now=NOW)
        for _ in range(late):
            landed.append(f"late/{len(landed)}.parquet")
            write(landing / landed[-1], table(1))
        arrivals = arrivals_of(orders, files, now=NOW)
        assert arrivals == arrivals_of(orders, files, now=NOW)
        assert [(a.files[0].modified, a.files[0].path) for a in arrivals] == sorted(
            (file.modified, file.path) for file in files
        )
        orders = accepted(orders, arrivals)
    orders = accepted(orders, arrivals_of(orders, peek(orders, now=NOW), now=NOW))
    found = [pin.path.removeprefix(f"{landing}/") for _, pin in orders.arrivals.pins()]
    assert sorted(found) == sorted(landed)
    check_pins([pin for _, pin in orders.arrivals.pins()], source="orders")
