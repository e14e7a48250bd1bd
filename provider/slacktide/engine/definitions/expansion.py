"""Views over views: which texts a text reads, so that Spark can expand them."""

from __future__ import annotations

from collections.abc import Mapping

from slacktide.algebra.view import ReadView
from slacktide.spark.tasks.task import Query
from slacktide.store.record import ViewRecord
from slacktide.store.world import World


def views_below(world: World, record: ViewRecord) -> dict[str, str]:
    """Texts of the views that a view reads, each after those that it reads itself."""
    texts: dict[str, str] = {}
    stack = [(name, False) for name in reversed(record.definition["views"])]
    while stack:
        name, expanded = stack.pop()
        below = world.views[name]
        if name in texts:
            continue
        if expanded:
            texts[name] = below.sql
        else:
            stack.append((name, True))
            stack.extend((deeper, False) for deeper in below.definition["views"])
    return texts


def all_texts(world: World) -> dict[str, str]:
    """Texts of all views that others may read, each after those that it reads itself."""
    texts: dict[str, str] = {}
    for record in world.views.values():
        if record.definition["deterministic"]:
            texts.update(views_below(world, record))
            texts[record.name] = record.sql
    return texts


def query_of(sql: str, view: ReadView, texts: Mapping[str, str]) -> Query:
    """A view as its author wrote it, for the executor."""
    return Query(sql=sql, views=texts, sources=view.sources, conf=view.conf, clock=view.clock)
