"""Functions as users bring them, which constructs call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd  # noqa: TC002 - Spark reads the hints

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

FUNCTIONS: Final[dict[str, dict[str, Any]]] = {
    "scored": {"returns": "int"},
    "shouted": {"returns": "string", "kind": "pandas"},
    "spread": {"returns": "double", "kind": "pandas"},
}


def scored(value: int | None) -> int | None:
    """One row after the other."""
    return None if value is None else value * 2 + 1


def shouted(texts: pd.Series) -> pd.Series:
    """A batch of rows after the other."""
    return texts.str.upper()


def spread(values: pd.Series) -> float:
    """A group, or the frame of a window."""
    return float(values.max() - values.min())


def register(workspace: Workspace) -> None:
    """Let a workspace have all of them."""
    for name, declared in FUNCTIONS.items():
        workspace.add_function(name, f"{__name__}:{name}", **declared)
