"""Ids of chains: what kind of thing a chain is, and whose, or which.

An id is ``states/<state>``, ``sources/<source>`` for the mirror of a source, ``views/<view>`` for the answer
of a view or ``changes/<view>`` for the changes of that; the last two end in ``@<run>`` where another text
took the view's place after that run. Ids stand in the log and in stored programs, and name the folders
below which the files of chains lie, so that they never change.
"""

from __future__ import annotations

from typing import Final

_STATE: Final = "states"
_MIRROR: Final = "sources"
_ANSWER: Final = "views"
_CHANGES: Final = "changes"

KINDS: Final = (_STATE, _MIRROR, _ANSWER, _CHANGES)
PATTERN: Final = rf"(?:{'|'.join(KINDS)})/\w+(?:@\d+)?"
"""A regular expression of any id."""


def state_id(state: str) -> str:
    """The id of a state, by what tells it from others."""
    return f"{_STATE}/{state}"


def mirror_id(source: str) -> str:
    """The id of the mirror of a source."""
    return f"{_MIRROR}/{source}"


def answer_id(view: str, run: int | None = None) -> str:
    """The id of the answer of a view, or of that of a former text, by the last run that answered it."""
    return _of_view(_ANSWER, view, run)


def changes_id(view: str, run: int | None = None) -> str:
    """The id of the changes of an answer; see `answer_id`."""
    return _of_view(_CHANGES, view, run)


def is_state(chain: str) -> bool:
    """Whether a chain is a state."""
    return _is(_STATE, chain)


def is_mirror(chain: str) -> bool:
    """Whether a chain is the mirror of a source."""
    return _is(_MIRROR, chain)


def is_answer(chain: str) -> bool:
    """Whether a chain is the answer of a view, of whatever text."""
    return _is(_ANSWER, chain)


def is_changes(chain: str) -> bool:
    """Whether a chain has the changes of an answer, of whatever text."""
    return _is(_CHANGES, chain)


def is_of_view(chain: str) -> bool:
    """Whether a chain is what readers were given, an answer or its changes, and cannot be thrown away."""
    return is_answer(chain) or is_changes(chain)


def mirrored_source(chain: str) -> str | None:
    """The source of which a chain is the mirror; None for a chain of another kind."""
    return chain.removeprefix(f"{_MIRROR}/") if is_mirror(chain) else None


def _of_view(kind: str, view: str, run: int | None) -> str:
    return f"{kind}/{view}" if run is None else f"{kind}/{view}@{run}"


def _is(kind: str, chain: str) -> bool:
    return chain.startswith(f"{kind}/")
