"""One small base for all tests of the workloads; each gets its own copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from slacktide.workloads import tpch

SCALE = 0.001


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tpch") / "base"
    tpch.generate_base(root, scale=SCALE)
    return root


@pytest.fixture
def root(base: Path, tmp_path: Path) -> Path:
    return shutil.copytree(base, tmp_path / "root")


@pytest.fixture
def open_stream(root: Path) -> Callable[..., tpch.ChangeStream]:
    def open_stream(nature: str = "gaps", *, seed: int = 7, **options) -> tpch.ChangeStream:
        settings = {"scale": SCALE, "share": 0.04} | options
        return tpch.ChangeStream(root, seed=seed, nature=nature, **settings)

    return open_stream
