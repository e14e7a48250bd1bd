"""What becomes of answers and states that another Spark or Java has made than the one that runs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from slacktide.common.chain_ids import is_state
from slacktide.engine.definitions.forgetting import unmoved
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
        with suppress(CommitConflictError):  # another entry came between
            store.commit(*_takeover(world, engine))
        world = store.world()
    return world


def _takeover(world: World, engine: str) -> tuple[list[u.Update], list[q.Requirement]]:
    """The updates that note another engine, and what must still hold for them: no run has committed since."""
    noted: list[u.Update] = [u.NoteEngine(engine)]
    needed: list[q.Requirement] = [q.EngineIs(world.engine), q.RunFree(world.next_run)]
    if not world.engine:  # what made the answers of an earlier version of ours, nobody has told
        return noted, needed
    answered = [view for view in world.views.values() if view.versions is not None]
    dropped = [u.DropChain(chain) for chain in world.chains if is_state(chain)]
    noted += [u.DoubtAnswer(view.name, engine=world.engine) for view in answered]
    needed += [q.ViewIs(view.name, view.token) for view in answered]
    return [*noted, *dropped], [*needed, *unmoved(world, dropped)]
