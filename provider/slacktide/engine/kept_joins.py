"""Which of the joins that views remember are as of their answers.

A run that gives the answer alone leaves them behind, with the states. The name stays: a run that builds the
states builds the joins with them.
"""

from __future__ import annotations

from collections.abc import Collection

from slacktide.optimizer.remembered_joins import is_there
from slacktide.store.record import ViewRecord
from slacktide.store.world import World


def current_joins(world: World, record: ViewRecord) -> tuple[str, ...]:
    """The chains of the joins that a view remembers and that are as of its answer."""
    return _current(world, record, record.remembers)


def held_by_others(world: World, name: str) -> frozenset[str]:
    """The chains that views besides one keep as of their answers; what writes one anew takes it from them."""
    return frozenset(
        chain
        for record in world.views.values()
        if record.name != name
        for chain in _current(world, record, (*record.states, *record.remembers))
    )


def _current(world: World, record: ViewRecord, chains: Collection[str]) -> tuple[str, ...]:
    there = {
        chain: versions
        for chain in chains
        if chain in world.chains and (versions := world.chains[chain].versions) is not None
    }
    return tuple(chain for chain in there if is_there(chain, record.versions or {}, there))
