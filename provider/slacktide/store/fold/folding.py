"""Folding updates into a world: by one table of what each of them does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.fold import chains, sources, views, workspace
from slacktide.store.fold.draft import Draft, Steps
from slacktide.store.world import World

STEPS: Final[Steps] = {**workspace.STEPS, **sources.STEPS, **views.STEPS, **chains.STEPS}


def apply(world: World, number: int, update: u.Update) -> World:
    """Give the world after one update of an entry.

    Raises:
        InvariantError: the update does not fit the world.
    """
    draft = Draft(world)
    draft.number = number
    _apply(draft, number, update)
    return draft.finish()


def fold(world: World, entries: Iterable[tuple[int, Sequence[u.Update]]]) -> World:
    """Give the world after whole entries, in the order of their numbers.

    Raises:
        InvariantError: an update does not fit, or a number is not the next one.
    """
    draft = Draft(world)
    for number, updates in entries:
        if number != draft.number + 1:
            raise InvariantError(f"entry {number} does not follow entry {draft.number}")
        draft.number = number
        for update in updates:
            _apply(draft, number, update)
    return draft.finish()


def _apply(draft: Draft, number: int, update: u.Update) -> None:
    if (number == 0) != isinstance(update, u.CreateWorkspace):
        raise InvariantError(f"entry {number} may not hold {type(update).__name__}")
    STEPS[type(update)](draft, number, update)
