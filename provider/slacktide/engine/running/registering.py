"""Reading the views that a plan registers: one that cannot be read does not hold back others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slacktide.engine.definitions.drafts import check_free, draft_view
from slacktide.engine.definitions.expansion import all_texts, query_of
from slacktide.engine.definitions.places import check_apart, sink_path
from slacktide.engine.definitions.sink_setting import check_sink_of
from slacktide.engine.plan import Plan, Registration
from slacktide.engine.planning.plan_making import plan_first
from slacktide.engine.work import Work
from slacktide.errors import CommitConflictError, SlacktideError, UserError
from slacktide.store import requirement as q
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Registered:
    """Views that were read, each after those that it reads, and why others were not."""

    works: list[Work]
    refused: Mapping[str, SlacktideError]


def register(
    spark: SparkSession,
    store: Store,
    world: World,
    plan: Plan,
) -> Registered:
    """Read the new views of a plan, which may read each other in any order; of one that is paused there is nothing to compute."""
    works: list[Work] = []
    refused: dict[str, SlacktideError] = {}
    waiting = [item for item in plan.register if item.name not in world.views]
    while waiting:
        refused = {}
        for item in waiting:
            beside = {work.name: work.sql for work in works}
            try:
                check_free(world, item.name, beside)
                work = _read(spark, world, plan, item, beside)
                outputs = work.view.outputs
                check_sink_of(item.name, item.settings, outputs, store, world, _sinks(works))
                works.append(work)
            except UserError as error:
                refused[item.name] = error
        left = [item for item in waiting if item.name in refused]
        if len(left) == len(waiting):
            break
        waiting = left
    return Registered(works, refused)


def kept_apart(store: Store, world: World, works: Sequence[Work]) -> list[q.Requirement]:
    """What keeps the sinks of a run's new views apart from what others have placed while it worked.

    Args:
        store: the workspace's store.
        world: the newest one, in which the run is to commit.
        works: of the run.

    Raises:
        CommitConflictError: another writer took a place; the next attempt says which.
    """
    sinks = _sinks([work for work in works if work.is_done])
    for what, path in sinks.items():
        try:
            check_apart(what, path, store.root, world, besides=sinks)
        except UserError as error:
            raise CommitConflictError(
                f"nothing is committed, as meanwhile {error.message}", hint="plan again and repeat"
            ) from error
    return [q.NonePlaced(world.number)] if sinks else []


def _sinks(works: Sequence[Work]) -> dict[str, str]:
    """The sinks of views that come into the log together, by what they are."""
    drafts = [work.draft for work in works if work.draft is not None]
    paths = {f"the sink of view {draft.name}": sink_path(draft.settings) for draft in drafts}
    return {what: path for what, path in paths.items() if path is not None}


def _read(
    spark: SparkSession, world: World, plan: Plan, item: Registration, beside: Mapping[str, str]
) -> Work:
    draft = draft_view(spark, world, item.name, item.sql, item.settings, beside=beside)
    ends = {name: plan.versions.get(name, 0) for name in world.sources}
    first = plan_first(world, item.name, draft.view, draft.policy, ends)
    if item.settings.get("paused"):
        first = replace(first, method="unchanged", program=None, reasons=())
    texts = {**all_texts(world), **beside}
    query = query_of(item.sql, draft.view, {name: texts[name] for name in draft.view.views})
    return Work(item.name, item.sql, draft.view, first, query, None, draft)
