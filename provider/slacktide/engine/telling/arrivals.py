"""Which files a source has accepted, under which versions, and which of them nobody needs any more."""

from __future__ import annotations

from typing import Any

from slacktide.engine.definitions.drafts import check_known
from slacktide.engine.telling.status import check_limit, removable_until
from slacktide.store.world import World


def arrivals_of(world: World, name: str, limit: int | None) -> list[dict[str, Any]]:
    """Tell the arrivals of a source, the newest first.

    Args:
        world: the log as it is.
        name: of the source.
        limit: how many of the newest; None for all.

    Returns:
        Of each: `version`, `files` (paths), `rows` (None where they are not counted when they land), `bytes`, `accepted`
        (an instant), `skipped` (whether it is left out for good) and `needed` (whether a run or a check may read it).

    Raises:
        UnknownObjectError: there is no such source.
        InvalidSettingError: the limit is below 1.
    """
    check_known("source", name, world.sources)
    check_limit(limit)
    source = world.sources[name]
    gone = removable_until(world, source)
    first = 0 if limit is None else max(source.version - limit, 0)
    newest = enumerate(source.arrivals[first : source.version], first + 1)
    told = [
        {
            "version": version,
            "files": [file.path for file in arrival.files],
            "rows": arrival.rows,
            "bytes": arrival.bytes,
            "accepted": arrival.accepted,
            "skipped": version in source.skipped,
            "needed": version > gone,
        }
        for version, arrival in newest
    ]
    return told[::-1]
