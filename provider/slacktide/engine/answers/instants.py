"""Of which instant the answers are that ask for the time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from slacktide.store.record import ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


def instant_of(store: Store, world: World, record: ViewRecord) -> str | None:
    """The instant of which an answer is; None where the view asks for none, or it is not known."""
    if not record.definition["clock"] or record.run is None:
        return None
    run = world.runs.get(record.run)
    plan = None if run is None else store.get_plan(run.plan_id)
    return None if plan is None else str(plan["now"])


def newest_instant(store: Store, world: World, views: Iterable[str]) -> str:
    """The newest instant of which an answer of some views is; an empty text where none asks for the time."""
    there = (world.views[name] for name in views if name in world.views)
    return max(filter(None, (instant_of(store, world, record) for record in there)), default="")
