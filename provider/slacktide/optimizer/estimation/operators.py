"""The cost of one operator from the sizes of what it reads and gives (spark_costs.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from slacktide.algebra import relation as r
from slacktide.optimizer.estimation.coefficients import Coefficients
from slacktide.optimizer.estimation.sizes import Size
from slacktide.optimizer.estimation.vector import NOTHING, CostVector
from slacktide.optimizer.memo.hole import ChangesBetween, SnapshotAt
from slacktide.program import operator as o
from slacktide.program.operator import Operator


@dataclass(frozen=True, slots=True)
class SparkCosts:
    """Prices operators, and carrying things from run to run, by the parts of Spark that they need.

    Attributes:
        prices: of these parts.
    """

    prices: Coefficients = field(default_factory=Coefficients)

    def operator(self, flat: Operator, inputs: Sequence[Size], gives: Size) -> CostVector:
        """The cost of an operator, without that of its inputs."""
        match flat:
            case SnapshotAt() | ChangesBetween():
                return self.read(gives)
            case o.JoinBags() | o.SemiBags() | o.Touched() | o.UpTo():
                return self._joined(inputs, gives)
            case o.Flips():
                child, before, after = inputs
                return self._joined((child, before), gives) + self._joined((child, after), gives)
            case o.Summarise():
                return self._grouped(inputs[0], gives)
            case o.Consolidate() | o.Combine() | o.ByBalance() | o.First():
                return self._grouped(inputs[0], inputs[0])
            case o.Evaluate():
                return self._evaluated(flat, inputs, gives)
            case _:
                rows = sum(size.rows for size in inputs)
                return CostVector(cpu_seconds=rows * self.prices.row_passed)

    def read(self, size: Size) -> CostVector:
        """The cost of reading what is stored: one more file at least, and its rows."""
        cpu = self.prices.file + size.rows * self.prices.row_read
        return CostVector(cpu_seconds=cpu, rows_read=size.rows, bytes_read=size.bytes)

    def write(self, size: Size) -> CostVector:
        """The cost of a write of its own: a job, a file, and its bytes."""
        cpu = self.prices.job + self.prices.file + size.bytes * self.prices.byte_written
        return CostVector(cpu_seconds=cpu, bytes_written=size.bytes, jobs=1)

    def _joined(self, inputs: Sequence[Size], gives: Size) -> CostVector:
        """Broadcast the smaller side where it is small; else shuffle both."""
        small = min(inputs, key=lambda size: size.rows)
        is_broadcast = small.rows <= self.prices.broadcast_rows
        moved = small.bytes if is_broadcast else sum(size.bytes for size in inputs)
        rows = sum(size.rows for size in inputs) + gives.rows
        cpu = rows * self.prices.row_joined + moved * self.prices.byte_shuffled + self.prices.stage
        return CostVector(cpu_seconds=cpu, bytes_shuffled=moved, jobs=1 if is_broadcast else 0)

    def _grouped(self, rows: Size, moved: Size) -> CostVector:
        """Group rows; what is grouped before the shuffle is all that moves."""
        cpu = rows.rows * self.prices.row_grouped + moved.bytes * self.prices.byte_shuffled
        return CostVector(cpu_seconds=cpu + self.prices.stage, bytes_shuffled=moved.bytes, jobs=0)

    def _evaluated(self, flat: o.Evaluate, inputs: Sequence[Size], gives: Size) -> CostVector:
        match flat.query:
            case r.Values() | r.Range():
                return NOTHING
            case r.Join():
                return self._joined(inputs if len(inputs) > 1 else (inputs[0], inputs[0]), gives)
            case r.Aggregate():
                return self._grouped(inputs[0], gives)
            case _:
                return self._grouped(inputs[0], inputs[0])
