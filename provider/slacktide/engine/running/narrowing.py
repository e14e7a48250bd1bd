"""What a mirror that was written anew tells of its source's columns: what rows that have gone had lies in no range any more.

Arrivals only widen what is known of a column. Of a feed that drops what is old, the range would grow for ever: what is asked
of a few days would be thought a small part of it, and a change to reach little. The footers of the new mirror are at hand.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from slacktide.common.chain_ids import mirror_id
from slacktide.engine.sources.column_statistics import merged, narrowed, ranges_of
from slacktide.errors import SlacktideError
from slacktide.spark.files.seals import footers
from slacktide.spark.tasks.task import Outcome
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import ColumnStatistics, Segment, Source

if TYPE_CHECKING:
    from slacktide.store.store import Store

_logger = logging.getLogger(__name__)


def note_narrowed(store: Store, written: Mapping[str, Outcome]) -> None:
    """Note what is left of the columns of sources whose mirrors a run wrote anew, once that is committed.

    Where something has come to a source meanwhile, the next mirror will tell. Nothing of this fails a run: it is about estimates.
    """
    for name, outcome in written.items():
        segment, is_base = outcome.chains[mirror_id(name)]
        if is_base:
            try:
                _note(store, name, segment)
            except SlacktideError as error:
                _logger.info("columns of %s stay as they were known: %s", name, error)


def _note(store: Store, name: str, segment: Segment) -> None:
    source = store.world().sources.get(name)
    if source is None or not _has_shrunk(source, segment):
        return
    columns = _columns(store, source, segment)
    needed: list[q.Requirement] = [
        q.SourceIs(name, source.epoch),
        q.SourceArrivals(name, segment.versions[name]),
    ]
    if columns:
        store.commit([u.NoteStatistics(name, columns)], needed)


def _has_shrunk(source: Source, segment: Segment) -> bool:
    """Whether rows have gone, nothing has come since the mirror, and something is known of columns."""
    end = segment.versions[source.name]
    deletes = source.totals(0, end).deletes
    return source.version == end and bool(source.statistics) and deletes != 0


def _columns(store: Store, source: Source, segment: Segment) -> dict[str, ColumnStatistics]:
    """What is known of each column that files of the mirror tell of; a mirror names columns by their places."""
    names = {f"c{place}": column["name"] for place, column in enumerate(source.schema)}
    told = _told(store, segment, [c for c, name in names.items() if name in source.statistics])
    return {names[c]: narrowed(source.statistics[names[c]], left) for c, left in told.items()}


def _told(store: Store, segment: Segment, columns: Sequence[str]) -> dict[str, ColumnStatistics]:
    found: dict[str, list[ColumnStatistics]] = {}
    for footer in footers(store, segment.files):
        for name, one in ranges_of(footer, columns).items():
            found.setdefault(name, []).append(one)
    return {name: reduce(merged, each) for name, each in found.items()}
