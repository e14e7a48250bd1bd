"""Slacktide keeps the answers of Spark SQL queries up to date over data that arrives intermittently.

Public names are resolved on first use, so that importing the package loads neither Spark nor Airflow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

__version__ = "0.1.0"
__all__ = ["Workspace", "__version__"]

_HOMES = {"Workspace": "slacktide.engine.workspace"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
