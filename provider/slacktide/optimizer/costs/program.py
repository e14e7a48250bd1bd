"""The work of a program, operator by operator, before it runs.

How often an operator is computed, and how much of a table is read, `reach` tells. A step that reads few rows is light.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from types import MappingProxyType

from slacktide.algebra import relation as r
from slacktide.common.tree import of_type
from slacktide.optimizer.costs.operators import (
    EXCHANGE,
    WORKED_OUT,
    WRITE_JOBS,
    grouped,
    operator_work,
    query_work,
    read_work,
    write_work,
)
from slacktide.optimizer.costs.reach import (
    Reached,
    Times,
    guessed_reach,
    reached,
    rows_read,
    times,
)
from slacktide.optimizer.costs.reads import reads_expected
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.statistics import Cardinality, Estimate, Figure, Sizes, Statistics
from slacktide.optimizer.statistics.facts import END
from slacktide.optimizer.statistics.widths import in_memory, packed
from slacktide.program import operator as o
from slacktide.program.lightness import is_light
from slacktide.program.materialising import materialised, worked_out_first
from slacktide.program.multiplicity import is_rowable
from slacktide.program.operator import Operator, Program, operator_inputs
from slacktide.program.origin import is_small


@dataclass(frozen=True, slots=True)
class ProgramWork:
    """The work of a program, and where it is done.

    Attributes:
        sizes: the rows of every operator.
        steps: the work of each operator of a step by itself, step by step.
        writes: the work of each step besides: what it writes.
    """

    sizes: Sizes
    steps: Sequence[Mapping[Operator, Vector]]
    writes: Sequence[Vector]

    @property
    def operators(self) -> Mapping[Operator, Vector]:
        """The work of each operator, in all steps together."""
        found: dict[Operator, Vector] = {}
        for step in self.steps:
            for operator, work in step.items():
                found[operator] = found.get(operator, Vector()).plus(work)
        return found

    @property
    def total(self) -> Vector:
        """All of it."""
        return self.since(0)

    def of_step(self, number: int) -> Vector:
        """The work of one step, the first one being 0."""
        return reduce(Vector.plus, (*self.steps[number].values(), self.writes[number]), Vector())

    def since(self, first: int) -> Vector:
        """The work from a step on, the first one being 0."""
        read = (work for step in self.steps[first:] for work in step.values())
        return reduce(Vector.plus, (*read, *self.writes[first:]), Vector())


def program_work(
    program: Program,
    statistics: Statistics,
    query: r.Rel | None = None,
    *,
    knows_light: bool = True,
) -> Vector:
    """Estimate the work of a program; arguments as of `work_by_node`."""
    return work_by_node(program, statistics, query, knows_light=knows_light).total


def work_by_node(
    program: Program,
    statistics: Statistics,
    query: r.Rel | None = None,
    written: Mapping[str, float] = MappingProxyType({}),
    *,
    knows_light: bool = True,
) -> ProgramWork:
    """Estimate the work of a program, node by node.

    Args:
        program: of one run.
        statistics: what is known as of that run.
        query: the relation that the author's text means, where the program runs it.
        written: how many rows steps add to chains, in place of what would be estimated.
        knows_light: whether steps that read few rows are light; a memo, with which a program may be compared, does not
            know which.
    """
    sizes = Sizes(program, statistics, query, written)
    found = [_step_work(step, sizes, knows_light=knows_light) for step in program.steps]
    return ProgramWork(sizes, [works for works, _ in found], [write for _, write in found])


def _step_work(
    step: o.Step, sizes: Sizes, *, knows_light: bool
) -> tuple[Mapping[Operator, Vector], Vector]:
    """The work of each operator of a step, and of its write."""
    if isinstance(step, o.Refill):  # done where rows have run dry, which no estimate tells
        return {}, Vector()
    first = worked_out_first(step.child, partial(rows_read, sizes=sizes))
    works, write = operator_works(step.child, sizes, first), _written(step, sizes)
    expected = reads_expected(step, works, sizes.statistics)
    rows = rows_read(step.child, sizes) if expected is None else expected
    size = sum(work.bytes_read for work in works.values())
    if not (knows_light and is_light(step.child, round(rows), round(size))):
        return _with_texts(works, first), write
    # Each text is one job, in which all is interpreted.
    light = {
        operator: replace(work, rows_interpreted=work.rows_read, jobs=0.0, stages=0.0)
        for operator, work in works.items()
    }
    return _with_texts(light, first), replace(
        write, rows_interpreted=write.rows_read, jobs=write.plans, stages=write.plans
    )


def _with_texts(
    works: Mapping[Operator, Vector], first: Collection[Operator]
) -> dict[Operator, Vector]:
    """The same with the texts of what is worked out before, none of which is light."""
    return {one: work.plus(WORKED_OUT) if one in first else work for one, work in works.items()}


def operator_works(
    root: Operator, sizes: Sizes, first: Collection[Operator] = ()
) -> dict[Operator, Vector]:
    """The work of each operator of a step, by itself, as often as it is computed."""
    shares = {operator: reached(operator, sizes) for operator in of_type(root, Operator)}
    return {
        operator: _work(operator, often, shares[operator], sizes)
        for operator, often in times(shares, root, first).items()
    }


def _written(step: o.Step, sizes: Sizes) -> Vector:
    """The write of a step; a new answer is compared with the former one by another text besides."""
    rows, columns = sizes.of(step.child), step.child.columns
    work = write_work(rows, columns)
    if not (isinstance(step, o.Publish) and step.is_base):
        return work
    compared = Vector(
        rows_read=2.0 * rows.rows.value,
        rows_shuffled=2.0 * rows.rows.value,
        bytes_shuffled=2.0 * packed(rows.rows, columns),
        stages=WRITE_JOBS,
        jobs=WRITE_JOBS,
        plans=1.0,
    )
    return work.plus(compared)


def _work(operator: Operator, often: Times, shares: Reached, sizes: Sizes) -> Vector:
    known = sizes.statistics
    match operator:
        case o.ReadChanges():
            change = known.source(operator.source).change(END)
            return read_work(change.rows.value, change.bytes, change.files).times(often.count)
        case o.ReadSnapshot():
            source = known.source(operator.source)
            work = read_work(source.rows.value, source.bytes, source.files)
            return work.times(_at(often, operator, sizes))
        case o.ReadBag() | o.ReadState() | o.ReadSegments() | o.ReadSaved():
            return _read_stored(operator, sizes).times(_at(often, operator, sizes))
        case o.Batch():
            query = sizes.query
            return Vector() if query is None else query_work(query, Cardinality(known), known)
        case _:
            inputs = [sizes.of(below) for below in operator_inputs(operator)]
            for place, share in shares.items():
                inputs[place] = _as_read(operator_inputs(operator)[place], share, sizes)
            first, before = _worked_out_before(operator, shares, sizes), Vector()
            if first is not None:
                columns, before = operator_inputs(operator)[first].columns, WORKED_OUT
                size = in_memory(inputs[first].rows, columns)  # is known by then
                inputs[first] = replace(inputs[first], planned_bytes=size)
            is_local = is_small(operator)
            work = before.plus(
                operator_work(operator, inputs, sizes.of(operator), known, is_small=is_local)
            )
            if not is_local:
                work = reduce(
                    Vector.plus, (_counted_out(bag, sizes) for bag in _as_rows(operator)), work
                )
            # Fixed prices are paid however little of a table is within the reach.
            is_whole = isinstance(operator, o.Evaluate)
            times = often.at(1.0) if is_whole else _at(often, operator, sizes)
            return work.times(times, fixed=often.count)


def _worked_out_before(operator: Operator, shares: Reached, sizes: Sizes) -> int | None:
    """The place of the side of a join that the run works out before it reads the other one."""
    if not isinstance(operator, o.JoinBags):
        return None
    sides = operator_inputs(operator)
    reach = [_share(side, shares.get(place, 1.0), sizes) for place, side in enumerate(sides)]
    read = [share * rows_read(side, sizes) for share, side in zip(reach, sides, strict=True)]
    return materialised(operator, read, partial(rows_read, sizes=sizes))


def _at(often: Times, operator: Operator, sizes: Sizes) -> float:
    """How often an operator is computed; all below it is looked at only where that tells something."""
    return often.at(guessed_reach(operator, sizes) if often.unknown else 1.0)


def _as_read(operator: Operator, share: float | None, sizes: Sizes) -> Estimate:
    """What an operator gives of which a share is read; None where nobody knows which."""
    return sizes.of(operator).share(Figure(_share(operator, share, sizes)))


def _share(operator: Operator, share: float | None, sizes: Sizes) -> float:
    return guessed_reach(operator, sizes) if share is None else share


def _as_rows(operator: Operator) -> list[Operator]:
    """The inputs of an operator that are grouped by all of their columns first, unless they are rows."""
    match operator:
        case o.Evaluate():
            return [item.operator for item in operator.inputs]
        case o.SemiBags():
            return [operator.right]
        case o.Flips():
            return [operator.before, operator.after]
        case o.First():
            return [operator.child]
        case _:
            return []


def _counted_out(bag: Operator, sizes: Sizes) -> Vector:
    """The work of having plain rows of a bag: it is grouped by all of its columns."""
    if is_rowable(bag):
        return Vector()
    rows = sizes.of(bag)
    return EXCHANGE.plus(grouped(rows, rows, bag.columns))


def _read_stored(
    operator: o.ReadBag | o.ReadState | o.ReadSegments | o.ReadSaved, sizes: Sizes
) -> Vector:
    rows, known = sizes.of(operator), sizes.statistics.stored.get(operator.chain)
    if known is None or isinstance(operator, o.ReadSaved):
        return read_work(rows.rows.value, packed(rows.rows, operator.columns))
    return read_work(rows.rows.value, known.bytes, known.files)
