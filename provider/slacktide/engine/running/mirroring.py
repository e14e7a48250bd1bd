"""The mirrors of a run: which it writes, what it writes to them, and what the report says of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slacktide.common.chain_ids import mirror_id
from slacktide.engine.plan import Plan
from slacktide.engine.planning.mirrors_due import is_mirror_due
from slacktide.engine.planning.staleness import still_apart, still_due
from slacktide.engine.reports import MirrorReport
from slacktide.engine.work import Work
from slacktide.optimizer.mirror import mirror_program, segment_step
from slacktide.optimizer.programs.upkeep import upkeep_of
from slacktide.program.operator import Program
from slacktide.spark.tasks.task import Outcome, Task
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.tasks.executor import Executor


@dataclass(frozen=True, slots=True)
class Mirrors:
    """The mirrors that a run writes, each with the version that it then tells of.

    Attributes:
        anew: those of which the current rows are written.
        extended: those that get what has landed as a segment.
    """

    anew: Mapping[str, int]
    extended: Mapping[str, int]

    @property
    def versions(self) -> dict[str, int]:
        """The versions of all of them."""
        return {**self.anew, **self.extended}


def mirrors_of(world: World, plan: Plan, works: Sequence[Work]) -> Mirrors:
    """The mirrors of a plan that no other run wrote since, and those that its new views need."""
    anew = {**_of_new_views(world, works), **still_due(world, plan.mirrors)}
    apart = still_apart(world, plan.mirror_segments)
    return Mirrors(anew, {name: end for name, end in apart.items() if name not in anew})


def _of_new_views(world: World, works: Sequence[Work]) -> dict[str, int]:
    return {
        name: work.plan.end[name]
        for work in works
        if work.draft is not None and work.plan.program is not None
        for name in upkeep_of(work.view, work.draft.policy).snapshots
        if is_mirror_due(world, name, work.plan.end[name])
    }


def write_mirrors(executor: Executor, world: World, mirrors: Mirrors) -> dict[str, Outcome]:
    """Write the mirrors; give what came of each, by source.

    Raises:
        SlacktideError: the run fails as a whole.
    """
    written: dict[str, Outcome] = {}
    for name, version in mirrors.anew.items():
        source = world.sources[name]
        program = mirror_program(name, source.schema, source.key)
        written[name] = executor.run(
            Task(name, program, {}, {name: version}, scopes={}, kind="source")
        )
    for name, version in mirrors.extended.items():
        source = world.sources[name]
        program = Program((segment_step(name, source.schema, source.key),))
        start = dict(world.chains[mirror_id(name)].versions or {})
        written[name] = executor.run(
            Task(name, program, start, {name: version}, scopes={}, kind="source")
        )
    return written


def mirror_reports(written: Mapping[str, Outcome]) -> dict[str, MirrorReport]:
    """What the run says of the mirrors that it wrote, by source."""
    reports = {}
    for name, outcome in written.items():
        segment, is_base = outcome.chains[mirror_id(name)]
        reports[name] = MirrorReport(
            piece="base" if is_base else "segment",
            version=segment.versions[name],
            rows=segment.rows,
            bytes=segment.bytes,
            actual=outcome.cost.to_dict(),
        )
    return reports
