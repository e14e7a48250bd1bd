"""States that no view keeps any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slacktide.common.chain_ids import is_state
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.world import World


def forget_states(world: World, stated: Mapping[str, Sequence[str]]) -> list[u.DropChain]:
    """Drop the states that no view keeps from now on.

    Two writers that stop keeping a state at once leave it to each other; whoever writes next drops it.

    Args:
        world: the log as it is.
        stated: by view, the chains that it keeps from now on; none for one that is dropped.
    """
    kept = {state for states in stated.values() for state in states}
    for view in world.views.values():
        kept |= set() if view.name in stated else {*view.kept}
    return [u.DropChain(chain) for chain in world.chains if is_state(chain) and chain not in kept]


def unmoved(world: World, dropped: Iterable[u.DropChain]) -> list[q.ChainIs]:
    """Require that nobody has touched, or dropped, what is dropped."""
    return [q.ChainIs(one.id, world.chains[one.id].token) for one in dropped]
