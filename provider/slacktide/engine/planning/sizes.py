"""How large sources, their changes and stored chains are, as the log tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from slacktide.common.ranges import covered
from slacktide.optimizer.statistics import ColumnFacts, Extension, Figure, StoredFacts
from slacktide.store.naming import newest_extension, segments
from slacktide.store.record import MOST_SPANS, Chain, ColumnStatistics, Source
from slacktide.store.world import World


def all_counted(counts: Iterable[int | None]) -> int | None:
    """The sum; None where one of them is not known."""
    found = [*counts]
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def changed_rows(rows: int | None, size: int, whole: int, all_rows: Figure) -> Figure:
    """Rows of a change; by its bytes where they are not known.

    Args:
        rows: as counted.
        size: bytes of its files.
        whole: bytes of all files of the source.
        all_rows: of the source.
    """
    if rows is not None:
        return Figure(float(rows), "observed")
    return Figure(all_rows.value * size / whole if whole else 0.0)


def deleted_rows(source: Source, deletes: int | None, changed: Figure) -> Figure:
    """How many rows of a change take one away; half of them where nobody has counted: a change feed mostly updates.

    Args:
        source: that changed.
        deletes: as counted.
        changed: rows of the change.
    """
    if source.only_grows:
        return Figure(0.0, "declared")
    return Figure(changed.value / 2) if deletes is None else Figure(float(deletes), "observed")


def covered_by(source: Source, start: int, end: int) -> dict[str, Figure]:
    """The share of the range of each column that the changes of some versions cover.

    Of columns alone of which every arrival, and what is known of the source, tells.
    """
    if end - start > MOST_SPANS + len(source.skipped):
        return {}  # of so many it is not kept
    spans = {one.version: one.columns for one in source.spans if start < one.version <= end}
    versions = {v for v in range(start + 1, end + 1) if v not in source.skipped}
    found: dict[str, Figure] = {}
    if not versions or not versions <= spans.keys():
        return found
    for name, known in source.statistics.items():
        told = [spans[version].get(name) for version in sorted(versions)]
        if known.low is None or known.high is None or None in told:
            continue
        of = [one for one in told if one is not None]
        keys = all_counted(one.count for one in of)
        ranges = (
            pair for one in of for pair in zip(one.bounds[::2], one.bounds[1::2], strict=True)
        )
        found[name] = Figure(covered(ranges, keys, known.low, known.high), "observed")
    return found


def stored_facts(chain: Chain) -> StoredFacts:
    """Rows, bytes and files of a chain, base and segments."""
    pieces = list(segments(chain))
    return StoredFacts(
        rows=float(sum(piece.rows for piece in pieces)),
        bytes=float(sum(piece.bytes for piece in pieces)),
        files=sum(len(piece.files) for piece in pieces),
    )


def extension_of(chain: Chain, world: World) -> Extension | None:
    """What the newest run that extended a chain read; of those that were merged, what one of them did."""
    newest, changes = newest_extension(chain, world) or (None, 0)
    if newest is None or newest.read is None:
        return None
    return Extension(float(newest.read), changes / newest.runs)


def column_facts(
    told: Mapping[str, ColumnStatistics], key: Sequence[str], rows: Figure
) -> dict[str, ColumnFacts]:
    """What is known of the columns of a source.

    Args:
        told: what footers tell.
        key: declared; a column that alone is the key has as many values as there are rows.
        rows: of the source.
    """
    found = {name: _column(known, rows) for name, known in told.items()}
    if len(key) == 1:
        values = Figure(rows.value, "declared")
        of_key = found.get(key[0], ColumnFacts())
        found[key[0]] = replace(of_key, distinct=values, nulls=Figure(0.0, "declared"))
    return found


def _column(known: ColumnStatistics, rows: Figure) -> ColumnFacts:
    unknown = ColumnFacts()
    distinct = None if known.distinct is None else min(known.distinct, rows.value)
    # Files that came before a column was added say nothing of it.
    is_known = known.nulls is not None and known.rows and 2 * known.rows >= rows.value
    return ColumnFacts(
        None if distinct is None else Figure(distinct, "observed"),
        known.low,
        known.high,
        Figure((known.nulls or 0) / known.rows, "observed") if is_known else unknown.nulls,
    )
