"""What becomes of answers and states that another Spark or Java has made than the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.common.chain_ids import is_state
from slacktide.errors import CommitConflictError
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


def taken_over(store: Store, world: World, engine: str) -> World:
    """Note which engine makes answers from now on, and have those of another one made anew, with their states.

    A row is taken away by its values. Where two engines give one expression two values, what one of them added the
    other does not find, so nothing is carried on from one to the other; readers keep the answers meanwhile.

    Args:
        store: of the workspace.
        world: the log as it is.
        engine: that of the session; see `slacktide.spark.sessions.engine.engine_of`.

    Returns:
        The log as it is then: the same where no other engine was at work.
    """
    while world.engine != engine:
        updates = _updates(world, engine)
        try:
            store.commit(updates, _requirements(world, updates))
        except CommitConflictError:
            before, world = world, store.world()
            if world.number == before.number:
                raise
        else:
            world = store.world()
    return world


def _updates(world: World, engine: str) -> list[u.Update]:
    noted = u.NoteEngine(engine)
    if not world.engine:  # what made the answers of an earlier version of ours, nobody has told
        return [noted]
    answered = (view.name for view in world.views.values() if view.versions is not None)
    doubts = (u.DoubtAnswer(name, engine=world.engine) for name in answered)
    return [noted, *doubts, *(u.DropChain(chain) for chain in world.chains if is_state(chain))]


def _requirements(world: World, updates: list[u.Update]) -> list[q.Requirement]:
    """No run has committed since, and nobody has changed what is doubted or dropped."""
    needed: list[q.Requirement] = [q.EngineIs(world.engine), q.RunFree(world.next_run)]
    for one in updates:
        match one:
            case u.DoubtAnswer(view):
                needed.append(q.ViewIs(view, world.views[view].token))
            case u.DropChain(chain):
                needed.append(q.ChainIs(chain, world.chains[chain].token))
            case _:
                pass
    return needed
