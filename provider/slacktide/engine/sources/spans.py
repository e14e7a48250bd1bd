"""Where the keys of one arrival lie: by that a plan knows how much of a large table they reach.

New rows of growing keys lie close together, updates of old ones anywhere; a run after the first reads a hundredth of
what it meets, and after the others all of it. The ranges are those by which a run bounds its scans (`spark/tables/ranges.py`).
A small file is at hand when it is accepted, and its keys are looked at; of a larger one the footer's range counts.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from slacktide.algebra.types import is_integral
from slacktide.common.ranges import MOST_KEYS
from slacktide.engine.sources.footer import Footer
from slacktide.optimizer.statistics.constants import FIRST_DAY
from slacktide.store.record import ColumnStatistics, KeySpans

MOST_COLUMNS: Final = 6
"""Columns of a source that are looked at: its keys first, then whole numbers and dates, in their order."""
_logger = logging.getLogger(__name__)
MOST_ROWS: Final = 1_000_000
"""Rows of a file of which keys are looked at; more of them lie anywhere, as a rule."""


def key_columns(
    arguments: Mapping[str, Any], schema: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Choose the columns of a source by which changes are likely to be met.

    Args:
        arguments: of the source.
        schema: its columns.
    """
    types = {column["name"]: column["type"] for column in schema}
    referring = arguments.get("references") or ()
    wanted = dict.fromkeys((*(arguments.get("key") or ()), *referring, *types))
    ordered = [name for name in wanted if name in types]
    return tuple(n for n in ordered if is_integral(types[n]) or types[n] == "DATE")[:MOST_COLUMNS]


def spans_of(
    footer: Footer,
    names: Sequence[str],
    statistics: Mapping[str, ColumnStatistics],
    *,
    is_at_hand: bool,
) -> dict[str, KeySpans]:
    """Say where the values of some columns of a file lie; nothing of a column of which nobody knows.

    Args:
        footer: of the file.
        names: of the columns.
        statistics: what the footer tells of them.
        is_at_hand: whether the file's bytes have been read already.
    """
    there = {column.name for column in footer.columns}
    present = [name for name in names if name in there]
    if is_at_hand and footer.rows <= MOST_ROWS:
        looked = ((name, _looked_at(footer, name)) for name in present)
        return {name: found for name, found in looked if found is not None}
    known = ((name, statistics[name]) for name in present if name in statistics)
    return {
        name: KeySpans(None, (one.low, one.high))
        for name, one in known
        if one.low is not None and one.high is not None
    }


def _looked_at(footer: Footer, name: str) -> KeySpans | None:
    """Cut the keys of a column into ranges; None where it cannot be made sense of: nothing is refused here."""
    try:
        return _cut(footer, name)
    except Exception:
        _logger.debug("column %s tells nothing of where it lies", name, exc_info=True)
        return None


def _cut(footer: Footer, name: str) -> KeySpans | None:
    import pyarrow as pa
    from pyarrow import compute

    from slacktide.spark.tables.ranges import cut

    # A struct may have a field of the name that a dotted column has.
    batches = [batch for batch in footer.batches([name]) if batch.schema.names == [name]]
    keys = pa.chunked_array([batch.column(0) for batch in batches] or [pa.array([], pa.int64())])
    first = 0
    if keys.type == pa.date32():
        keys, first = keys.cast(pa.int32()), FIRST_DAY
    if not pa.types.is_integer(keys.type) or len(keys) != footer.rows:
        return None
    values = keys.unique().drop_null()
    if len(values) > MOST_KEYS:
        ends = compute.min_max(values).as_py()
        bounds: Sequence[tuple[int, int]] = [(ends["min"], ends["max"])]
    else:
        bounds = cut(pa.chunked_array([values])).bounds
    return KeySpans(
        len(values), tuple(float(bound + first) for bound in chain.from_iterable(bounds))
    )
