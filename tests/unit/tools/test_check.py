"""The checks report what pytest said, and a failure of any tier is a failure of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import TIERS as MARKED
from tools import check


@pytest.mark.parametrize(
    ("line", "closing"),
    [
        ("===== 12 passed, 1 skipped in 3.41s =====\n", "12 passed, 1 skipped in 3.41s"),
        ("== 2 failed, 1 passed in 75.00s (0:01:15) ==", "2 failed, 1 passed in 75.00s (0:01:15)"),
        ("===== no tests ran in 0.01s =====", "no tests ran in 0.01s"),
        ("===== 3 deselected in 0.01s =====", "3 deselected in 0.01s"),
        ("===== FAILURES =====", None),
        ("tests/a.py ... 12 passed in 3.41s", None),
    ],
)
def test_reads_closing_lines(line: str, closing: str | None) -> None:
    assert check.closing_line(line) == closing


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tests of its own, so that real calls of pytest stay small."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  good\n  bad\n", encoding="utf-8")
    (tmp_path / "test_a.py").write_text(
        "import os, pytest\n"
        "@pytest.mark.good\ndef test_good(): assert os.environ.get('SEEN') == 'yes'\n"
        "@pytest.mark.bad\ndef test_bad(): assert False\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(check, "ROOT", tmp_path)
    return tmp_path


GOOD = check.Tier("good", ("-m", "good", "-p", "no:cacheprovider"), {"SEEN": "yes"})
BAD = check.Tier("bad", ("-m", "bad", "-p", "no:cacheprovider"))
EMPTY = check.Tier("empty", ("-m", "good and bad", "-p", "no:cacheprovider"))


@pytest.mark.usefixtures("folder")
def test_all_tiers_run_and_close_together(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "TIERS", (BAD, EMPTY, GOOD))
    assert check.main(["bad", "empty", "good"]) == 1
    bad, failure, empty, good = capfd.readouterr().out.splitlines()[-4:]
    assert bad.startswith("FAIL bad      1 failed, 1 deselected in ")
    assert failure.strip().startswith("FAILED test_a.py::test_bad")
    assert empty.startswith("FAIL empty    2 deselected in ")
    assert empty.endswith("(a tier without tests is a failure)")
    assert good.startswith("ok   good     1 passed, 1 deselected in ")


@pytest.mark.usefixtures("folder")
def test_passes_when_everything_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "TIERS", (GOOD,))
    assert check.main(["good"]) == 0


def test_the_first_failing_linter_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "LINTERS", (("true",), ("false",), ("echo", "never")))
    assert check.main([]) == 1
    out = capfd.readouterr().out
    assert out.splitlines() == ["== true", "== false", "FAIL false"]


def test_refuses_a_name_that_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["unti"]) == 2
    assert capsys.readouterr().err == "no such checks: unti\n"


def test_every_tier_is_run() -> None:
    assert set(MARKED) | {"meta"} == {tier.name for tier in check.TIERS}
