"""What the log teaches the planner: how large things are, and what past runs have cost.

Nothing is read besides the world: sizes of sources stand in their arrivals, those of states and answers
in their segments, costs in the reports of the newest runs, which the world keeps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from slacktide.algebra.view import ReadView
from slacktide.algebra.widths import row_width
from slacktide.common.chain_ids import answer_id, is_changes, mirror_id
from slacktide.engine.planning.lessons import has_stumbled, has_turned_back, past_run, sample_of
from slacktide.engine.planning.sizes import (
    changed_rows,
    column_facts,
    covered_by,
    deleted_rows,
    extension_of,
    stored_facts,
)
from slacktide.engine.planning.user_rules import user_rules
from slacktide.optimizer.costs import DEFAULTS, Coefficients, Evidence, Fit, fit
from slacktide.optimizer.costs.evidence import USUAL
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.mirror import leading_column
from slacktide.optimizer.programs.join_bags import present
from slacktide.optimizer.programs.normal import normal
from slacktide.optimizer.rule_parts.states import bag_chain, chain_of
from slacktide.optimizer.statistics import (
    ChangeFacts,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
    with_columns,
)
from slacktide.optimizer.statistics.spans import reached
from slacktide.optimizer.ways.others import Others
from slacktide.store.record import ViewRecord
from slacktide.store.world import World

MOST_SAMPLES = 500
TEXT_WIDTH = 8.0
"""Bytes that a value takes in a file of text: a guess, where nobody has counted rows."""


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
        samples = (sample_of(view) for view in told if not has_turned_back(view))
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
            past_run(number, views.get(record.name))
            for number, views in self.told
            if number >= since
        ]
        runs = [one for one in past if one is not None]
        return replace(now, runs=runs)

    def stumbles(self, record: ViewRecord | None) -> bool:
        """Whether one of the newest programs of a view failed where the author's text did not."""
        if record is None:
            return False
        views = (views.get(record.name) for _, views in reversed(self.told))
        newest = islice((told for told in views if told), USUAL)
        return any(has_stumbled(told) for told in newest)

    @cached_property
    def rules(self) -> tuple[MemoRule, ...]:
        """The rules of users that are installed where it is planned."""
        return user_rules()

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

    def rows(self, view: ReadView, end: Mapping[str, int]) -> int:
        """The rows of all sources of a view; of files that nobody counts, what their bytes tell."""
        return round(sum(self._rows(name, end[name]).value for name in view.sources))

    def rows_changed(self, view: ReadView, start: Mapping[str, int], end: Mapping[str, int]) -> int:
        """The rows of the changes of all sources of a view; of files that nobody counts, what their bytes tell."""
        changes = (self._changed(name, start.get(name, 0), end[name]) for name in view.sources)
        return round(sum(change.value for change in changes))

    def statistics(
        self,
        view: ReadView,
        start: Mapping[str, int],
        end: Mapping[str, int],
        record: ViewRecord | None = None,
    ) -> Statistics:
        """What is known of all that a run of a view may read; of an answer that is there, how many rows it has."""
        known = {name: self._source(name, start.get(name, 0), end[name]) for name in view.sources}
        found = Statistics(known, self._chains, dict(self._observed(view, record, end)))
        if view.relation is None:
            return found
        found = replace(found, sources=reached(view.relation, known))
        return with_columns(found, view.relation)

    @cached_property
    def _chains(self) -> Mapping[str, StoredFacts]:
        return {
            name: replace(stored_facts(chain), extension=extension_of(chain, self.world))
            for name, chain in self.world.chains.items()
            if not is_changes(name)
        }

    def _rows(self, name: str, end: int) -> Figure:
        source = self.world.sources[name]
        rows = source.rows_at(end)
        if rows is not None:
            return Figure(float(rows), "observed")
        size = source.totals(0, end).bytes
        return Figure(max(size / (TEXT_WIDTH * max(len(source.schema), 1)), 1.0))

    def _changed(self, name: str, start: int, end: int) -> Figure:
        source = self.world.sources[name]
        there, changes = source.totals(0, end), source.totals(start, end)
        return changed_rows(changes.rows, changes.bytes, there.bytes, self._rows(name, end))

    def _source(self, name: str, start: int, end: int) -> SourceFacts:
        source = self.world.sources[name]
        there, changes = source.totals(0, end), source.totals(start, end)
        held = self._chains.get(mirror_id(name))
        counted, changed = self._rows(name, end), self._changed(name, start, end)
        return SourceFacts(
            rows=counted,
            bytes=float(there.bytes) if held is None else held.bytes,
            files=end if held is None else held.files,
            width=row_width([str(column["type"]) for column in source.schema]),
            changes=(
                ChangeFacts(
                    rows=changed,
                    bytes=float(changes.bytes),
                    deleted=deleted_rows(source, changes.deletes, changed),
                    covered=covered_by(source, start, end),
                    files=float(max(end - start, 1)),
                ),
            ),
            columns=column_facts(source.statistics, source.key, counted),
            sorted_by="" if held is None else leading_column(source.schema, source.key),
            key=source.key,
        )

    def _observed(
        self, view: ReadView, record: ViewRecord | None, end: Mapping[str, int]
    ) -> Iterator[tuple[bytes, float]]:
        """Rows of a view and its parts that the log counts, as they are stored as answer and states."""
        root = None if view.relation is None else normal(view.relation)
        for rel in () if root is None else relations(root):
            if not isinstance(rel, r.Aggregate | r.Window | r.Limit | r.Join):
                continue
            names = [bag_chain(rel, view.conf)]
            names += [chain_of(rel, view.conf)] if isinstance(rel, r.Aggregate) else []
            for name in names:
                if name in self._chains:
                    yield rel.digest, self._stored_rows(name)
        if root is not None and record is not None and self._is_about_as_large(view, record, end):
            rows = self._stored_rows(answer_id(record.name))
            yield root.digest, rows
            while isinstance(root, r.Project | r.Sort):  # which have the rows of what they stand on
                root = root.child
                yield root.digest, rows

    def _is_about_as_large(
        self, view: ReadView, record: ViewRecord, end: Mapping[str, int]
    ) -> bool:
        """Whether a view has an answer, and its sources a half to twice the rows that they had then: else that tells little."""
        if record.versions is None or answer_id(record.name) not in self._chains:
            return False
        now, then = self.rows(view, end), self.rows(view, record.versions)
        return now <= 2 * then and then <= 2 * now

    def _stored_rows(self, chain: str) -> float:
        """Rows of a chain: those of the base, where it has most of them, as what came since has a row for each that it touched."""
        base, rows = self.world.chains[chain].base, self._chains[chain].rows
        first = 0.0 if base is None else float(base.rows)
        return first if 2 * first >= rows else rows


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


def _versions(world: World, chain: str) -> Mapping[str, int] | None:
    return world.chains[chain].versions if chain in world.chains else None
