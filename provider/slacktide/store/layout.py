"""Where the files of pieces lie, and what their paths tell.

A file of a piece is ``<chain>/<attempt>/<piece>/part-…``. The chain's id has two parts, see
`slacktide.common.chain_ids`; the attempt is that of the run that wrote the piece.
"""

from __future__ import annotations

import re
from typing import Final

from slacktide.common.chain_ids import KINDS, PATTERN

FOLDERS: Final = KINDS
# The place of the attempt among the parts of a file's path, however long that is.
ATTEMPT: Final = -3
# How many parts the directory of an attempt has, from the root of the workspace.
DEPTH: Final = 3
_FILE: Final = re.compile(rf"/({PATTERN})/[0-9a-f]{{32}}/\w+/part-")

_BELOW: Final = re.compile(rf"{PATTERN}/[0-9a-f]{{32}}/")


def directory_of(chain: str, attempt: str, piece: str) -> str:
    """Where an attempt writes a piece of a chain."""
    return f"{chain}/{attempt}/{piece}"


def attempt_of(path: str) -> str:
    """The attempt that wrote a file of a piece."""
    return path.split("/")[ATTEMPT]


def from_attempt(path: str) -> str:
    """A path of a file of a piece from its attempt on, which tells it from all others however it is spelled."""
    return "/".join(path.split("/")[ATTEMPT:])


def chain_in(text: str) -> str | None:
    """The chain to which a file belongs that a text names by its address; None where it names none."""
    found = _FILE.search(text)
    return None if found is None else found[1]


def is_below_attempt(path: str) -> bool:
    """Whether an object lies where only attempts write, be it a file of a piece or what is beside it."""
    return _BELOW.match(path) is not None
