"""Random windows; where the order of rows matters, it is total."""

from __future__ import annotations

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import aggregate_type
from tests.harness.plans.aggregates import Aggregates
from tests.harness.plans.scalars import call, is_number, one_zero, total_order, whole

RANKINGS = (
    ("row_number", "INT"),
    ("rank", "INT"),
    ("dense_rank", "INT"),
    ("percent_rank", "DOUBLE"),
    ("cume_dist", "DOUBLE"),
    ("ntile", "INT"),
)
SHIFTS = ("lag", "lead", "lag ignore nulls", "nth_value", "nth_value ignore nulls")
WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
ROWS = (
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    WHOLE,
)
SO_FAR = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
RANGES = (
    "RANGE BETWEEN {} PRECEDING AND {} FOLLOWING",
    "RANGE BETWEEN {} PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN {} FOLLOWING AND UNBOUNDED FOLLOWING",
    SO_FAR,
)
DISTANCES = {"INT": "1", "BIGINT": "1L", "DATE": "31"}
AGGREGATES = ("sum", "count", "min", "max", "avg")


class Windows(Aggregates):
    """Draws windows over a relation."""

    def window(self, rel: r.Rel) -> r.Rel:
        partition = tuple(self.any(rel) for _ in range(self.draw(st.integers(0, 2))))
        kind = self.pick((self.whole_partitions, self.by_values, self.by_rows, self.ranked))
        return kind(rel, partition)

    def whole_partitions(self, rel: r.Rel, partition: tuple[s.Scalar, ...]) -> r.Rel:
        functions = (self.over(rel, WHOLE), self.over(rel, WHOLE))
        return r.Window(rel, partition, (), functions[: self.draw(st.integers(1, 2))])

    def by_values(self, rel: r.Rel, partition: tuple[s.Scalar, ...]) -> r.Rel:
        """The frame follows the values, so the order may leave rows undecided."""
        fitting = [column for column in rel.columns if column.type in DISTANCES]
        column = self.pick(fitting or rel.columns)
        distance = DISTANCES.get(column.type)
        frame = SO_FAR if distance is None else self.pick(RANGES)
        key = s.SortKey(s.reference(column), self.chance(2), self.chance(2))
        functions = [self.over(rel, frame.replace("{}", distance or ""))]
        if self.chance(2):
            functions.append(self.ranking(("rank", "dense_rank", "percent_rank", "cume_dist")))
        return r.Window(rel, partition, (key,), tuple(functions))

    def by_rows(self, rel: r.Rel, partition: tuple[s.Scalar, ...]) -> r.Rel:
        frame = self.pick(ROWS)
        order = self.total(rel)
        return r.Window(rel, partition, order, (self.over(rel, frame), self.shifted(rel, frame)))

    def ranked(self, rel: r.Rel, partition: tuple[s.Scalar, ...]) -> r.Rel:
        """A rank, by which often the first ones of each partition are chosen."""
        function = self.ranking([name for name, _ in RANKINGS])
        window = r.Window(rel, partition, self.total(rel), (function,))
        if function.column.type != "INT" or self.chance(2):
            return window
        first = call("<=", s.reference(function.column), whole(self.draw(st.integers(1, 2))))
        return r.Filter(window, first)

    def total(self, rel: r.Rel) -> tuple[s.SortKey, ...]:
        """An order by all columns, of which any may come first."""
        first = self.draw(st.integers(0, len(rel.columns) - 1))
        columns = rel.columns[first:] + rel.columns[:first]
        return total_order(columns, [self.chance(2), *(True for _ in columns)])

    def ranking(self, names) -> s.WindowCall:
        name = self.pick(names)
        data_type = dict(RANKINGS)[name]
        arguments = (whole(2),) if name == "ntile" else ()
        function = s.Call(name, arguments, data_type, nullable=False)
        return s.WindowCall(self.column("w", data_type, nullable=False), function, "")

    def over(self, rel: r.Rel, frame: str) -> s.WindowCall:
        """An aggregate over a frame."""
        function, value = self.pick(AGGREGATES), self.any(rel)
        if function in {"sum", "avg"} and not is_number(value.type):
            function = "count"
        arguments = () if function == "count" and self.chance(2) else (one_zero(value),)
        result = aggregate_type(function, arguments)
        assert result is not None
        aggregate = s.AggregateCall(function, arguments, False, None, *result)
        return s.WindowCall(self.column("w", *result), aggregate, frame)

    def shifted(self, rel: r.Rel, frame: str) -> s.WindowCall:
        """The value of another row, or of the first of a frame."""
        value = self.any(rel)
        column = self.column("w", value.type, nullable=True)
        name = self.pick((*SHIFTS, "first", "last ignore nulls"))
        if name not in SHIFTS:
            aggregate = s.AggregateCall(name, (value,), False, None, value.type, nullable=True)
            return s.WindowCall(column, aggregate, frame)
        function = s.Call(name, (value, whole(1)), value.type, nullable=True)
        return s.WindowCall(column, function, frame if name.startswith("nth_value") else "")
