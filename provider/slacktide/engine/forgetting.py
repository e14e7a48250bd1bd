"""States that no view keeps any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slacktide.store import update as u
from slacktide.store.world import World


def forget_states(world: World, stated: Mapping[str, Sequence[str]]) -> list[u.DropChain]:
    """Drop what views needed or remembered and no view keeps from now on.

    Args:
        world: the log as it is.
        stated: by view, the chains that it keeps from now on; none for one that is dropped.
    """
    kept = {state for states in stated.values() for state in states}
    for view in world.views.values():
        kept |= set() if view.name in stated else {*view.kept}
    changed = [world.views[name] for name in stated if name in world.views]
    before = dict.fromkeys(s for view in changed for s in view.kept)
    return [u.DropChain(s) for s in before if s in world.chains and s not in kept]
