"""Run the checks: ``python -m tools.check [lint | TIER …]``; all of them without arguments.

Linters come first and the first that fails ends the run, since they are cheap to mend. The tiers of
tests then all run, whatever the earlier ones said; their closing lines stand together at the end, and with
each the tests that failed, as of a long log often the end alone is kept.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tools.bootstrap import ROOT

LINTERS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    ("lint-imports", "--no-logo"),
)
NOTHING_COLLECTED = 5
# Failures that are named again at the end, of one tier; a message may be as long as a page.
NAMED, WIDTH = 20, 300
# In the order of `tests/conftest.py`: files of few tests are not the short ones.
FILE_BY_FILE = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")


@dataclass(frozen=True, slots=True)
class Tier:
    """Tests that run in one call of pytest."""

    name: str
    arguments: tuple[str, ...]
    environ: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Closing:
    """How a tier ended: the exit code, the line that closes it, and the lines of tests that failed."""

    code: int
    line: str
    failures: list[str]


TIERS = (
    Tier("unit", ("-m", "unit", "-n", "2")),
    # Names on disk are digests: the same tests under another order of Python's own hashes.
    Tier("meta", ("-m", "unit", "tests/meta"), {"PYTHONHASHSEED": "4242"}),
    Tier("spark", ("-m", "spark and not airflow and not ui", *FILE_BY_FILE)),
    Tier("s3", ("-m", "s3", *FILE_BY_FILE)),
    Tier("airflow", ("-m", "airflow and not ui")),
    Tier("ui", ("-m", "ui")),
)


def main(names: list[str]) -> int:
    """Run what is named, or everything; give the exit code."""
    unknown = set(names) - {"lint"} - {tier.name for tier in TIERS}
    if unknown:
        print(f"no such checks: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if (not names or "lint" in names) and not lint():
        return 1
    tiers = [tier for tier in TIERS if not names or tier.name in names]
    closings = [(tier.name, run_tier(tier)) for tier in tiers]
    for name, closing in closings:
        print(f"{'ok  ' if closing.code == 0 else 'FAIL'} {name:8} {closing.line}")
        for failure in closing.failures[:NAMED]:
            print(f"     {failure[:WIDTH]}")
    return int(any(closing.code for _, closing in closings))


def lint() -> bool:
    """Run the linters up to the first that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    for command in LINTERS:
        print(f"== {' '.join(command)}", flush=True)
        done = subprocess.run(command, cwd=ROOT, env=os.environ | {"PATH": path}, check=False)
        if done.returncode:
            print(f"FAIL {' '.join(command)}")
            return False
    return True


def run_tier(tier: Tier) -> Closing:
    """Run one tier, showing its output; give how it ended."""
    command = [sys.executable, "-m", "pytest", *tier.arguments]
    print(f"== {tier.name}: pytest {' '.join(tier.arguments)}", flush=True)
    closing, failures = "ended without a closing line", []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | tier.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            closing = closing_line(line) or closing
            failures += re.findall(r"^(?:FAILED|ERROR) \S+\.py.*", line)
    if process.returncode == NOTHING_COLLECTED:
        closing = f"{closing} (a tier without tests is a failure)"
    return Closing(process.returncode, closing, failures)


def closing_line(line: str) -> str | None:
    """Give the counts of a line of pytest that closes a run; None for any other line."""
    found = re.fullmatch(r"=+ (.* in [\d.]+s(?: \([\d:]+\))?) =+", line.strip())
    return found[1] if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
