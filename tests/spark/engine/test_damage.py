"""Files of the workspace that are lost, cut off or altered by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slacktide import errors as e
from slacktide.store.naming import segments
from tests.harness.lab import Lab

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


def test_a_damaged_answer_is_said_not_hidden(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *ROWS)
    lab.view("sums", SUMS)
    lab.step()
    for path in files(lab, "views/sums"):
        path.unlink()
    lab.land("t", insert=[("k1", -7)])
    with pytest.raises(e.DamagedFileError, match="a file of the workspace cannot be read") as lost:
        lab.step()
    assert "drop the view and add it again" in lost.value.hint


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
