"""Tables over pinned files: what the leaf operators of one task read.

Files are named by the log, never listed. A source's table has the source's columns and ``__m``; a
chain's table has columns ``c0``, ``c1``, … by position, and ``__m`` where it is a bag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from slacktide.algebra.relation import Columns
from slacktide.algebra.sql import quoted
from slacktide.common.chain_ids import mirror_id
from slacktide.common.tree import of_type
from slacktide.program.chains import chains_read
from slacktide.program.operator import (
    Moment,
    Operator,
    ReadChanges,
    ReadSaved,
    ReadSegments,
    ReadSnapshot,
)
from slacktide.spark.sessions.shelf import Shelf
from slacktide.spark.tables import landed
from slacktide.spark.tables.mirrors import Mirrored, mirror_chains, mirrored, signed_rows_sql
from slacktide.spark.tables.pieces import Pieces
from slacktide.spark.texts.bags import current_rows_sql, rows_sql
from slacktide.store.arrivals import Totals
from slacktide.store.naming import newest_extension, segments
from slacktide.store.record import Segment

if TYPE_CHECKING:
    from slacktide.store.record import Source
    from slacktide.store.store import Store
    from slacktide.store.world import World

MOST_GUESSED = 1_000_000  # changes
MANY_GONE = 0.2
"""Deletes, as a share of a mirror's rows, from which on all of these are grouped, and not only those looked up that may have gone: of
6.0 million lines of which half were updated that took 114 s in place of 189 (measured once, beside other work)."""


@dataclass(frozen=True, slots=True)
class _Landed:
    """Some arrivals of a source, one after the other."""

    arrivals: int
    totals: Totals


class Tables:
    """The tables of one task in one session.

    Args:
        shelf: where the tables are made, and those of other tasks of the run are found.
        store: gives addresses of files in the workspace.
        world: the log as it was when the run started.
        start: versions at the start of the view's run, empty where it has no answer.
        end: versions at its end.
        saved: what the run has written so far, by chain.
        appended: segments that it has added to mirrors, by chain.
    """

    def __init__(
        self,
        shelf: Shelf,
        store: Store,
        world: World,
        *,
        start: Mapping[str, int],
        end: Mapping[str, int],
        saved: Mapping[str, Segment],
        appended: Mapping[str, Segment] = MappingProxyType({}),
    ) -> None:
        self._shelf = shelf
        self._store = store
        self._pieces = Pieces(shelf, store)
        self._world = world
        self._start = start
        self._end = end
        self._saved = saved
        self._appended = appended

    def on(self, shelf: Shelf) -> Tables:
        """The same tables in another session."""
        return Tables(
            shelf,
            self._store,
            self._world,
            start=self._start,
            end=self._end,
            saved=self._saved,
            appended=self._appended,
        )

    def changes(self, source: str) -> str:
        """A table with the source's columns and ``__m``: its changes in this run."""
        return self._landed(source, self._start.get(source, 0), self._end[source])

    def snapshot(self, source: str, moment: Moment) -> str:
        """A table with the source's columns and ``__m``: the source as of a moment."""
        version = self._version(source, moment)
        return self._shelf.once(
            ("snapshot", source, version), lambda: self._bag_at(source, version)
        )

    def _bag_at(self, source: str, version: int) -> str:
        mirror = self._mirror(source, version)
        since = self._since(source, mirror, version)
        if mirror.base is None:
            return since
        names = ", ".join(quoted(c["name"]) for c in self._source(source).schema)
        base = self._base(source, mirror.base)
        return self._shelf.define(
            f"SELECT {names}, 1L AS __m FROM {base} UNION ALL SELECT {names}, __m FROM {since}"
        )

    def rows(self, source: str, moment: Moment) -> str:
        """A table with the source's columns alone: its rows as of a moment."""
        version = self._version(source, moment)
        return self._shelf.once(("rows", source, version), lambda: self._rows_at(source, version))

    def _rows_at(self, source: str, version: int) -> str:
        record = self._source(source)
        mirror = self._mirror(source, version)
        typed = [(quoted(c["name"]), c["type"]) for c in record.schema]
        deletes = record.totals(mirror.since, version).deletes
        if deletes == 0:
            names = ", ".join(column for column, _ in typed)
            return self._shelf.define(f"SELECT {names} FROM {self._bag_at(source, version)}")
        what = f"source {source}"
        if mirror.base is None or (deletes or 0) >= MANY_GONE * mirror.base.rows:
            return self._shelf.define(rows_sql(self._bag_at(source, version), typed, what=what))
        base, since = self._base(source, mirror.base), self._since(source, mirror, version)
        key = [quoted(name) for name in record.key]
        return self._shelf.define(current_rows_sql(base, since, typed, key, what=what))

    def _since(self, source: str, mirror: Mirrored, version: int) -> str:
        """What leads from the base of a mirror to a version: its segments, then landed files."""
        arrived = self._landed(source, mirror.version, version)
        if not mirror.segments:
            return arrived
        schema = self._source(source).schema
        names = [column["name"] for column in schema]
        fields = [*_by_position(schema), ("__m", "BIGINT")]
        table = self._pieces.read(mirror_id(source), fields, mirror.segments)
        rest = f"SELECT {', '.join(map(quoted, names))}, __m FROM {arrived}"
        return self._shelf.define(f"{signed_rows_sql(table, names)} UNION ALL {rest}")

    def rows_changed(self) -> int | None:
        """The rows of all changes in this run; None where they are not known."""
        return self._world.rows_changed(self._start, self._end)

    def rows_expected(self, chain: str) -> int | None:
        """How many rows this run adds to a chain if changes lead to as many as in the run before.

        None where the changes are not known. A row for each change is expected where nothing was
        written before, and of so many that a wrong guess, which computes them twice, is dear.
        """
        changed = self.rows_changed()
        newest, growth = self._run_before(chain, changed)
        if changed is None or newest is None or not newest.rows:
            return changed
        return min(changed, int(newest.rows * growth))

    def read_expected(self, operator: Operator, planned: int | None) -> tuple[int | None, int]:
        """How many rows an operator reads, and the bytes in which these are: at most what there is.

        Args:
            operator: extends a chain.
            planned: rows that the plan expects it to read; None where it does not know.
        """
        most, size = self.most_read(operator)
        if not most or planned is None:
            return most, size
        expected = min(most, planned)
        return expected, size * expected // most

    def _run_before(self, chain: str, changed: int | None) -> tuple[Segment | None, float]:
        """What the run before added to a chain, and how many changes there are now for one then.

        None where there was none, and where a guess from it would be too bold.
        """
        record = self._world.chains.get(chain)
        found = None if record is None else newest_extension(record, self._world)
        if found is None or not changed or changed > MOST_GUESSED:
            return None, 1.0
        newest, then = found
        return newest, changed / then

    def fewest_read(self, operator: Operator) -> int:
        """How many rows of sources and of what is stored an operator reads, as far as known."""
        return sum(read.rows or 0 for read in self._reads(operator))

    def most_read(self, operator: Operator) -> tuple[int | None, int]:
        """How many rows it reads, None where that is not known, and the bytes of their files."""
        total = Totals()
        for read in self._reads(operator):
            total = total.plus(read)
        return total.rows, total.bytes

    def files_read(self, operator: Operator) -> int:
        """How many files it opens, where each arrival has one."""
        return sum(
            len(one.files) if isinstance(one, Segment) else one.arrivals
            for one in self._parts(operator)
        )

    def _reads(self, operator: Operator) -> Iterator[Totals]:
        """What is in each table that an operator reads."""
        for one in self._parts(operator):
            yield _total([one]) if isinstance(one, Segment) else one.totals

    def _parts(self, operator: Operator) -> Iterator[Segment | _Landed]:
        """The pieces, and the windows of landed arrivals, that an operator reads."""
        for changes in of_type(operator, ReadChanges):
            since = self._start.get(changes.source, 0)
            yield self._window(changes.source, since, self._end[changes.source])
        for read in of_type(operator, ReadSnapshot):
            version = self._version(read.source, read.moment)
            mirror = self._mirror(read.source, version)
            yield self._window(read.source, mirror.version, version)
            yield from mirror.segments if mirror.base is None else (mirror.base, *mirror.segments)
        for chain in chains_read(operator):
            yield from self._segments(chain)
        for some in of_type(operator, ReadSegments):
            yield from self._segments(some.chain)[some.first :]
        for saved in of_type(operator, ReadSaved):
            yield self._saved[saved.chain]

    def _window(self, source: str, after: int, until: int) -> _Landed:
        until = max(after, until)
        return _Landed(until - after, self._source(source).totals(after, until))

    def stored(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """A table of a chain as it was at the start of the run."""
        return self._pieces.table(chain, self._segments(chain), columns, is_bag=is_bag)

    def pieces(self, chain: str, columns: Columns, first: int, *, is_bag: bool) -> str:
        """A table of the base and segments of a chain from one on, as at the start of the run."""
        return self._pieces.table(chain, self._segments(chain)[first:], columns, is_bag=is_bag)

    def rows_of(self, chain: str, first: int) -> int:
        """The rows of these pieces."""
        return sum(segment.rows for segment in self._segments(chain)[first:])

    def _segments(self, chain: str) -> list[Segment]:
        record = self._world.chains.get(chain)
        return [] if record is None else list(segments(record))

    def saved(self, chain: str, columns: Columns, *, is_bag: bool) -> str:
        """A table of what this run wrote to a chain."""
        return self._pieces.table(chain, [self._saved[chain]], columns, is_bag=is_bag)

    def _source(self, name: str) -> Source:
        return self._world.sources[name]

    def _version(self, source: str, moment: Moment) -> int:
        return self._end[source] if moment == "after" else self._start.get(source, 0)

    def _mirror(self, source: str, version: int) -> Mirrored:
        """The newest mirror that is not past a version, as far as it tells of it."""
        chains = mirror_chains(self._world, source, self._saved, self._appended)
        return mirrored(chains, source, version)

    def _base(self, source: str, base: Segment) -> str:
        key = ("mirror", source, base.versions[source])
        return self._shelf.once(key, lambda: self._mirror_table(source, base))

    def _mirror_table(self, source: str, base: Segment) -> str:
        schema = self._source(source).schema
        table = self._pieces.read(mirror_id(source), _by_position(schema), [base])
        names = ", ".join(f"c{i} AS {quoted(c['name'])}" for i, c in enumerate(schema))
        return self._shelf.define(f"SELECT {names} FROM {table}")

    def _landed(self, source: str, after: int, until: int) -> str:
        key = ("landed", source, after, until)
        return self._shelf.once(key, lambda: self._landed_table(source, after, until))

    def _landed_table(self, source: str, after: int, until: int) -> str:
        record = self._source(source)
        columns = [(quoted(c["name"]), c["type"]) for c in record.schema]
        sql = landed.changes_sql(self._shelf, record, after, until)
        return (
            self._shelf.nothing([*columns, ("__m", "BIGINT")])
            if sql is None
            else self._shelf.define(sql)
        )


def _total(pieces: Sequence[Segment]) -> Totals:
    return Totals(rows=sum(p.rows for p in pieces), bytes=sum(p.bytes for p in pieces))


def _by_position(schema: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(f"c{i}", column["type"]) for i, column in enumerate(schema)]
