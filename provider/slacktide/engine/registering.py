"""Reading the views that a plan registers: one that cannot be read does not hold back others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slacktide.engine.definitions import draft_view
from slacktide.engine.expansion import all_texts, query_of
from slacktide.engine.plan import Plan, Registration
from slacktide.engine.planning import plan_first
from slacktide.engine.work import Work
from slacktide.errors import SlacktideError, UserError
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.handles import SparkSession


@dataclass(frozen=True, slots=True)
class Registered:
    """Views that were read, each after those that it reads, and why others were not."""

    works: list[Work]
    refused: Mapping[str, SlacktideError]


def register(spark: SparkSession, world: World, plan: Plan) -> Registered:
    """Read the new views of a plan, which may read each other in any order."""
    works: list[Work] = []
    refused: dict[str, SlacktideError] = {}
    waiting = [item for item in plan.register if item.name not in world.views]
    while waiting:
        refused = {}
        for item in waiting:
            beside = {work.name: work.sql for work in works}
            try:
                works.append(_read(spark, world, plan, item, beside))
            except UserError as error:
                refused[item.name] = error
        left = [item for item in waiting if item.name in refused]
        if len(left) == len(waiting):
            break
        waiting = left
    return Registered(works, refused)


def _read(
    spark: SparkSession, world: World, plan: Plan, item: Registration, beside: Mapping[str, str]
) -> Work:
    draft = draft_view(spark, world, item.name, item.sql, item.settings, beside=beside)
    ends = {name: plan.versions.get(name, 0) for name in world.sources}
    first = plan_first(world, item.name, draft.view, draft.policy, ends)
    texts = {**all_texts(world), **beside}
    query = query_of(item.sql, draft.view, {name: texts[name] for name in draft.view.views})
    return Work(item.name, item.sql, draft.view, first, query, None, draft)
