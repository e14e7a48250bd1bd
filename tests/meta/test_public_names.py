"""The names that users import; changing this list is changing the contract."""

from __future__ import annotations

import tomllib

import slacktide
from tests.meta.tree import ROOT


def test_names_are_the_documented_ones() -> None:
    assert sorted(slacktide.__all__) == ["Workspace", "__version__"]


def test_every_name_resolves() -> None:
    assert [name for name in slacktide.__all__ if getattr(slacktide, name, None) is None] == []


def test_version_is_the_distribution_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert slacktide.__version__ == project["version"]
