"""Where commands work that make data of their own: a folder that goes away whatever ends them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slacktide.errors import InvalidSettingError


@contextmanager
def folder(keep: str | None) -> Iterator[Path]:
    """Give an empty folder: a temporary one, or the one to keep.

    Raises:
        InvalidSettingError: the one to keep is not empty.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="slacktide-", ignore_cleanup_errors=True) as name:
            yield Path(name).resolve()
        return
    root = Path(keep).expanduser().resolve()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidSettingError(f"{root} is not an empty directory", hint="name a new one")
    root.mkdir(parents=True, exist_ok=True)
    yield root


def spark_inside(root: Path) -> dict[str, str]:
    """Give the settings that keep Spark on this machine, and what it writes for itself inside a folder."""
    return {
        "spark.master": "local[*]",
        "spark.local.dir": str(root / "spark"),
        "spark.sql.warehouse.dir": str(root / "warehouse"),
    }
