"""Applying what a plan declares otherwise than the workspace has it, and executing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.definitions.declaring import stated
from slacktide.engine.plan import Plan, Registration
from slacktide.engine.reports import Report
from slacktide.engine.sources import is_wider
from slacktide.errors import SlacktideError, UserError
from slacktide.store.record import ViewRecord

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store


def run_declared(
    catalogue: Catalogue,
    store: Store,
    spark: SparkSession,
    plan: Plan,
    run: Callable[[Plan, Mapping[str, SlacktideError]], Report],
) -> Report:
    """Apply what a plan declares otherwise, then execute it; where a view changed, it is stale, and made again.

    Views may be declared in any order, whichever read which. One that reads a view which only the run creates is
    changed after the run, and answers with the next; what is wrong with it then, that one tells.

    Args:
        catalogue: which changes definitions.
        store: of the workspace.
        spark: by which texts are read.
        plan: the plan.
        run: executes it, but for views that could not be changed, by name with the reason: they keep their answers.

    Raises:
        InvalidSettingError: the plan was made for another workspace.
        UserError: a source cannot be altered; nothing has run then.
    """
    refused = _apply(catalogue, store, spark, plan)
    coming = [item.name for item in plan.register if not item.replaces]
    texts = {item.name: item.sql for item in plan.register}
    waiting = _waiting({name: texts[name] for name in refused}, coming)
    report = run(plan, {name: why for name, why in refused.items() if name not in waiting})
    if waiting:
        _apply(catalogue, store, spark, plan)
    return report


def _waiting(texts: Mapping[str, str], coming: Sequence[str]) -> set[str]:
    """The views whose texts name one that is yet to come, or one that waits itself."""
    found: set[str] = set()
    while coming:
        named = re.compile(rf"\b(?:{'|'.join([*coming, *found])})\b", re.IGNORECASE)
        more = {name for name, sql in texts.items() if named.search(sql)} - found
        if not more:
            break
        found |= more
    return found


def _apply(
    catalogue: Catalogue, store: Store, spark: SparkSession, plan: Plan
) -> dict[str, SlacktideError]:
    """Change what a plan says; give by name why views could not be changed."""
    plan.check_made_for(store.identity, store.root)
    for change in plan.alter:
        source = store.world().sources.get(change.name)
        if source is not None and is_wider(source, change.schema):
            catalogue.alter_source(spark, change.name, change.schema)
    waiting = [item for item in plan.register if item.replaces]
    while True:
        refused: dict[str, SlacktideError] = {}
        for item in waiting:
            view = store.world().views.get(item.name)
            # One that was changed since the plan stays so, and its run says `STALE_PLAN`.
            if view is not None and stated(view) == item.replaces:
                try:
                    _replace(catalogue, spark, item, view)
                except UserError as error:
                    refused[item.name] = error
        left = [item for item in waiting if item.name in refused]
        if len(left) in {0, len(waiting)}:
            return refused
        waiting = left


def _replace(
    catalogue: Catalogue, spark: SparkSession, item: Registration, view: ViewRecord
) -> None:
    """Make a view what it is declared to be; one that was declared as paused, and is no longer, is resumed.

    One that a command has paused stays so, as it does where a command replaces it.
    """
    resumes = bool(view.settings.get("paused")) and "paused" not in item.settings
    catalogue.replace_view(spark, item.name, item.sql, item.settings, resumes=resumes)
