"""What made the figures of a campaign: Slacktide, its commit, Spark and Python."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from slacktide import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def versions(spark: SparkSession | None = None) -> dict[str, str]:
    """Name what a campaign runs; Spark only where it does."""
    return {"commit": commit(), **setting_of(spark)}


def setting_of(spark: SparkSession | None = None) -> dict[str, str]:
    """The same where each part of a campaign has a commit of its own."""
    return {
        "slacktide": __version__,
        **({} if spark is None else {"spark": spark.version}),
        "python": platform.python_version(),
    }


def commit(root: Path = ROOT) -> str:
    """The commit of a checkout, with a mark where its code differs; empty where there is none."""
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    if head.returncode:
        return ""
    differs = _git(root, "diff", "--quiet", "HEAD", "--", "*.py", "*.sql", "*.java").returncode
    return head.stdout.strip() + (" and changes" if differs else "")


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)
