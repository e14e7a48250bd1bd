"""What the log teaches the planner: how large things are, and what past runs have cost.

Nothing is read besides the world: sizes of sources stand in their arrivals, those of states and answers
in their segments, costs in the reports of the newest runs, which the world keeps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from math import isfinite
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.algebra.view import ReadView
from slacktide.algebra.widths import row_width
from slacktide.common.chain_ids import mirror_id
from slacktide.common.ranges import covered
from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import (
    DEFAULTS,
    Coefficients,
    Evidence,
    Fit,
    PastRun,
    Sample,
    Vector,
    fit,
)
from slacktide.optimizer.costs.evidence import USUAL
from slacktide.optimizer.costs.vector import KINDS
from slacktide.optimizer.join_bags import present
from slacktide.optimizer.normal import normal
from slacktide.optimizer.others import Others
from slacktide.optimizer.states import bag_chain, chain_of
from slacktide.optimizer.statistics import (
    ChangeFacts,
    ColumnFacts,
    Extension,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
    with_columns,
)
from slacktide.optimizer.statistics.spans import reached
from slacktide.store.naming import newest_extension, segments
from slacktide.store.record import MOST_SPANS, Chain, ColumnStatistics, Source, ViewRecord
from slacktide.store.world import World

MOST_SAMPLES = 500
LARGEST_FIGURE = 1e15
"""Seconds, rows or bytes above which a figure is none that a run measured."""
LARGEST_EXPECTED = 1e30
"""And none that was expected of one."""
TEXT_WIDTH = 8.0
"""Bytes that a value takes in a file of text: a guess, where nobody has counted rows."""
_STUMBLED = ("CHANGE_FAILS", "PROGRAM_REFUSED")
"""Why a run took the author's text in place of a program that failed."""


class Knowledge:
    """What one world teaches; each part is worked out when it is asked for.

    Args:
        world: the log as it is.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    @cached_property
    def fitted(self) -> Fit:
        """The coefficients that the newest runs show, and how well they tell of these."""
        told = (view for _, views in reversed(self.told) for view in views.values())
        # What was cancelled has taken CPU of which the work is not told.
        samples = (_sample(view) for view in told if not _has_turned_back(view))
        return fit([*islice(filter(None, samples), MOST_SAMPLES)], self.calibrated)

    @property
    def calibrated(self) -> Coefficients:
        """The prices that were measured for their own sake; the defaults where nobody has."""
        told = self.world.calibration
        return Coefficients.from_dict(told["coefficients"]) if told else DEFAULTS

    @property
    def coefficients(self) -> Coefficients:
        """The prices that hold now."""
        return self.fitted.coefficients

    def evidence(
        self,
        record: ViewRecord | None,
        rows: int | None,
        changed: int | None = None,
        *,
        merges: bool = True,
        unmerged: int | None = None,
    ) -> Evidence:
        """The past runs of a view under its present text, and what of its sources holds now; see `Evidence`."""
        now = Evidence((), self.coefficients, rows, changed, merges, unmerged)
        if record is None or record.since is None:
            return now
        since = record.since
        past = [
            _past(number, views.get(record.name)) for number, views in self.told if number >= since
        ]
        runs = [one for one in past if one is not None]
        return replace(now, runs=runs)

    def stumbles(self, record: ViewRecord | None) -> bool:
        """Whether one of the newest programs of a view failed where the author's text did not."""
        if record is None:
            return False
        views = (views.get(record.name) for _, views in reversed(self.told))
        newest = islice((told for told in views if told), USUAL)
        return any(_has_stumbled(told) for told in newest)

    @cached_property
    def told(self) -> list[tuple[int, Mapping[str, Any]]]:
        """What the reports that are kept say of views, the oldest first."""
        runs = sorted(self.world.runs.items())
        return [(number, run.report.get("views") or {}) for number, run in runs if run.report]

    def is_shared(self, record: ViewRecord) -> bool:
        """Whether a state that a view keeps is kept by another one, too."""
        return any(self.others(record.name).need(state) for state in record.states)

    def others(self, name: str) -> Others:
        """What views besides one keep."""
        return Others(name, self._needing, self._holding)

    @cached_property
    def _needing(self) -> Mapping[str, set[str]]:
        return _by_chain((view.name, view.states) for view in self.world.views.values())

    @cached_property
    def _holding(self) -> Mapping[str, set[str]]:
        views = self.world.views.values()
        return _by_chain((view.name, current(self.world, view)) for view in views)

    def rows(self, view: ReadView, end: Mapping[str, int]) -> int | None:
        """The rows of all sources of a view; None where those of one are not known."""
        return _all_counted(self.world.sources[name].rows_at(end[name]) for name in view.sources)

    def rows_changed(
        self, view: ReadView, start: Mapping[str, int], end: Mapping[str, int]
    ) -> int | None:
        """The rows of the changes of all sources of a view; None where those of one are not known."""
        return self.world.rows_changed(start, {name: end[name] for name in view.sources})

    def statistics(
        self, view: ReadView, start: Mapping[str, int], end: Mapping[str, int]
    ) -> Statistics:
        """What is known of all that a run of a view may read."""
        known = {name: self._source(name, start.get(name, 0), end[name]) for name in view.sources}
        found = Statistics(known, self._chains, dict(self._observed(view)))
        if view.relation is None:
            return found
        found = replace(found, sources=reached(view.relation, known))
        return with_columns(found, view.relation)

    @cached_property
    def _chains(self) -> Mapping[str, StoredFacts]:
        return {
            name: replace(stored_facts(chain), extension=extension_of(chain, self.world))
            for name, chain in self.world.chains.items()
        }

    def _source(self, name: str, start: int, end: int) -> SourceFacts:
        source = self.world.sources[name]
        there, changes = source.arrivals.totals(0, end), source.arrivals.totals(start, end)
        rows = source.rows_at(end)
        held = self._chains.get(mirror_id(name))
        guessed = Figure(max(there.bytes / (TEXT_WIDTH * max(len(source.schema), 1)), 1.0))
        counted = guessed if rows is None else Figure(float(rows), "observed")
        return SourceFacts(
            rows=counted,
            bytes=float(there.bytes) if held is None else held.bytes,
            files=end if held is None else held.files,
            width=row_width([str(column["type"]) for column in source.schema]),
            changes=(
                ChangeFacts(
                    rows=changed_rows(changes.rows, changes.bytes, there.bytes, counted),
                    bytes=float(changes.bytes),
                    deleted=Figure(float(changes.deletes or 0), "observed"),
                    covered=covered_by(source, start, end),
                ),
            ),
            columns=column_facts(source.statistics, source.arguments.get("key") or (), counted),
        )

    def _observed(self, view: ReadView) -> Iterator[tuple[bytes, float]]:
        """Rows of parts of a view that the log counts, as they are stored as states."""
        root = None if view.relation is None else normal(view.relation)
        for rel in () if root is None else relations(root):
            if not isinstance(rel, r.Aggregate | r.Window | r.Limit | r.Join):
                continue
            names = [bag_chain(rel, view.conf)]
            names += [chain_of(rel, view.conf)] if isinstance(rel, r.Aggregate) else []
            for name in names:
                if name in self._chains:
                    yield rel.digest, self._chains[name].rows


def _all_counted(counts: Iterable[int | None]) -> int | None:
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
        keys = _all_counted(one.count for one in of)
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


def _sample(told: Any) -> Sample | None:
    """The work of a view and what it took; None where a report does not say both in figures."""
    try:
        actual = told["actual"]
        found = Sample(Vector.of_report(actual), float(actual["cpu_seconds"]))
        is_whole = bool(actual["jobs"]) and _is_sound(found.work, found.seconds)
        # Earlier builds did not count all kinds of work, and expected none of these: neither tells of prices of today.
        is_whole = is_whole and "rows_grouped" in actual
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    return found if is_whole else None


def _has_turned_back(told: Any) -> bool:
    return isinstance(told, Mapping) and bool(told.get("switched"))


def _has_stumbled(told: Any) -> bool:
    reasons = told.get("reasons") if isinstance(told, Mapping) else None
    listed = reasons if isinstance(reasons, list | tuple) else ()
    return any(Reason.parse(str(one)).code in _STUMBLED for one in listed)


def _sound_count(told: Any) -> int | None:
    return told if isinstance(told, int) and 0 <= told <= LARGEST_FIGURE else None


def _is_sound(work: Vector, *figures: float, most: float = LARGEST_FIGURE) -> bool:
    counts = (getattr(work, kind) for kind in KINDS)
    return all(isfinite(one) and 0 <= one <= most for one in (*counts, *figures))


def _by_chain(kept: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, chains in kept:
        for chain in chains:
            found[chain].add(name)
    return found


def current(world: World, record: ViewRecord) -> tuple[str, ...]:
    """The chains that a view keeps and that are as of its answer; what was left behind is not."""
    chains = (*record.states, *record.remembers)
    there = {chain: at for chain in chains if (at := _versions(world, chain)) is not None}
    return present(chains, record.versions or {}, there)


def current_joins(world: World, record: ViewRecord) -> tuple[str, ...]:
    """The joins that a view remembers and that are as of its answer."""
    needed = {*record.states}
    return tuple(chain for chain in current(world, record) if chain not in needed)


def _failed_joins(reasons: Iterable[str]) -> Iterator[str]:
    parsed = map(Reason.parse, reasons)
    return (reason.detail for reason in parsed if reason.code == "JOIN_FAILS")


def _versions(world: World, chain: str) -> Mapping[str, int] | None:
    return world.chains[chain].versions if chain in world.chains else None


def _past(run: int, told: Any) -> PastRun | None:
    """A run of a view; None where its report does not say what was expected, and what it took."""
    taken = _sample(told)
    if taken is None:
        return None
    try:
        predicted = told["predicted"]
        found = PastRun(
            run=run,
            way=predicted["way"],
            program=predicted["program"],
            expected=Vector.of_report(predicted),
            measured=taken.work,
            in_tasks=taken.seconds,
            prices={one["way"]: float(one["price"]) for one in predicted.get("alternatives", ())},
            rows=_sound_count(told.get("rows")),
            changed=_sound_count(predicted.get("changed_rows")),
            # The first run reads rows as they have landed.
            merges=bool(predicted.get("merges", "FIRST_RUN" not in told.get("reasons", ()))),
            unmerged=_sound_count(predicted.get("unmerged_rows")),
            switches="remembering" in predicted,
            turned_back=_has_turned_back(told),
            is_first="FIRST_RUN" in told.get("reasons", ()),
            failed_joins=tuple(_failed_joins(told.get("reasons", ()))),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    # Of joins without keys more may be expected than any run measures, which is no reason to learn nothing of it.
    return (
        found if _is_sound(found.expected, *found.prices.values(), most=LARGEST_EXPECTED) else None
    )
