"""States that no view keeps any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slacktide.store import update as u
from slacktide.store.world import World


def forget_states(world: World, stated: Mapping[str, Sequence[str]]) -> list[u.DropChain]:
    """Drop the states of views that no view keeps from now on.

    Args:
        world: the log as it is.
        stated: by view, the states that it keeps from now on; none for one that is dropped.
    """
    kept = {state for states in stated.values() for state in states}
    kept |= {s for view in world.views.values() if view.name not in stated for s in view.states}
    before = dict.fromkeys(
        state for name in stated if name in world.views for state in world.views[name].states
    )
    return [u.DropChain(s) for s in before if s in world.chains and s not in kept]
