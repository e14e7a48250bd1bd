"""What a workspace knows of its sources and views, for people and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import is_answer, is_mirror, is_state, mirror_id
from slacktide.engine.definitions.drafts import check_known
from slacktide.engine.definitions.goal_setting import weights_of
from slacktide.engine.intake.accepting import Waiting
from slacktide.engine.planning.foreign_keys import Declared, declared
from slacktide.engine.planning.knowledge import Knowledge
from slacktide.engine.reports import History, Report, ViewReport, was_at_work
from slacktide.engine.sources import wide_ddl
from slacktide.engine.telling.hindsight import expected_error
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.costs.coefficients import tells_of_tasks
from slacktide.optimizer.programs.upkeep import verdict
from slacktide.store.naming import segments, told_until
from slacktide.store.record import Source, ViewRecord
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a workspace.

    Attributes:
        root: its address.
        sources: by name: kind, path, version, rows and bytes accepted, files that landed and are not
            accepted yet, whether it is held, versions left out, the version up to which landed files
            may be removed, columns that nobody declared, the schema that would take these in, and
            where rows are kept that do not fit its schema, and how many, of each foreign key that it
            declares whether it holds, as of which versions, why not, and what to do, and what keeps it from taking anything in.
        views: by name: the sources that it reads, versions, run, when the answer was made, arrivals that it lacks, method and
            reasons of the last run, what that run read and what full would have read, state bytes,
            how many refreshes of its period there were where the answer is not due at each one,
            why it is not incremental, whether the answer is still that of a former text, and of its
            sink, where it has one, the path, the run that readers see, whether that is behind, and
            what is wrong.
        functions: by name: target, type, and what else was declared.
        runs: number of runs.
        state_bytes: bytes of all states.
        mirror_bytes: bytes of all mirrors.
        answer_bytes: bytes of all answers.
        costs: how well the cost model tells of the newest runs: how many these are, the median of the
            relative error, and the 90th percentile of the factor; see `slacktide.optimizer.costs.Fit`.
        calibration: what units of work were measured to cost; see
            `slacktide.engine.calibrating.Calibration`; `is_whole` is false where an earlier version measured fewer
            kinds of work, so that its prices of tasks are not taken. None where nobody has.
        engine: the Spark and Java that make answers; None until a run had work for Spark.
    """

    root: str
    sources: Mapping[str, Mapping[str, Any]]
    views: Mapping[str, Mapping[str, Any]]
    functions: Mapping[str, Mapping[str, Any]]
    runs: int
    state_bytes: int
    mirror_bytes: int
    answer_bytes: int
    costs: Mapping[str, float | None]
    calibration: Mapping[str, Any] | None
    engine: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is printed."""
        return {
            "root": self.root,
            "sources": {name: dict(source) for name, source in self.sources.items()},
            "views": {name: dict(view) for name, view in self.views.items()},
            "functions": {name: dict(function) for name, function in self.functions.items()},
            "runs": self.runs,
            "state_bytes": self.state_bytes,
            "mirror_bytes": self.mirror_bytes,
            "answer_bytes": self.answer_bytes,
            "costs": dict(self.costs),
            "calibration": None if self.calibration is None else dict(self.calibration),
            "engine": self.engine,
        }


def check_limit(limit: int | None) -> None:
    """Refuse to look at none of the newest.

    Raises:
        InvalidSettingError: the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidSettingError(
            f"limit is {limit}, so nothing would be looked at", hint="give 1 or more"
        )


def history_of(
    world: World,
    read: Callable[[int], Mapping[str, Any]],
    view: str | None,
    limit: int | None,
) -> Sequence[Report]:
    """Give reports of runs, oldest first; of one view, those of the runs that computed it.

    Args:
        world: the log as it is.
        read: gives the report of a run.
        view: name of a view; None for all.
        limit: look at no more than this many of the newest runs.

    Raises:
        UnknownObjectError: there is no such view.
        InvalidSettingError: the limit is none.
    """
    if view is not None:
        check_known("view", view, world.views)
    check_limit(limit)
    numbers = sorted(world.runs)
    numbers = numbers if limit is None else numbers[-limit:]
    if view is not None:
        numbers = [number for number in numbers if _is_of(world, world.views[view], number)]
    reports = History(numbers, read)
    if view is None:
        return reports
    return [
        r
        for r in reports
        if (one := r.views.get(view)) is not None and was_at_work(one.method, one.actual)
    ]


def _is_of(world: World, record: ViewRecord, run: int) -> bool:
    """Whether a run worked on a view, and not on one before it that had its name."""
    first = record.former[0].since if record.former else record.since
    return world.runs[run].number > record.defined or (first is not None and run >= first)


def make_status(
    store: Store, waiting: Mapping[str, Waiting], sinks: Mapping[str, Mapping[str, Any]]
) -> Status:
    """Give the status of a world.

    Args:
        store: the workspace's store.
        waiting: per source, what a discovery would find.
        sinks: the states of the sinks, by view.
    """
    world = store.world()
    keys = _foreign_keys(world)
    runs = {run for view in world.views.values() if (run := last_run(view)) is not None}
    reports = {run: Report.from_dict(store.report(run)) for run in runs}
    knowledge = Knowledge(world)
    return Status(
        root=store.root,
        sources={
            name: {
                **_source(world, source, waiting.get(name, Waiting())),
                "foreign_keys": keys.get(name, []),
            }
            for name, source in sorted(world.sources.items())
        },
        views={
            name: {**_view(world, view, reports), "sink": sinks.get(name)}
            for name, view in sorted(world.views.items())
        },
        functions={
            name: {"target": f.target, "returns": f.returns, **f.declaration}
            for name, f in sorted(world.functions.items())
        },
        runs=len(world.runs),
        state_bytes=_bytes(world, is_state),
        mirror_bytes=_bytes(world, is_mirror),
        answer_bytes=_bytes(world, is_answer),
        costs={**knowledge.fitted.errors(), **expected_error(knowledge.told)},
        calibration=_calibration(world),
        engine=world.engine or None,
    )


def _calibration(world: World) -> dict[str, Any] | None:
    if not world.calibration:
        return None
    prices: Any = world.calibration["coefficients"]
    return {**world.calibration, "is_whole": tells_of_tasks(prices)}


def _source(world: World, source: Source, waiting: Waiting) -> dict[str, Any]:
    totals = source.arrivals.totals(0, source.version)
    return {
        "kind": source.kind,
        "path": source.arguments.get("path"),
        "version": source.version,
        "rows": totals.rows,
        "bytes": totals.bytes,
        "landed": waiting.files,
        "error": None if waiting.error is None else dict(waiting.error),
        "held": source.held,
        "skipped": sorted(source.skipped),
        "complete": list(source.complete),
        "extra": [dict(column) for column in source.extra],
        "wide": wide_ddl(source) if source.extra else None,
        "quarantine": source.arguments.get("quarantine"),
        "quarantined": sum(
            rows for at, rows in source.quarantined.items() if int(at) not in source.skipped
        ),
        "removable": removable_until(world, source),
    }


def removable_until(world: World, source: Source) -> int:
    """Up to which version the landed files of a source are not needed any more; 0 where all are."""
    # A view that lags behind the mirror reads from the files what the mirror no longer tells.
    needed = _needed_from(world, source)
    return told_until(world.chains.get(mirror_id(source.name)), source.name, needed)


def _foreign_keys(world: World) -> dict[str, list[dict[str, Any]]]:
    """What is known of the foreign keys that sources declare, by source."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in declared(world):
        record = world.foreign_keys.get(str(one.foreign_key))
        broken = record.broken if record else ""
        broken = f"cannot be checked, as {one.obstacle}" if one.obstacle else broken
        state = "broken" if broken else "holds" if record else "unverified"
        told = {
            "name": str(one.foreign_key),
            "state": state,
            "versions": dict(record.versions) if record else {},
            "broken": broken,
            "hint": _way_out(world, one, broken),
        }
        found.setdefault(one.foreign_key.source, []).append(told)
    return found


def _way_out(world: World, one: Declared, broken: str) -> str:
    """What to do about a foreign key that does not hold, or cannot be checked."""
    if not broken:
        return ""
    if not one.obstacle:
        return "slacktide verify --references"
    key = one.foreign_key
    if key.target not in world.sources:
        return f"slacktide source add {key.target} --key {','.join(key.key)} …"
    return f"drop {key.source} or {key.target}, and add it with columns that fit"


def _needed_from(world: World, source: Source) -> int:
    """The version from which some view, or a state from which one may go on, has yet to read a source."""
    states = (c.versions or {} for c in world.chains.values() if is_state(c.id))
    told = (versions[source.name] for versions in states if source.name in versions)
    return min([*world.taken_in(source.name).values(), *told], default=source.version)


def _view(world: World, record: ViewRecord, reports: Mapping[int, Report]) -> dict[str, Any]:
    view = ReadView.from_dict(record.definition)
    versions = dict(record.versions or {})
    seen = record.former_versions if record.versions is None else versions
    behind = sum(
        max(world.sources[name].version - seen.get(name, 0), 0)
        for name in view.sources
        if name in world.sources
    )
    answered = last_run(record)
    report = reports.get(answered or 0)
    last = None if report is None else report.views.get(record.name)
    return {
        "sources": list(view.sources),
        "versions": versions,
        "run": answered,
        "replaced": record.run is None and bool(record.former),
        "anew": record.run is not None and record.versions is None,
        "answered": None if report is None else report.ended,
        "behind": behind,
        "paused": record.paused,
        "period": _period(record),
        "obstacles": [str(reason) for reason in verdict(view)],
        **_last(last),
    }


def _period(record: ViewRecord) -> dict[str, Any] | None:
    """How many refreshes there were since the answer, of how many the last is due; None where each one is.

    Where the answer is to be made anew the next one is due, wherever the period stands.
    """
    weights = weights_of(record.settings)
    if not weights:
        return None
    done = record.period.turn if record.period else 0
    is_next = record.versions is None or done + 1 >= len(weights)
    return {"refreshes": done, "of": len(weights), "answers_next": is_next}


def last_run(view: ViewRecord) -> int | None:
    """The run that made the answer that readers of a view get; None where they get none."""
    return view.former[-1].run if view.run is None and view.former else view.run


def _last(report: ViewReport | None) -> dict[str, Any]:
    if report is None:
        return {"method": None, "reasons": [], "rows_read": None, "rows": None, "state_bytes": 0}
    return {
        "method": report.method,
        "reasons": list(report.reasons),
        "rows_read": report.actual.get("rows_read"),
        "rows": report.rows,
        "state_bytes": report.state_bytes,
    }


def _bytes(world: World, is_counted: Callable[[str], bool]) -> int:
    return sum(
        segment.bytes
        for chain in world.chains.values()
        if is_counted(chain.id)
        for segment in segments(chain)
    )
