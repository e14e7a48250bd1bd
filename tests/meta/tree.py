"""What the meta-tests look at: the source files and the modules of the product."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from slacktide.common.node import Node

ROOT = Path(__file__).resolve().parent.parent.parent
PROVIDER = ROOT / "provider" / "slacktide"
PLUGINS = ROOT / "plugins" / "slacktide_ui"
DATA_LAYERS = ("algebra", "program")


def sources(*folders: Path) -> list[Path]:
    """All Python files below some folders, in order."""
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def product_files() -> list[Path]:
    """The files of a checkout: those that git knows or would add, else all outside hidden folders."""
    asked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if asked.returncode == 0 and asked.stdout:
        names = [ROOT / name for name in asked.stdout.decode().split("\0") if name]
        return sorted(path for path in names if path.is_file())
    found = (path for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    hidden = {
        ".venv",
        ".build",
        ".git",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
    }
    return sorted(path for path in found if not hidden & set(path.relative_to(ROOT).parts))


def data_modules() -> Iterator[str]:
    """The modules that define plans and programs; none of them needs more than Python."""
    for layer in DATA_LAYERS:
        for path in sources(PROVIDER / layer):
            dotted = path.relative_to(PROVIDER.parent).with_suffix("")
            yield ".".join(dotted.parts).removesuffix(".__init__")


def is_public(kind: type[Node]) -> bool:
    """Whether a class is what its module calls by that name.

    A dataclass with slots is made twice; the first one lives on, unused, until it is collected.
    """
    module = sys.modules[kind.__module__]
    return (
        not module.__name__.startswith("slacktide.optimizer.")
        and getattr(module, kind.__name__, None) is kind
    )


def node_classes() -> list[type[Node]]:
    """Every class of node that plans and programs are made of, subclasses of subclasses included.

    What the planner makes of them for itself is never stored and never run.
    """
    for module in data_modules():
        importlib.import_module(module)
    found: list[type[Node]] = []
    waiting: list[type[Node]] = [Node]
    while waiting:
        children = waiting.pop().__subclasses__()
        found.extend(child for child in children if is_public(child))
        waiting.extend(children)
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))
