"""What a run says of each of its views."""

from __future__ import annotations

from collections.abc import Mapping

from slacktide.engine.reports import ViewReport
from slacktide.engine.work import Work
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.spark.measures.cost import Cost
from slacktide.store.naming import segments
from slacktide.store.record import Segment
from slacktide.store.world import World


def unchanged_report(world: World, plan: ViewPlan, given_up: Cost | None = None) -> ViewReport:
    """The report of a view for which there was nothing to do, or for which what was begun was given up."""
    return ViewReport(
        "unchanged",
        tuple(str(reason) for reason in plan.reasons),
        predicted=plan.predicted,
        actual={} if given_up is None else given_up.to_dict(),
        switched=given_up is not None,
        versions=_answered(world, plan),
    )


def view_report(world: World, work: Work) -> ViewReport:
    """The report of a view that was computed, or failed."""
    reasons = tuple(str(reason) for reason in work.plan.reasons)
    rows = _rows(world, work.plan.end)
    if work.outcome is None:
        error = None if work.error is None else work.error.to_dict()
        answered = {} if work.record is None else dict(work.record.versions or {})
        return ViewReport("failed", reasons, error=error, versions=answered, rows=rows)
    written = work.outcome.chains
    state_bytes = sum(
        _bytes_after(world, chain, written.get(chain))
        for chain in (*state_sources(work.view, work.plan.remembers), *work.plan.stored_early)
    )
    return ViewReport(
        method=work.plan.method,
        reasons=reasons,
        predicted=work.plan.predicted,
        actual=work.outcome.cost.to_dict(),
        state_bytes=state_bytes,
        switched=work.switched,
        versions=_answered(world, work.plan),
        rows=rows,
    )


def _answered(world: World, plan: ViewPlan) -> dict[str, int]:
    """What the answer is made of once a run is done; one that is due later stays as it was."""
    if plan.is_due:
        return dict(plan.end)
    return dict(world.views[plan.view].versions or {})


def _bytes_after(world: World, chain: str, written: tuple[Segment, bool] | None) -> int:
    stored = world.chains.get(chain)
    if written is not None and (written[1] or stored is None):
        return written[0].bytes
    held = [] if stored is None else segments(stored)
    return sum(segment.bytes for segment in held) + (written[0].bytes if written else 0)


def _rows(world: World, versions: Mapping[str, int]) -> int | None:
    counts = [world.sources[name].rows_at(version) for name, version in versions.items()]
    return None if None in counts else sum(filter(None, counts))
