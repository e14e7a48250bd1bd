"""The head of a campaign names the commit that was run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.harness.versions import commit


def _git(root: Path, *arguments: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", "-C", str(root), *names, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_checkout_is_named_by_its_commit_and_a_changed_one_is_marked(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    (tmp_path / "figures.json").write_text("{}\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "first")
    head = _git(tmp_path, "rev-parse", "--short=12", "HEAD")
    (tmp_path / "figures.json").write_text('{"found": 1}\n')
    assert commit(tmp_path) == head
    (tmp_path / "code.py").write_text("x = 2\n")
    assert commit(tmp_path) == f"{head} and changes"


def test_a_folder_without_a_history_has_no_commit(tmp_path: Path) -> None:
    assert commit(tmp_path) == ""
