"""Quarantine: rows of csv and json files that do not fit the schema are kept apart and counted.

What a row is, Spark says, so that a run looks at the arrivals that no run has taken in yet, before it
computes anything. A row that is kept here is in no answer, no mirror and no verification: all of them read
the same table. What is written is named by the arrival and follows from it alone, so that a retry writes
the same objects again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from slacktide.common.digest import digest_of
from slacktide.engine.work import Work
from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.address import parse_address
from slacktide.store.arrivals import PinnedFile
from slacktide.store.objects import ObjectStore, connect
from slacktide.store.record import Source
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.tasks.executor import Executor
    from slacktide.store.store import Store


def quarantine(
    executor: Executor,
    store: Store,
    world: World,
    works: Sequence[Work],
    mirrors: Mapping[str, int],
) -> list[u.ExamineArrivals]:
    """Keep the bad rows of all arrivals that a run takes in and none has before it.

    Raises:
        SourceError: a file cannot be read.
        StorageError: the rows could not be written; nothing else was, either.
    """
    found = []
    for name, end in _ends(works, mirrors).items():
        source = world.sources[name]
        path = source.arguments.get("quarantine")
        if path is None or end <= source.examined:
            continue
        misfits = executor.misfits(name, source.examined, end)
        counts = {} if misfits is None else misfits.counts()
        rows = {}
        _check_known(source, counts)
        if counts:
            place = connect(parse_address(path), store.options, create=True)
            for version in range(source.examined + 1, end + 1):
                files = source.arrivals[version - 1].files
                bad = sum(counts.get(file.path, 0) for file in files)
                if bad and version not in source.skipped:
                    _keep(executor, place, source, version)
                    rows[str(version)] = bad
        found.append(u.ExamineArrivals(name, end, rows))
    return found


def _check_known(source: Source, counts: Mapping[str, int]) -> None:
    """Check that every row left out is one that is kept.

    Raises:
        InvariantError: Spark calls a file otherwise than it is pinned.
    """
    unknown = [path for path in counts if source.arrivals.find(path) is None]
    if unknown:
        raise InvariantError(f"source {source.name} has no file {unknown[0]}, of which rows misfit")


def _ends(works: Sequence[Work], mirrors: Mapping[str, int]) -> dict[str, int]:
    """How far a run reads each source."""
    ends = dict(mirrors)
    for work in works:
        if work.plan.program is not None:
            for name, end in work.plan.end.items():
                ends[name] = max(end, ends.get(name, end))
    return ends


def _keep(executor: Executor, place: ObjectStore, source: Source, version: int) -> None:
    misfits = executor.misfits(source.name, version - 1, version)
    if misfits is None:
        return
    (file,) = source.arrivals[version - 1].files
    folder = f"{source.name}/{version:012}-{_identity(source, file)}"
    about = {"source": source.name, "version": version, "file": file.path}
    for number, rows in enumerate(misfits.batches()):
        lines = (json.dumps({**about, "row": row}, ensure_ascii=False) + "\n" for row in rows)
        place.put(f"{folder}/part-{number:05}.jsonl", "".join(lines).encode())


def _identity(source: Source, file: PinnedFile) -> str:
    """Tells the arrival, and how it was read, from those of other histories of the same name."""
    content = file.digest or file.etag or file.modified
    reading = json.dumps([source.schema, source.arguments], sort_keys=True, default=dict)
    return digest_of("quarantine", file.path, file.size, content, reading).hex()[:16]
