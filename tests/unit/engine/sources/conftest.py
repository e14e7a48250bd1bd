"""A directory where files land, and sources over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slacktide.engine.sources import check_source
from slacktide.store import Source
from tests.harness.landing import source


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    """An empty directory whose name has signs that URLs treat in their own way."""
    path = tmp_path / "a b%20c#d é"
    path.mkdir()
    return path


@pytest.fixture
def orders(landing: Path) -> Source:
    """A source of files with a known schema."""
    return source(landing)


Declare = Callable[..., Source]


@pytest.fixture
def declare(landing: Path) -> Declare:
    """Declare a source over the directory."""

    def declare(kind: str = "files", **arguments: Any) -> Source:
        found = check_source("orders", kind, {"path": str(landing), **arguments})
        return Source("orders", kind, found.arguments, found.schema)

    return declare
