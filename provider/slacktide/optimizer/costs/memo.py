"""What the alternatives of a memo cost: of each expression its operator, of each group its carrying.

The same prices as those of programs, and the same work of an operator. A group serves all who ask, and is computed whole; but for tables
that are read for one reader alone, of which a run reads what the keys of a change can meet. What takes a whole program to
know is left out: which steps are light, and which groups are rows already.
"""

from __future__ import annotations

from slacktide.optimizer.costs.coefficients import DEFAULTS, Coefficients
from slacktide.optimizer.costs.operators import operator_work, read_work, write_work
from slacktide.optimizer.costs.vector import Vector
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt, SnapshotNear
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.statistics import Estimate, Figure, Statistics
from slacktide.optimizer.statistics.intervals import together
from slacktide.optimizer.statistics.memo import GroupSizes, holes
from slacktide.optimizer.statistics.widths import packed
from slacktide.program import operator as o
from slacktide.program.operator import Operator


class MemoCosts:
    """Prices of one memo, in whole millionths of a second of CPU.

    Args:
        memo: the plan space.
        statistics: what is known of its sources, with what comes by each instant.
        coefficients: what a unit of work costs.
    """

    def __init__(
        self, memo: Memo, statistics: Statistics, coefficients: Coefficients = DEFAULTS
    ) -> None:
        self.sizes = GroupSizes(memo, statistics)
        self._memo = memo
        self._coefficients = coefficients

    def price(self, flat: Operator) -> int:
        """What an expression costs, without its inputs."""
        return self._micros(self.work(flat))

    def carrying(self, group: int) -> tuple[int, int]:
        """What it costs to save a group, and to load it."""
        rows, columns = self.sizes.of(group), self._memo.groups.hole(group).columns
        load = read_work(rows.rows.value, packed(rows.rows, columns))
        return self._micros(write_work(rows, columns)), self._micros(load)

    def work(self, flat: Operator) -> Vector:
        """The work of an expression, without that of its inputs."""
        known, gives = self.sizes.statistics, self.sizes.gives(flat)
        match flat:
            case SnapshotNear():
                source = known.source(flat.source)
                read = read_work(gives.rows.value, source.bytes, source.files)
                return read.times(source.reach.value)
            case SnapshotAt():
                source = known.source(flat.source)
                return read_work(gives.rows.value, source.bytes, source.files)
            case ChangesBetween():
                instants = range(flat.start + 1, flat.end + 1)
                told = together([known.source(flat.source).change(i) for i in instants])
                return read_work(gives.rows.value, told.bytes, told.files)
            case _:
                inputs = [self._as_read(hole) for hole in holes(flat)]
                return operator_work(flat, inputs, gives, known)

    def _as_read(self, hole: Hole) -> Estimate:
        """What an expression is given by a group: of a table that a change bounds, what is read of it."""
        return self.sizes.of(hole.group).share(Figure(self._reach(hole.group)))

    def _reach(self, group: int) -> float:
        """The share that is read of a table on which a group works row by row; 1 where it is no such one."""
        flat = next(iter(self._memo.groups.expressions(group)), None)
        while isinstance(flat, o.Select | o.Map) and isinstance(flat.child, Hole):
            flat = next(iter(self._memo.groups.expressions(flat.child.group)), None)
        if not isinstance(flat, SnapshotNear):
            return 1.0
        return self.sizes.statistics.source(flat.source).reach.value

    def _micros(self, work: Vector) -> int:
        """Never less than one, as no work is for nothing."""
        return max(1, round(1_000_000 * self._coefficients.price(work)))
