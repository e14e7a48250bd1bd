"""Files that were written again in place are found: by discovery, by what a mirror or a check reads, by verify."""

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
from tests.harness.summed import first_file, refused

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


def ends_before_it_writes(lab: Lab, path: Path, plan: Plan) -> None:
    """A run does, and names the file."""
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
        ends_before_it_writes(pairs, early, plan)
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
        ends_before_it_writes(pairs, early, plan)
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
        ends_before_it_writes(lab, early, plan)
    lab.step(joined="incremental")
    assert set(lab.ws._store.world().held_keys) == {"a(k) -> b(k)"}


def test_a_file_that_was_written_again_after_it_was_accepted(shop: Lab) -> None:
    path = shop.land_as("t", [("insert", ("c", 1))])
    plan = shop.ws.plan()
    assert shop.ws.discover() == {"t": 2}
    rewritten = shop.land_as("t", [("insert", ("d", 123456))])
    path.write_bytes(rewritten.read_bytes() + b"")
    rewritten.unlink()
    with refused(shop, ArrivalChangedError, f"source t: .*{path.name}.*after it was accepted"):
        shop.ws.refresh(shop.spark, plan)
    path_gone = path.rename(path.with_suffix(".away"))
    with refused(shop, ArrivalChangedError, "is gone"):
        shop.ws.refresh(shop.spark, plan)
    shop.ws.skip("t", path.name)
    path_gone.rename(path)
    shop.land("t", insert=[("e", 5)])
    shop.step(sums="incremental")
    assert not any(key[0] in {"c", "d"} for key in shop.bag("sums"))


def test_a_file_that_no_increment_reads_again_was_written_again(shop: Lab) -> None:
    """A publisher that overwrites its file: the answers hold the old rows, and nobody would read the new ones."""
    path = first_file(shop)
    shop.land("t", insert=[("c", 1)])
    shop.step()
    content, rewritten = path.read_bytes(), shop.land_as("t", [("insert", ("d", 123456))])
    path.write_bytes(rewritten.read_bytes())
    rewritten.unlink()
    error = shop.ws.status().sources["t"]["error"]
    assert (error["code"], path.name in error["message"]) == ("ARRIVAL_CHANGED", True)
    with refused(shop, ArrivalChangedError, f"source t: .*{path.name}.*after it was accepted"):
        shop.refresh()
    path.write_bytes(content)
    shop.land("t", insert=[("e", 5)])
    shop.step()


def test_verify_reads_only_what_was_accepted(shop: Lab) -> None:
    path = first_file(shop)
    away = path.rename(path.with_suffix(".away"))
    with pytest.raises(ArrivalChangedError, match=f"{path.name} is gone"):
        shop.ws.verify(shop.spark)
    away.rename(path)
    assert shop.ws.verify(shop.spark).equal


def test_the_same_file_delivered_again_is_the_same_arrival(shop: Lab) -> None:
    path = first_file(shop)
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)
    shop.land("t", insert=[("c", 1)])
    report = shop.step(sums="incremental")
    assert report.versions == {"t": 2}
