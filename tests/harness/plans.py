"""Random relations over random sources, and random histories of their changes.

Domains are tiny, so that rows repeat, keys meet, groups empty and NULLs stand everywhere. A row is
drawn as one number, which keeps the generator fast and lets hypothesis shrink well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import aggregate_type, call_type
from slacktide.algebra.types import decimal_of
from slacktide.common.tree import rewrite
from slacktide.program.reference.operators import Bag

Draw = Any

DOMAINS: dict[str, tuple[Any, ...]] = {
    "INT": (0, 1, 2),
    "BIGINT": (-1, 0, 7),
    "DECIMAL(7,2)": (Decimal("-0.50"), Decimal("1.00"), Decimal("2.25")),
    "DECIMAL(12,3)": (Decimal("0.001"), Decimal("10.500")),
    "STRING": ("", "a", "B'\\"),
    "DATE": (date(1998, 9, 2), date(1999, 1, 31)),
    "BOOLEAN": (False, True),
}
LITERALS: dict[str, tuple[str, ...]] = {
    "INT": ("0", "1"),
    "BIGINT": ("0L", "-1L"),
    "DECIMAL(7,2)": ("CAST(1.00BD AS DECIMAL(7,2))", "CAST(0.50BD AS DECIMAL(7,2))"),
    "STRING": ("'a'", "'B\\'\\\\'"),
    "DATE": ("DATE '1998-12-01'",),
    "BOOLEAN": ("true",),
}
NUMBERS = ("INT", "BIGINT", "DECIMAL(7,2)", "DECIMAL(12,3)")
MAX_DIGITS = 25


@dataclass(frozen=True)
class SourceShape:
    """The columns of a random source: name, type, whether NULL may stand there."""

    name: str
    columns: tuple[tuple[str, str, bool], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.columns)

    def row(self, number: int) -> tuple[Any, ...]:
        """Decode a row from a number; every number is a row."""
        values = []
        for _, data_type, nullable in self.columns:
            domain = (None, *DOMAINS[data_type]) if nullable else DOMAINS[data_type]
            number, place = divmod(number, len(domain))
            values.append(domain[place])
        return tuple(values)


@dataclass
class Case:
    """A relation, the sources that it may read, and the batches that arrive one after another."""

    relation: r.Rel
    sources: tuple[SourceShape, ...]
    batches: list[dict[str, Bag]] = field(default_factory=list)


@st.composite
def shapes(draw: Draw) -> tuple[SourceShape, ...]:
    """Two sources with a key that is an INT in both, and one to three other columns each."""
    return tuple(
        SourceShape(
            name,
            (
                (f"{name}_k", "INT", draw(st.booleans())),
                *(
                    (f"{name}_{place}", data_type, draw(st.booleans()))
                    for place, data_type in enumerate(
                        draw(st.lists(st.sampled_from(sorted(DOMAINS)), min_size=1, max_size=3))
                    )
                ),
            ),
        )
        for name in ("left", "right")
    )


class Builder:
    """Draws the nodes of one relation; every column gets an id of its own."""

    def __init__(self, draw: Draw, sources: Sequence[SourceShape]) -> None:
        self.draw = draw
        self.sources = sources
        self.next_id = 0
        self.joins = 0

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.draw(st.integers(0, len(items) - 1))] if len(items) > 1 else items[0]

    def chance(self, one_in: int) -> bool:
        return bool(self.draw(st.integers(0, one_in - 1)) == one_in - 1)

    def column(self, name: str, data_type: str, nullable: bool) -> s.Column:
        self.next_id += 1
        return s.Column(self.next_id, name, data_type, nullable)

    def scan(self) -> r.Rel:
        shape = self.pick(self.sources)
        return r.Scan(shape.name, tuple(self.column(*column) for column in shape.columns))

    def relation(self, steps: int) -> r.Rel:
        rel = self.scan()
        for _ in range(steps):
            rel = self.draw(st.sampled_from(STEPS))(self, rel)
        return rel

    # ------------------------------------------------------------ scalars

    def of(self, rel: r.Rel, types: Sequence[str] | None = None) -> s.Reference | None:
        fitting = [column for column in rel.columns if types is None or column.type in types]
        return s.reference(self.pick(fitting)) if fitting else None

    def number(self, rel: r.Rel) -> s.Scalar | None:
        """A whole number or decimal, sometimes computed."""
        fitting = [column for column in rel.columns if is_number(column.type)]
        if not fitting:
            return None
        value: s.Scalar = s.reference(self.pick(fitting))
        if value.type in NUMBERS and self.chance(3):
            other = self.of(rel, (value.type,)) or value
            value = call(self.pick(("+", "-", "*")), value, other)
        return value

    def predicate(self, columns: r.Columns) -> s.Scalar:
        value = s.reference(self.pick(columns))
        if self.chance(4) or value.type not in LITERALS:
            test: s.Scalar = call(self.pick(("isnull", "isnotnull")), value)
        else:
            same = [column for column in columns if column.type == value.type]
            other: s.Scalar = (
                s.reference(self.pick(same)) if self.chance(2) else self.literal(value.type)
            )
            test = call(self.pick(("=", "<=>", "<", "<=", ">", ">=")), value, other)
        if self.chance(5):
            return call("not", test)
        if self.chance(5):
            return call(self.pick(("and", "or")), test, self.predicate(columns))
        return test

    def literal(self, data_type: str) -> s.Scalar:
        text = self.pick(LITERALS[data_type])
        if data_type.startswith("DECIMAL"):
            inner = text.removeprefix("CAST(").partition(" ")[0]
            return s.Cast(s.Literal(inner, "DECIMAL(3,2)", False), data_type, False)
        return s.Literal(text, data_type, False)

    def expression(self, rel: r.Rel) -> s.Scalar:
        value = s.reference(self.pick(rel.columns))
        kind = self.draw(st.integers(0, 4))
        if kind == 0:
            return self.number(rel) or value
        if kind == 1 and value.type in LITERALS:
            return call("coalesce", value, self.literal(value.type))
        if kind == 2:
            other = self.of(rel, (value.type,)) or value
            test = self.predicate(rel.columns)
            return s.Case(((test, value),), other, value.type, value.nullable or other.nullable)
        if kind == 3 and value.type == "DATE":
            return call("year", value)
        return value

    # ------------------------------------------------------------ nodes with a delta rule

    def filter(self, rel: r.Rel) -> r.Rel:
        test = self.predicate(rel.columns)
        if self.chance(3):
            test = call("or", test, call("isnotnull", s.reference(rel.columns[0])))
        return r.Filter(rel, test)

    def project(self, rel: r.Rel) -> r.Rel:
        kept = [column for column in rel.columns if not self.chance(3)] or [rel.columns[0]]
        outputs = [s.identity(column) for column in kept]
        for _ in range(self.draw(st.integers(0, 2))):
            value = self.expression(rel)
            outputs.append(s.Assignment(self.column("e", value.type, value.nullable), value))
        return r.Project(rel, tuple(outputs))

    def join(self, rel: r.Rel) -> r.Rel:
        if self.joins == 2:
            return self.filter(rel)
        self.joins += 1
        other = self.pick((self.scan, self.values, lambda: self.again(rel), self.joined))()
        return r.Join(rel, other, "inner", self.condition(rel, other))

    def joined(self) -> r.Rel:
        return self.relation(self.draw(st.integers(0, 2)))

    def condition(self, left: r.Rel, right: r.Rel) -> s.Scalar | None:
        pairs = [
            (one, other)
            for one in left.columns
            for other in right.columns
            if one.type == other.type
        ]
        if not pairs or self.chance(10):
            return None if len(left.columns) + len(right.columns) < 8 else FALSE
        one, other = self.pick(pairs)
        operator = self.pick(("=", "=", "=", "<=>", "<"))
        test = call(operator, s.reference(one), s.reference(other))
        if self.chance(4):
            return call("and", test, self.predicate(left.columns + right.columns))
        return test

    def again(self, rel: r.Rel) -> r.Rel:
        """The same relation once more, under new ids."""
        shift = self.next_id
        highest = shift

        def move(node: Any) -> Any:
            nonlocal highest
            if isinstance(node, s.Column):
                highest = max(highest, node.id + shift)
                return s.Column(node.id + shift, node.name, node.type, node.nullable)
            if isinstance(node, s.Reference):
                return s.Reference(node.column + shift, node.type, node.nullable)
            return None

        moved = rewrite(rel, move)
        self.next_id = highest
        return moved

    def values(self) -> r.Rel:
        columns = (self.column("v", "INT", True), self.column("w", "STRING", False))
        rows = (
            (s.Literal("1", "INT", False), s.Literal("'a'", "STRING", False)),
            (s.Literal("CAST(NULL AS INT)", "INT", True), s.Literal("'b'", "STRING", False)),
            (s.Literal("1", "INT", False), s.Literal("'a'", "STRING", False)),
        )
        return r.Values(columns, rows[: self.draw(st.integers(1, 3))])

    def union(self, rel: r.Rel) -> r.Rel:
        if self.joins == 2:
            return self.filter(rel)
        self.joins += 1
        other = self.filter(self.again(rel))
        fields = tuple(self.column(c.name, c.type, c.nullable) for c in rel.columns)
        children = (rel, other) if not self.chance(4) else (rel, other, self.again(other))
        return r.Union(children, fields)

    def aggregate(self, rel: r.Rel) -> r.Rel:
        keys = []
        for _ in range(self.draw(st.integers(0, 2))):
            value = self.expression(rel)
            keys.append(s.Assignment(self.column("k", value.type, value.nullable), value))
        measures = [
            self.measure(rel, self.pick(("count", "count", "sum", "sum", "avg")))
            for _ in range(self.draw(st.integers(0 if keys else 1, 3)))
        ]
        return r.Aggregate(rel, tuple(keys), tuple(measures))

    def measure(self, rel: r.Rel, function: str, *, distinct: bool = False) -> s.Measure:
        argument = self.number(rel) if function in {"sum", "avg"} else self.of(rel)
        if argument is None:
            function, argument = "count", s.reference(self.pick(rel.columns))
        arguments = () if function == "count" and not distinct and self.chance(2) else (argument,)
        result = aggregate_type(function, arguments)
        assert result is not None
        condition = self.predicate(rel.columns) if self.chance(5) else None
        aggregate = s.AggregateCall(function, arguments, distinct, condition, *result)
        return s.Measure(self.column("m", *result), aggregate)

    # ------------------------------------------------------------ nodes without one

    def top(self, rel: r.Rel) -> r.Rel:
        kinds = (self.extremes, self.distinct, self.outer, self.sort, self.subquery, self.limit)
        found: r.Rel = self.pick(kinds)(rel)
        return found

    def extremes(self, rel: r.Rel) -> r.Rel:
        measures = (self.measure(rel, "min"), self.measure(rel, "max"))
        return r.Aggregate(rel, (), measures)

    def distinct(self, rel: r.Rel) -> r.Rel:
        return r.Aggregate(rel, (), (self.measure(rel, "count", distinct=True),))

    def outer(self, rel: r.Rel) -> r.Rel:
        kind = self.pick(("left", "right", "full", "semi", "anti", "existence"))
        marker = self.column("exists", "BOOLEAN", False) if kind == "existence" else None
        other = self.aggregate(self.scan())
        return r.Join(rel, other, kind, self.condition(rel, other), marker)

    def sort(self, rel: r.Rel) -> r.Rel:
        return r.Sort(rel, (s.SortKey(s.reference(rel.columns[0]), self.chance(2), True),))

    def limit(self, rel: r.Rel) -> r.Rel:
        order = tuple(s.SortKey(s.reference(column), True, False) for column in rel.columns)
        return r.Limit(r.Sort(rel, order), 2, self.draw(st.integers(0, 1)))

    def subquery(self, rel: r.Rel) -> r.Rel:
        query = r.Aggregate(self.scan(), (), (self.measure_all(),))
        value = s.Subquery(query, "BIGINT", True)
        return r.Filter(rel, call("<", s.Literal("1L", "BIGINT", False), value))

    def measure_all(self) -> s.Measure:
        aggregate = s.AggregateCall("count", (), False, None, "BIGINT", False)
        return s.Measure(self.column("n", "BIGINT", False), aggregate)


def is_number(data_type: str) -> bool:
    """Whether sums of sums of the type still have room."""
    shape = decimal_of(data_type)
    return data_type in {"INT", "BIGINT"} or (shape is not None and shape[0] <= MAX_DIGITS)


def call(function: str, *arguments: s.Scalar) -> s.Call:
    """A call with the type that Spark gives it."""
    result = call_type(function, arguments)
    assert result is not None, (function, arguments)
    return s.Call(function, arguments, *result)


FALSE = s.Literal("false", "BOOLEAN", False)


STEPS = (
    Builder.join,
    Builder.filter,
    Builder.aggregate,
    Builder.join,
    Builder.project,
    Builder.union,
    Builder.aggregate,
)


@st.composite
def relations(draw: Draw, sources: tuple[SourceShape, ...], *, tops: bool = True) -> r.Rel:
    """A relation over the sources."""
    builder = Builder(draw, sources)
    rel = builder.relation(draw(st.sampled_from((1, 2, 3, 3, 4, 5))))
    if tops and builder.chance(4):
        rel = builder.top(rel)
    return rel


@st.composite
def histories(
    draw: Draw, sources: tuple[SourceShape, ...], *, batches: int, rows: int
) -> list[dict[str, Bag]]:
    """Batches of signed rows that never delete what is not there.

    A batch has arrivals for one source, both or none; an arrival may be empty, delete everything,
    replace everything, or insert and delete the same row.
    """
    present: dict[str, list[tuple[Any, ...]]] = {source.name: [] for source in sources}
    found = []
    for place in range(draw(st.integers(min(2, batches), batches))):
        numbers = st.lists(st.integers(0, 4**4), min_size=1 if place else 3, max_size=rows)
        batch: dict[str, Bag] = {}
        for source in sources:
            rows_now = present[source.name]
            kind = draw(st.sampled_from(KINDS if place else ("insert",)))
            if kind == "none":
                continue
            fresh = [source.row(number) for number in draw(numbers)] if kind != "empty" else []
            gone: list[tuple[Any, ...]] = []
            if kind in {"clear", "refill"}:
                gone, rows_now[:] = list(rows_now), []
            elif kind in {"delete", "update"}:
                for number in draw(numbers)[: len(rows_now)]:
                    gone.append(rows_now.pop(number % len(rows_now)))
            if kind in {"delete", "clear"}:
                fresh = []
            if kind == "cancel":
                batch[source.name] = [(row, sign) for row in fresh for sign in (1, -1)]
                continue
            rows_now.extend(fresh)
            batch[source.name] = [(row, -1) for row in gone] + [(row, 1) for row in fresh]
        found.append(batch)
    return found


KINDS = (
    "insert",
    "insert",
    "update",
    "update",
    "delete",
    "none",
    "empty",
    "clear",
    "refill",
    "cancel",
)


@st.composite
def cases(draw: Draw, *, batches: int = 4, rows: int = 5, tops: bool = True) -> Case:
    """A whole case."""
    sources = draw(shapes())
    relation = draw(relations(sources, tops=tops))
    return Case(relation, sources, draw(histories(sources, batches=batches, rows=rows)))
