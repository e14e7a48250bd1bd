"""When the current rows of a change feed are written anew, and how.

Its snapshot is the sum of its history. A mirror holds that sum as of one version, as a base, and
what came to it as segments, so that a reader adds only what came since. The base is written when a
plan first needs a snapshot, and again when what came since is a fifth of it. Until then landed files
become a segment when reading them one by one has cost more than that does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.algebra.relation import Scan
from slacktide.algebra.scalar import Column
from slacktide.common.chain_ids import mirror_id
from slacktide.program import operator as o
from slacktide.program.bounding import has_ranges
from slacktide.program.operator import Program

LARGEST_BACKLOG = 0.2


def is_due(mirrored_rows: int | None, rows_since: int) -> bool:
    """Whether a mirror should be written.

    Args:
        mirrored_rows: rows of the mirror that exists; None for no mirror.
        rows_since: changes that came after it.
    """
    return mirrored_rows is None or rows_since > LARGEST_BACKLOG * mirrored_rows


def mirror_program(
    source: str, schema: Sequence[Mapping[str, Any]], key: Sequence[str] = ()
) -> Program:
    """Give the program that writes the current rows of a source as the new base of its mirror.

    Args:
        source: its name.
        schema: its columns.
        key: names of the columns by which rows are found, and so sorted; the first one without any.
    """
    columns = _columns(schema)
    rows = o.Evaluate(
        Scan("input0", o.by_id(columns)),
        (o.Input("input0", o.ReadSnapshot(source, columns, "after")),),
    )
    return Program((o.Save(mirror_id(source), rows, is_base=True, order=_order(columns, key)),))


def segment_step(
    source: str, schema: Sequence[Mapping[str, Any]], key: Sequence[str] = ()
) -> o.Save:
    """Give the one step that writes what has come to a source as a segment of its mirror."""
    columns = _columns(schema)
    rows = o.Consolidate(o.ReadChanges(source, columns))
    order = _order(columns, key)
    return o.Save(mirror_id(source), rows, is_base=False, order=order)


def leading_column(schema: Sequence[Mapping[str, Any]], key: Sequence[str]) -> str:
    """The column by which a mirror is sorted; empty where no ranges are read of its type.

    Args:
        schema: its columns.
        key: as of `mirror_program`.
    """
    columns = _columns(schema)
    leading = _order(columns, key)
    return next((c.name for c in columns if c.id in leading and has_ranges(c.type)), "")


def _columns(schema: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    return tuple(
        Column(i, field["name"], field["type"], bool(field["nullable"]))
        for i, field in enumerate(schema)
    )


def _order(columns: Sequence[Column], key: Sequence[str]) -> tuple[int, ...]:
    return tuple(c.id for name in key for c in columns if c.name == name)[:1] or (0,)
