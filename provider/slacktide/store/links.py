"""Symbolic links that lead nowhere but round in a circle: neither a missing directory nor a failing disk.

Python takes such a path for one that is not there, and obstore for a failure that may pass.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


def circle_on(path: Path) -> Path | None:
    """Find the link on the way to a path that leads back to itself; None where there is none."""
    for place in (*reversed(path.parents), path):
        try:
            place.stat()
        except OSError as error:
            return place if error.errno == errno.ELOOP else None
    return None


def circle_below(folder: Path) -> Path | None:
    """Find a link below a directory that leads back to itself, or to a directory that it lies in."""
    for parent, folders, files in os.walk(folder):
        for name in sorted([*folders, *files]):
            place = Path(parent, name)
            if _is_link(place) and (circle_on(place) or _leads_up(place)):
                return place
    return None


def _leads_up(link: Path) -> bool:
    try:
        target = os.path.realpath(link)
    except OSError:
        return False  # nobody may read where it leads
    return os.path.commonpath([target, os.path.realpath(link.parent)]) == target


def _is_link(place: Path) -> bool:
    try:
        return place.is_symlink()
    except PermissionError:  # of the directory that it lies in
        return False
