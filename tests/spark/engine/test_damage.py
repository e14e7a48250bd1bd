"""Files of the workspace that are lost, cut off or altered by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slacktide import errors as e
from slacktide.cli.cycle import exit_code
from slacktide.store.naming import segments
from tests.harness.lab import Lab
from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.spark

ROWS = [(f"k{number % 50}", number) for number in range(500)]
SUMS = "SELECT k, sum(v) AS s, min(v) AS least FROM t GROUP BY k"


def alter(path: Path) -> None:
    """Turn one bit of a page of data."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "lost": Path.unlink,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "altered": alter,
    "empty": lambda path: path.write_bytes(b""),
}


def files(lab: Lab, prefix: str) -> list[Path]:
    chains = lab.ws._store.world().chains
    return [
        Path(lab.ws.root) / file.path
        for name, chain in chains.items()
        if name.startswith(prefix)
        for segment in segments(chain)
        for file in segment.files
    ]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_built_anew(lab: Lab, damage: str) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.step()
    for path in files(lab, "states/"):
        DAMAGES[damage](path)
    lab.land("t", insert=[("k1", -7)], delete=[("k2", 2)])
    report = lab.step(sums="full")
    reasons = " ".join(report.views["sums"].reasons)
    assert "STATE_MISSING" in reasons
    assert "of which a file is damaged" in reasons
    lab.land("t", insert=[("k1", -8)])
    lab.step(sums="incremental")


def test_a_damaged_mirror_stays_while_it_alone_holds_rows(lab: Lab) -> None:
    """Its landed files were removed, as status allows it: a mirror that was forgotten could not be made again."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("least", "SELECT k, v FROM t ORDER BY v LIMIT 3", policy="full")
    lab.step()
    for path in lab.folder("t").iterdir():
        path.unlink()
    (mirror,) = files(lab, "sources/")
    whole = mirror.read_bytes()
    mirror.unlink()
    lab.land("t", insert=[("k1", -7)])
    with pytest.raises(e.DamagedFileError) as lost:
        lab.refresh()
    assert "restore the file: the mirror of t cannot be made anew" in lost.value.hint
    mirror.write_bytes(whole)
    lab.step(least="full")


def test_an_arrival_is_left_out_where_the_mirror_holds_what_came_before(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.land("t", insert=[("k1", -6)])
    lab.view("least", "SELECT k, v FROM t ORDER BY v LIMIT 3", policy="full")
    lab.step()
    removable = [*lab.folder("t").iterdir()]
    lab.land("t", insert=[("k1", -7)])
    lab.step()
    for path in removable:
        path.unlink()
    lab.ws.skip("t", 3)
    lab.rows["t"].remove(("k1", -7))
    lab.step()
    assert lab.read("least") == [("k1", -6), ("k0", 0), ("k1", 1)]
    with pytest.raises(e.SourceError, match="arrival 2 of source t cannot be left out"):
        lab.ws.skip("t", 2)


def test_a_damaged_answer_is_said_not_hidden(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.step()
    for path in files(lab, "views/sums"):
        path.unlink()
    lab.land("t", insert=[("k1", -7)])
    entries = lab.number
    with pytest.raises(e.DamagedFileError, match="a file of the workspace cannot be read") as lost:
        lab.step()
    assert lab.number == entries + 1, "the arrival alone"
    assert "drop the view and add it again" in lost.value.hint
    lab.ws.drop_view("sums")
    lab.view("sums", SUMS)
    lab.step()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_answer_fails_its_view_alone(lab: Lab, damage: str) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.view("same", SUMS)
    lab.view("text", "SELECT k, v, v + 1 AS more FROM t WHERE v > 3", policy="full")
    lab.step()
    was = lab.bag("sums")
    whole = {path: path.read_bytes() for path in files(lab, "views/sums")}
    for path in whole:
        DAMAGES[damage](path)
    verified = lab.ws.verify(lab.spark).views
    assert [verified[name].equal for name in ("same", "sums", "text")] == [True, False, True]
    assert (verified["sums"].error or {})["code"] == "DAMAGED_FILE"
    record = lab.ws._store.world().views["sums"]
    for value in (-7, -8):  # with the state that both keep, and with it as the other has left it
        lab.land("t", insert=[("k1", value)])
        report = lab.refresh()
        assert (report.views["same"].method, report.views["text"].method) == (
            "incremental",
            "full",
        )
        assert report.views["sums"].method == "failed"
        error = report.views["sums"].error
        assert error is not None
        assert error["code"] == "DAMAGED_FILE"
        assert "a file of the workspace cannot be read" in error["message"]
        assert "drop the view and add it again" in error["hint"]
        assert exit_code(report.to_dict()) == e.DamagedFileError.exit_code
        assert lab.ws._store.world().views["sums"] == record
    for path, data in whole.items():
        path.write_bytes(data)
    lab.step()
    moved = lab.changes("sums", record.run or 0)
    assert moved
    was.update(moved)
    assert +was == lab.bag("sums")


def test_a_damaged_answer_of_a_former_text_fails_its_view_alone(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("counts", "SELECT k, count(*) AS n FROM t GROUP BY k")
    lab.view("sums", SUMS)
    lab.step()
    for path in files(lab, "views/sums"):
        path.unlink()
    lab.ws.replace_view(lab.spark, "sums", SUMS.replace("min", "max"))
    lab.land("t", insert=[("k1", -7)])
    report = lab.refresh()
    assert report.views["counts"].method == "incremental"
    error = report.views["sums"].error
    assert error is not None
    assert error["code"] == "DAMAGED_FILE"
    assert "/views/sums/" in error["message"]


def test_a_bit_is_noticed_wherever_it_is_turned(lab: Lab) -> None:
    """Statistics that are altered make scans pass over rows, and nobody would know."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.step()
    (path,) = files(lab, "views/sums")
    data = path.read_bytes()
    for place in {*range(0, len(data), len(data) // 40), len(data) - 6, len(data) - 1}:
        turned = bytearray(data)
        turned[place] ^= 1 << place % 8
        path.write_bytes(turned)
        with pytest.raises(e.DamagedFileError, match="was altered since it was written"):
            lab.bag("sums")
    path.write_bytes(data)
    lab.check()


def test_whoever_writes_a_file_seals_it(lab: Lab) -> None:
    """Spark writes what is built, Arrow what is added to it; mirrors and changes are sealed like states."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.view("twins", "SELECT l.k, count(*) AS n FROM t l JOIN t r ON l.v = r.v GROUP BY l.k")
    lab.step()
    lab.land("t", insert=[("k1", -7)])
    lab.step()
    chains = lab.ws._store.world().chains
    assert {name.split("/")[0] for name in chains} == {"states", "sources", "views", "changes"}
    written = [f for chain in chains.values() for s in segments(chain) for f in s.files]
    assert all(file.seal is not None for file in written)


def test_a_file_without_a_byte_is_no_answer_without_rows(lab: Lab) -> None:
    """Spark passes over such a file: readers would get fewer rows and not know it."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.view("rows", "SELECT * FROM t")
    lab.step()
    lab.land("t", insert=[("k1", -7)])
    lab.step(sums="incremental")
    (path,) = files(lab, "changes/rows")[-1:]
    whole = len(path.read_bytes())
    path.write_bytes(b"")
    with pytest.raises(e.DamagedFileError, match=f"has 0 bytes where {whole} were written") as cut:
        lab.changes("rows", 1)
    assert path.name in cut.value.message
    assert lab.changes("sums", 1), "others are not harmed"
    with pytest.raises(e.DamagedFileError, match="has 0 bytes"):
        lab.bag("rows")


@pytest.mark.parametrize("damage", DAMAGES)
def test_reading_what_is_damaged_says_so(
    lab: Lab, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lengths and seals are looked at when the rows are asked for."""
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("rows", "SELECT * FROM t")
    lab.step()
    lab.land("t", insert=[("k1", -7)])
    lab.step(rows="incremental")
    for path in {*files(lab, "views/rows"), *files(lab, "changes/rows")}:
        DAMAGES[damage](path)
    calls = (
        lambda: lab.ws.read(lab.spark, "rows"),
        lambda: lab.ws.changes(lab.spark, "rows", since=0),
    )
    for call in calls:
        with pytest.raises(e.DamagedFileError, match="a file of the workspace cannot be read"):
            call()
    program = Program(Path(lab.ws.root), capsys)
    for words in (
        ("read", "rows", "--limit", "1000"),
        ("changes", "rows", "--since", "0", "--limit", "1000"),
    ):
        told = program(*words)
        assert told.code == e.DamagedFileError.exit_code, told
        assert "a file of the workspace cannot be read" in told.err
        assert "drop the view and add it again" in told.err
    told = program("verify")
    assert told.code == e.DamagedFileError.exit_code, told
    assert "drop the view and add it again" in told.out
