"""Where keys lie in a file is noted when it is accepted."""

from __future__ import annotations

import os
from datetime import date, timedelta
from decimal import Decimal
from io import BytesIO

import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

from slacktide.common.ranges import MOST_KEYS
from slacktide.engine.sources.footer import Footer
from slacktide.engine.sources.spans import MOST_COLUMNS, key_columns, spans_of
from slacktide.engine.workspace import Workspace
from slacktide.store.record import ArrivalSpans, KeySpans
from slacktide.store.store import Store
from tests.harness.objects import TickingClock


def footer(columns: dict[str, list | pa.Array], form: str = "parquet") -> Footer:
    source = BytesIO()
    {"parquet": pq, "orc": orc}[form].write_table(pa.table(columns), source)
    return Footer(form, source)


def spans(
    columns: dict[str, list | pa.Array], form: str = "parquet", *, is_at_hand: bool = True
) -> dict[str, KeySpans]:
    found = footer(columns, form)
    names = [*columns, "of no file"]
    return spans_of(found, names, found.statistics(names), is_at_hand=is_at_hand)


@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_both_ends_of_growing_keys_are_ranges_of_their_own(form: str) -> None:
    ends = [*range(1, 50), *range(1_000_000, 1_000_050)]
    (found,) = spans({"id": [*ends, *ends, None]}, form).values()
    assert found.count == 99
    assert (found.bounds[0], found.bounds[-1]) == (1.0, 1_000_049.0)
    assert all(not 49 < bound < 1_000_000 for bound in found.bounds)
    low, high = found.bounds[::2], found.bounds[1::2]
    assert all(any(a <= key <= b for a, b in zip(low, high, strict=True)) for key in ends)


def test_days_are_counted_as_statistics_count_them() -> None:
    first = date(2026, 1, 1)
    days = [first + timedelta(n) for n in range(3)]
    assert spans({"day": days})["day"].bounds[0] == first.toordinal()
    hull = KeySpans(None, (float(first.toordinal()), float(days[-1].toordinal())))
    assert spans({"day": days}, is_at_hand=False)["day"] == hull


def test_of_a_large_file_the_footer_tells() -> None:
    assert spans({"id": [5, 1, 9]}, is_at_hand=False) == {"id": KeySpans(None, (1.0, 9.0))}
    assert spans({"id": [5, 1, 9]}, "orc", is_at_hand=False) == {}


def test_too_many_keys_are_counted_and_not_cut() -> None:
    many = pa.array(range(MOST_KEYS + 1))
    assert spans({"id": many})["id"] == KeySpans(MOST_KEYS + 1, (0.0, float(MOST_KEYS)))


@pytest.mark.parametrize("values", [[], [None, None]])
def test_no_key_lies_nowhere(values: list) -> None:
    assert spans({"id": pa.array(values, pa.int64())})["id"] == KeySpans(0, ())


def test_keys_come_first_then_whole_numbers_and_days() -> None:
    types = {"a": "INT", "text": "STRING", "day": "DATE", "own": "BIGINT", "other": "BIGINT"}
    schema = [{"name": name, "type": of} for name, of in types.items()]
    schema += [{"name": f"x{n}", "type": "SMALLINT"} for n in range(9)]
    arguments = {"key": ["own", "text"], "references": {"other": "s.x"}}
    found = key_columns(arguments, schema)
    assert found == ("own", "other", "a", "day", "x0", "x1")
    assert len(found) == MOST_COLUMNS
    assert key_columns({}, schema)[:2] == ("a", "day")


def test_the_log_has_them_with_the_arrivals(tmp_path) -> None:
    landing = tmp_path / "orders"
    landing.mkdir()
    ws = Workspace.create(str(tmp_path / "ws"), clock=TickingClock())
    for number, key in enumerate((1, 100)):
        table = pa.table({"id": [key, key + 1], "price": [Decimal("1.5"), None]})
        pq.write_table(table, landing / f"{number}.parquet")
        if not number:
            ws.add_source("orders", kind="files", path=str(landing))
        ws.discover()
    store = Store.open(ws.root, clock=TickingClock())
    assert store.world().sources["orders"].spans == (
        ArrivalSpans(1, {"id": KeySpans(2, (1.0, 1.0, 2.0, 2.0))}),
        ArrivalSpans(2, {"id": KeySpans(2, (100.0, 100.0, 101.0, 101.0))}),
    )


def test_what_cannot_be_made_sense_of_refuses_no_file() -> None:
    took = pa.array([timedelta(seconds=3)], pa.duration("us"))
    assert spans({"took": took, "id": [7]}) == {"id": KeySpans(1, (7.0, 7.0))}
    both = {"a": pa.array([{"b": "x"}]), "a.b": pa.array([5])}
    assert set(spans(both)) <= {"a.b"}
    assert set(spans(both, "orc")) <= {"a.b"}
    assert spans({"flag": pa.array([1], pa.bool8())}) == {}


def test_of_many_files_the_newest_are_looked_at(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("slacktide.engine.sources.arriving.MOST_SPANS", 2)
    ws = Workspace.create(str(tmp_path / "ws"), clock=TickingClock())
    for number in range(4):
        path = tmp_path / "in" / f"{number}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"id": [number]}), path)
        os.utime(path, (number, number))
    ws.add_source("orders", kind="files", path=str(tmp_path / "in"))
    ws.discover()
    source = Store.open(ws.root, clock=TickingClock()).world().sources["orders"]
    looked = [one.version for one in source.spans]
    assert looked == [3, 4]
