"""What the updates of the workspace as a whole do: its settings, functions, foreign keys and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.fold.draft import Draft, Steps, free, known
from slacktide.store.record import Json, RunRecord

KEPT_REPORTS: Final = 200
"""Reports of the newest runs; older ones are kept where they alone tell what a view takes in some way."""
MOST_OLDER_REPORTS: Final = 800
"""As many older reports are kept, the newest of them: the world of many views that run one by one stays small."""


def _create(draft: Draft, _: int, update: u.CreateWorkspace) -> None:
    draft.settings = dict(update.settings)


def _add_function(draft: Draft, _: int, update: u.AddFunction) -> None:
    name = update.function.name
    free("function", name, draft.seen().function(name))
    draft.functions[name] = update.function


def _drop_function(draft: Draft, _: int, update: u.DropFunction) -> None:
    known(draft.functions, "function", update.name)
    del draft.functions[update.name]


def _note_foreign_keys(draft: Draft, number: int, update: u.NoteForeignKeys) -> None:
    for foreign_key in update.foreign_keys:
        for source in (foreign_key.source, foreign_key.target):
            known(draft.sources, "source", source)
        draft.foreign_keys[foreign_key.name] = replace(foreign_key, token=number)


def _note_calibration(draft: Draft, _: int, update: u.NoteCalibration) -> None:
    draft.calibration = dict(update.measured)


def _note_engine(draft: Draft, _: int, update: u.NoteEngine) -> None:
    draft.engine = update.engine


def _record_run(draft: Draft, number: int, update: u.RecordRun) -> None:
    if update.run in draft.runs or update.plan_id in draft.plans:
        raise InvariantError(f"run {update.run} or plan {update.plan_id} is recorded already")
    draft.runs[update.run] = RunRecord(update.run, update.plan_id, update.report, number)
    draft.plans[update.plan_id] = update.run
    if update.report:
        draft.full_reports.append(update.run)
    if len(draft.full_reports) > KEPT_REPORTS:
        _let_go(draft)


def _let_go(draft: Draft) -> None:
    """Empty the older reports but for the newest of each way of each view: what full took once bounds what others may take.

    What stays is told by the runs and views alone, so that it is the same from whichever checkpoint a log is read.
    """
    kept: list[int] = []
    seen: set[tuple[str, str]] = set()
    for run in reversed(draft.full_reports[:-KEPT_REPORTS]):
        ways = {*_ways(draft, draft.runs[run].report)} - seen
        seen |= ways
        if ways and len(kept) < MOST_OLDER_REPORTS:
            kept.append(run)
        else:
            draft.runs[run] = replace(draft.runs[run], report={})
    draft.full_reports[:-KEPT_REPORTS] = reversed(kept)


def _ways(draft: Draft, report: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """The views of now that a run worked for, each with the way that it took; a report may be of another build."""
    views = report.get("views")
    for name, told in views.items() if isinstance(views, Mapping) else ():
        predicted = told.get("predicted") if isinstance(told, Mapping) else None
        way = predicted.get("way") if isinstance(predicted, Mapping) else None
        if name in draft.views and isinstance(way, str):
            yield name, way


def _collect(draft: Draft, number: int, update: u.Collect) -> None:
    if update.point >= number:
        raise InvariantError(f"entry {number} moves the collection point to {update.point}")
    draft.collected = max(draft.collected, update.point)


STEPS: Final[Steps] = {
    u.CreateWorkspace: _create,
    u.AddFunction: _add_function,
    u.DropFunction: _drop_function,
    u.NoteForeignKeys: _note_foreign_keys,
    u.NoteCalibration: _note_calibration,
    u.NoteEngine: _note_engine,
    u.RecordRun: _record_run,
    u.Collect: _collect,
}
