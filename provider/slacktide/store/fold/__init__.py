"""Folding: what each update does to the world.

``apply(world, number, update)`` is pure. ``fold`` does the same for many entries on one draft, so
that replaying a long log costs no copy per entry. An update that does not fit the world raises
`InvariantError`, on commit before anything is written.
"""

from __future__ import annotations

from slacktide.store.fold.folding import STEPS, apply, fold
from slacktide.store.fold.workspace import KEPT_REPORTS

__all__ = ["KEPT_REPORTS", "STEPS", "apply", "fold"]
