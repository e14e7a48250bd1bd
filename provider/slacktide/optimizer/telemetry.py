"""What planning did and took, and what a plan was expected to cost beside what it did cost.

Tempura names the two parts of planning PSE, the exploration of the plan space, and SMO, the choice of states
(tempura.md §7.4). Both are timed by a clock that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Rel
from slacktide.common.tree import of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import Objective
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import METHODS, Expanded, Problem, Switches, expand
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.statistics import Statistics
from slacktide.optimizer.statistics.widths import packed

Clock = Callable[[], float]
AS_IT_IS: Final = Switches()


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The planning of one view.

    Attributes:
        explored: seconds of the exploration (PSE).
        chosen: seconds of the choice (SMO), prices included.
        fired: firings, by name of rule.
        skipped: firings that were not worth it, by name of rule.
        is_whole: whether the search ended because nothing was new.
        relations: that vary with time.
        groups: of expressions.
        expressions: in all groups.
        state_bytes: expected of what each instant saves, the first one first.
        estimated: what each instant is expected to cost, in millionths of a second of CPU.
    """

    explored: float
    chosen: float
    fired: Mapping[str, int]
    skipped: Mapping[str, int]
    is_whole: bool
    relations: int
    groups: int
    expressions: int
    state_bytes: tuple[int, ...]
    estimated: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the form that is stored."""
        return asdict(self)

    def beside(self, actual: Sequence[float | None]) -> tuple[Compared, ...]:
        """What each instant was expected to cost, beside the seconds of CPU that it took.

        Args:
            actual: of each instant, the first one first; None of one that has not run.
        """
        if len(actual) != len(self.estimated):
            raise InvariantError(
                f"{len(actual)} runs of a plan over {len(self.estimated)} instants"
            )
        pairs = enumerate(zip(self.estimated, actual, strict=True), 1)
        return tuple(Compared(at, micros / 1e6, seconds) for at, (micros, seconds) in pairs)


@dataclass(frozen=True, slots=True)
class Compared:
    """One instant of a plan: seconds of CPU as estimated, and as measured."""

    instant: int
    estimated: float
    actual: float | None

    @property
    def factor(self) -> float | None:
        """By how much the larger one is larger; None where there is nothing to compare."""
        if not self.actual or not self.estimated:
            return None
        return max(self.actual, self.estimated) / min(self.actual, self.estimated)


@dataclass(frozen=True, slots=True)
class Planning:
    """A plan, what it was chosen from, and what that took."""

    expanded: Expanded
    space: PlanSpace
    choice: Choice
    telemetry: Telemetry


def plan_and_tell(
    problem: Problem,
    known: Statistics,
    objective: Objective,
    clock: Clock,
    *,
    methods: frozenset[str] = METHODS,
    switches: Switches = AS_IT_IS,
) -> Planning:
    """Plan a view whose answer is due at every instant, and tell what that took.

    Args:
        problem: what is to be planned.
        known: of its sources.
        objective: what is cheap.
        clock: seconds since some moment.
        methods: which may be used.
        switches: how to explore.
    """
    start = clock()
    expanded = expand(problem, methods=methods, switches=switches)
    explored = clock()
    costs = MemoCosts(expanded.memo, known)
    due = range(1, problem.instants + 1)
    space = space_of(expanded, due, costs.price, costs.carrying)
    choice = choose(space, objective)
    end = clock()
    memo, trace = expanded.memo, expanded.trace
    telemetry = Telemetry(
        explored=explored - start,
        chosen=end - explored,
        fired=dict(sorted(trace.fired.items())),
        skipped=dict(sorted(trace.skipped.items())),
        is_whole=trace.is_whole,
        relations=len(memo.tvrs()),
        groups=len(memo.groups),
        expressions=memo.groups.size(),
        state_bytes=_state_bytes(costs, expanded, choice, problem.instants),
        estimated=choice.plan.costs(space),
    )
    return Planning(expanded, space, choice, telemetry)


def _state_bytes(
    costs: MemoCosts, expanded: Expanded, choice: Choice, instants: int
) -> tuple[int, ...]:
    """Expected bytes of the states that each instant saves, each once."""
    saved = {(node, made.instant) for node, made in choice.plan.saved()}
    found = [0] * instants
    for node, instant in saved:
        columns = expanded.memo.groups.hole(node).columns
        found[instant - 1] += round(packed(costs.sizes.of(node).rows, columns))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Complexity:
    """How much a query asks for: the figures by which tempura.md §7.4 orders its table."""

    joins: int
    aggregates: int
    subqueries: int


def complexity_of(root: Rel) -> Complexity:
    """Count the joins, aggregates and scalar subqueries of a relation."""
    kinds: tuple[type[Any], ...] = (r.Join, r.Aggregate, s.Subquery)
    return Complexity(*(sum(1 for _ in of_type(root, kind)) for kind in kinds))


def table(title: str, columns: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Draw a table with a column for each query and a row for each measure, as §7.4 has them.

    Args:
        title: of the first column.
        columns: of each query its measures, by name; all have the same ones.
    """
    names = list(columns)
    measures = list(dict.fromkeys(measure for cells in columns.values() for measure in cells))
    lines = [f"| {' | '.join([title, *names])} |", "|" + "---|" * (len(names) + 1)]
    for measure in measures:
        cells = [columns[name].get(measure, "") for name in names]
        lines.append(f"| {' | '.join([measure, *cells])} |")
    return lines
