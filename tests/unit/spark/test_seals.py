"""What lies behind the pages of a file is known again, whoever wrote it, however much of it there is."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.errors import ExecutionError
from slacktide.spark.files.seals import LEAST, altered, sealed, sealed_files
from slacktide.store.record import StoredFile
from slacktide.store.store import Store
from tests.harness.objects import TickingClock

NAME = "states/x/1/base/part-0.parquet"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(str(tmp_path / "w"), settings={}, clock=TickingClock())


def written(store: Store, *, rows: int, columns: int = 2, **arguments: Any) -> Path:
    """A file of random numbers, that no compression makes smaller."""
    dice = random.Random(7)  # noqa: S311 - rows, not secrets
    values = pa.array([dice.getrandbits(62) for _ in range(rows)], pa.int64())
    table = pa.table({f"c{i}": values for i in range(columns)})
    path = Path(store.path(NAME))
    path.parent.mkdir(parents=True)
    pq.write_table(table, path, write_page_index=True, use_dictionary=False, **arguments)
    return path


def listed(store: Store) -> StoredFile:
    (file,) = store.list_files("states")
    return file


def behind_pages(path: Path) -> int:
    """How many bytes the footer and the indexes are, by the sizes of the pages."""
    footer = pq.read_metadata(path)
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    pages = sum(g.column(i).total_compressed_size for g in groups for i in range(g.num_columns))
    return int(path.stat().st_size - 4 - pages)


SHAPES: dict[str, tuple[dict[str, Any], bool]] = {
    "small": ({"rows": 50}, True),
    "of one page": ({"rows": 20_000}, False),
    "of many pages": ({"rows": 20_000, "data_page_size": 800}, False),
    "a footer of many columns": ({"rows": 300, "columns": 900}, False),
    "no row": ({"rows": 0}, True),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_bit_behind_the_pages_is_sealed(store: Store, shape: str) -> None:
    arguments, is_whole = SHAPES[shape]
    path = written(store, **arguments)
    data = path.read_bytes()
    file = listed(store)
    (sealed_file,) = sealed_files(store, [file])
    assert sealed_file == sealed(file, data), "the same, whether its content is at hand or its end"
    assert sealed_file.seal is not None
    size = sealed_file.seal.bytes
    assert size == (len(data) if is_whole else max(LEAST, behind_pages(path)))
    assert altered(store, [sealed_file]) is None
    first = len(data) - size
    places = {first, first + 1, len(data) - 1, *range(first, len(data), max(size // 200, 1))}
    for place in places:
        turned = bytearray(data)
        turned[place] ^= 1 << place % 8
        path.write_bytes(turned)
        assert altered(store, [sealed_file]) == sealed_file, place


def test_the_greater_ones_are_greater_than_what_is_sealed_at_least(store: Store) -> None:
    """Else the shapes above would not try what they say."""
    many = written(store, rows=300, columns=900)
    assert behind_pages(many) > LEAST


def test_a_file_that_is_gone_is_altered_and_one_without_a_seal_is_not_looked_at(
    store: Store,
) -> None:
    path = written(store, rows=50)
    file = listed(store)
    known = sealed(file, path.read_bytes())
    path.unlink()
    assert altered(store, [file, known]) == known
    with pytest.raises(ExecutionError, match="it is not there"):
        sealed_files(store, [file])


def test_a_long_file_that_is_no_parquet_is_not_sealed(store: Store) -> None:
    path = written(store, rows=20_000)
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(ExecutionError, match="cannot be read"):
        sealed_files(store, [listed(store)])
