"""Files that were written again in place: what a mirror or the check of a foreign key reads is looked at too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slacktide.engine.plan import Plan
from slacktide.engine.workspace import Workspace
from slacktide.errors import ArrivalChangedError
from slacktide.optimizer.compaction import Prices
from tests.harness.lab import Lab, Row

pytestmark = pytest.mark.spark

NEVER = Prices(file=0, read=0)
ALWAYS = Prices(file=0, job=0, write=0, write_byte=0)
DDL = "k INT, v INT"
JOINED = "SELECT a.k, a.v, b.v AS w FROM a JOIN b ON a.k = b.k"


def joined(a: list[Row], b: list[Row]) -> list[Row]:
    return [(k, v, w) for k, v in a for other, w in b if k == other]


@pytest.fixture
def pairs(lab: Lab) -> Lab:
    """Two sources with mirrors, and one view that joins them."""
    for name in ("a", "b"):
        lab.source(name, DDL, *((i % 100, i) for i in range(400)))
    lab.view("joined", JOINED, joined, "a", "b")
    lab.step(joined="full")
    assert mirrored(lab, "a") == {"a": 1}
    return lab


def mirrored(lab: Lab, source: str) -> dict[str, int]:
    return dict(lab.ws._store.world().chains[f"sources/{source}"].versions or {})


def priced(lab: Lab, prices: Prices) -> None:
    lab.ws = Workspace(lab.ws._store, lab.clock, prices=prices)


@contextmanager
def written_again(lab: Lab, source: str, path: Path, *rows: Row) -> Iterator[None]:
    """An accepted file has other rows inside, and is as it was afterwards."""
    whole = path.read_bytes()
    other = lab.land_as(source, [("insert", row) for row in rows])
    path.write_bytes(other.read_bytes())
    other.unlink()
    yield
    path.write_bytes(whole)


def refused(lab: Lab, path: Path, plan: Plan) -> None:
    """A run ends before it writes, and names the file."""
    number, written = lab.number, lab.files("sources")
    with pytest.raises(ArrivalChangedError, match=path.name):
        lab.ws.refresh(lab.spark, plan)
    assert lab.number == number
    assert lab.files("sources") == written


def test_landed_files_that_become_a_segment(pairs: Lab) -> None:
    """A run that takes in the change of one source reads the mirror of the other, and adds to its own."""
    priced(pairs, NEVER)
    early = pairs.land("a", insert=[(1, 1000)])
    pairs.step(joined="incremental")
    assert mirrored(pairs, "a") == {"a": 1}
    priced(pairs, ALWAYS)
    pairs.land("a", insert=[(2, 2000)])
    plan = pairs.ws.plan()
    assert plan.mirror_segments == {"a": 3}
    with written_again(pairs, "a", early, (3, 9999)):
        refused(pairs, early, plan)
    pairs.step(joined="incremental")
    assert mirrored(pairs, "a") == {"a": 3}
    pairs.land("b", insert=[(1, 7)])
    pairs.step(joined="incremental")


def test_landed_files_of_a_mirror_that_is_written_anew(pairs: Lab) -> None:
    priced(pairs, NEVER)
    early = pairs.land("a", insert=[(1, 1000 + i) for i in range(50)])
    pairs.step(joined="incremental")
    pairs.land("a", insert=[(2, 2000 + i) for i in range(50)])
    plan = pairs.ws.plan()
    assert plan.mirrors == {"a": 3}
    with written_again(pairs, "a", early, (3, 9999)):
        refused(pairs, early, plan)
    pairs.step(joined="incremental")
    pairs.land("b", insert=[(1, 7)])
    pairs.step(joined="incremental")


def test_files_that_a_mirror_holds_are_not_looked_at(pairs: Lab) -> None:
    """What is looked at follows the change: the first file may be gone."""
    priced(pairs, ALWAYS)
    (first,) = pairs.folder("a").iterdir()
    first.unlink()
    for value in (2000, 3000):
        pairs.land("a", insert=[(2, value)])
    pairs.refresh()
    assert mirrored(pairs, "a") == {"a": 3}


def test_what_the_check_of_a_foreign_key_reads(lab: Lab) -> None:
    """The run reads the change of a source alone, and its check whether keys stand on several rows."""
    lab.source("b", DDL, *((i, i) for i in range(400)), key=["k"])
    lab.source("a", DDL, *((i, i) for i in range(400)), references={"k": "b.k"})
    lab.view("joined", JOINED, joined, "a", "b")
    lab.step(joined="full")
    assert lab.ws.verify_foreign_keys(lab.spark).holds
    priced(lab, NEVER)
    early = lab.land("b", insert=[(1000, 1)])
    lab.step(joined="incremental")
    lab.land("b", insert=[(1001, 1)])
    plan = lab.ws.plan()
    with written_again(lab, "b", early, (1001, 5)):
        refused(lab, early, plan)
    lab.step(joined="incremental")
    assert set(lab.ws._store.world().held_keys) == {"a(k) -> b(k)"}
