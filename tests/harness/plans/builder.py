"""Random relations: every node may stand anywhere in the tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.tree import rewrite
from tests.harness.plans.aggregates import aggregate_call, ordered
from tests.harness.plans.generating import Generating
from tests.harness.plans.scalars import FALSE, call, null, text, total_order, whole
from tests.harness.plans.sources import SourceShape

GROWTH = 2
COLUMNS = 8
KINDS: tuple[r.JoinKind, ...] = ("left", "right", "full", "semi", "anti", "existence")
COLLECTING = frozenset({"array_agg", "collect_set"})


class Builder(Generating):
    """Draws the nodes of one relation.

    Args:
        draw: given by hypothesis.
        sources: what scans may read.
        is_exact: leave out aggregates that Spark rounds at every row, and lists.
    """

    def __init__(self, draw: Any, sources: Sequence[SourceShape], *, is_exact: bool) -> None:
        super().__init__(draw, is_exact=is_exact)
        self.sources = sources
        self.grown = 0

    def relation(self, steps: int) -> r.Rel:
        rel = self.scan()
        for _ in range(steps):
            rel = self.narrow(self.draw(STEP)(self, rel))
        return rel

    def grows(self) -> bool:
        """Whether one more node may multiply rows; at most two do, so that examples stay small."""
        self.grown += 1
        return self.grown <= GROWTH

    def narrow(self, rel: r.Rel) -> r.Rel:
        """Keep few columns, some of the newest among them."""
        if len(rel.columns) <= COLUMNS:
            return rel
        kept = rel.columns[: COLUMNS // 2] + rel.columns[-COLUMNS // 2 :]
        return r.Project(rel, tuple(map(s.identity, kept)))

    # ------------------------------------------------------------ leaves

    def scan(self) -> r.Rel:
        shape = self.pick(self.sources)
        return r.Scan(shape.name, tuple(self.column(*column) for column in shape.columns))

    def values(self) -> r.Rel:
        columns = (self.column("v", "INT", nullable=True), self.column("w", "STRING", False))
        rows = ((whole(1), text("a")), (null("INT"), text("b")), (whole(1), text("a")))
        return r.Values(columns, rows[: self.draw(st.integers(1, 3))])

    def range(self) -> r.Rel:
        numbers = r.Range(0, self.draw(st.integers(0, 3)), 1, self.column("id", "BIGINT", False))
        key = s.Cast(s.reference(numbers.field), "INT", nullable=False)
        return r.Project(numbers, (s.Assignment(self.column("k", "INT", nullable=False), key),))

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

    def other(self, rel: r.Rel) -> r.Rel:
        """A relation to join with."""
        kinds: tuple[Callable[[], r.Rel], ...] = (
            self.scan,
            self.scan,
            self.values,
            self.range,
            lambda: self.again(rel),
            lambda: self.relation(self.draw(st.integers(0, 2))),
        )
        return self.pick(kinds)()

    # ------------------------------------------------------------ nodes over one relation

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

    def aggregate(self, rel: r.Rel) -> r.Rel:
        count = self.draw(st.integers(0, 2))
        keys = [self.key(self.expression(rel)) for _ in range(count)]
        return self.grouped(rel, keys)

    def key(self, value: s.Scalar) -> s.Assignment:
        return s.Assignment(self.column("k", value.type, value.nullable), value)

    def grouped(self, rel: r.Rel, keys: Sequence[s.Assignment]) -> r.Rel:
        measures = self.measures(rel, keys, self.draw(st.integers(0 if keys else 1, 3)))
        found = r.Aggregate(rel, tuple(keys), tuple(measures))
        collecting = {m.column.id for m in measures if m.call.function in COLLECTING}
        if not collecting:
            return found
        outputs = [
            s.Assignment(self.column("a", column.type, column.nullable), ordered(column))
            if column.id in collecting
            else s.identity(column)
            for column in found.columns
        ]
        return r.Project(found, tuple(outputs))

    def distinct(self, rel: r.Rel) -> r.Rel:
        return r.Aggregate(rel, tuple(self.key(s.reference(c)) for c in rel.columns), ())

    def grouping_sets(self, rel: r.Rel) -> r.Rel:
        """ROLLUP or the like: each row once for every set of keys, then groups of these."""
        if not self.grows():
            return self.aggregate(rel)
        first, second = self.any(rel), self.any(rel)
        made = tuple(self.column("k", value.type, nullable=True) for value in (first, second))
        gid = self.column("gid", "BIGINT", nullable=False)
        passed = [self.column(c.name, c.type, c.nullable) for c in rel.columns]
        others = tuple(s.reference(column) for column in rel.columns)
        sets = ((first, second), (first, null(second.type)), (null(first.type), null(second.type)))
        projections = tuple(
            (*keys, whole(number, "BIGINT"), *others)
            for number, keys in enumerate(sets[: self.draw(st.integers(2, 3))])
        )
        expanded = r.Expand(rel, projections, (*made, gid, *passed))
        if self.chance(3):
            return expanded
        keys = [self.key(s.reference(column)) for column in (*made, gid)]
        return self.grouped(expanded, keys)

    def sort(self, rel: r.Rel) -> r.Rel:
        return r.Sort(rel, (s.SortKey(self.any(rel), self.chance(2), True),))

    def limit(self, rel: r.Rel) -> r.Rel:
        order = r.Sort(rel, total_order(rel.columns, [self.chance(2) for _ in rel.columns]))
        offset = self.draw(st.integers(0, 1))
        return r.Limit(order, None if offset and self.chance(4) else self.pick((2, 1, 4)), offset)

    def subquery(self, rel: r.Rel) -> r.Rel:
        """Compare with, or show, the one value of a query without keys, or of one group of another."""
        query = self.scan()
        if self.chance(3):
            query = self.filter(query)
        value = self.of(query, ("INT", "BIGINT", "STRING", "DATE"))
        function = self.pick(("count", "max", "min")) if value else "count"
        aggregate = aggregate_call(function, *([value] if value else []))
        made = s.Measure(self.column("n", aggregate.type, aggregate.nullable), aggregate)
        key = self.of(query, ("INT",)) if self.chance(4) else None
        one: r.Rel = r.Aggregate(query, (), (made,))
        if key is not None:
            group = s.Assignment(self.column("g", key.type, key.nullable), key)
            alone = r.Filter(query, call("=", key, whole(1)))
            one = r.Project(r.Aggregate(alone, (group,), (made,)), (s.identity(made.column),))
        answer = s.Subquery(one, aggregate.type, nullable=True)
        same = self.of(rel, (answer.type,))
        if self.chance(3):
            shown = s.Assignment(self.column("q", answer.type, nullable=True), answer)
            return r.Project(rel, (*map(s.identity, rel.columns), shown))
        if same is None:
            test = call("isnotnull", answer)
            return r.Filter(rel, test if self.chance(2) else call("not", test))
        return r.Filter(rel, call(self.pick(("<", "=", ">=", "<=>")), same, answer))

    # ------------------------------------------------------------ nodes over two relations

    def join(self, rel: r.Rel) -> r.Rel:
        if not self.grows():
            return self.filter(rel)
        other = self.other(rel)
        return r.Join(rel, other, "inner", self.condition(rel, other))

    def outer(self, rel: r.Rel) -> r.Rel:
        """Any join but an inner one."""
        if not self.grows():
            return self.filter(rel)
        is_null_aware = self.chance(6)
        kind = "anti" if is_null_aware else self.pick(KINDS)
        marker = self.column("exists", "BOOLEAN", False) if kind == "existence" else None
        other = self.other(rel)
        condition = self.condition(rel, other)
        if is_null_aware and condition is not None:
            condition = call("or", condition, call("isnull", condition))
        return r.Join(rel, other, kind, condition, marker)

    def condition(self, left: r.Rel, right: r.Rel) -> s.Scalar | None:
        pairs = [
            (one, other)
            for one in left.columns
            for other in right.columns
            if one.type == other.type
        ]
        if not pairs or self.chance(10):
            return None if len(left.columns) + len(right.columns) < COLUMNS else FALSE
        one, other = self.pick(pairs)
        operator = self.pick(("=", "=", "=", "<=>", "<"))
        test = call(operator, s.reference(one), s.reference(other))
        if self.chance(4):
            test = call("and", test, self.predicate(left.columns + right.columns))
        if operator == "<" and not (one.id + other.id) % 3:
            test = call(
                "and", test, self.among(one, other)
            )  # no draw: all others stay as they were
        return test

    def among(self, one: s.Column, other: s.Column) -> s.Scalar:
        """Whether an array of one value has one that is less than another, by a function with a parameter of its own."""
        array = s.Call("array", (s.reference(one),), f"ARRAY<{one.type}>", nullable=False)
        each = self.column("each", one.type, one.nullable)
        body = call("<", s.reference(each), s.reference(other))
        test = s.Lambda((each,), body, body.type, body.nullable)
        return s.Call("exists", (array, test), "BOOLEAN", nullable=True)

    def union(self, rel: r.Rel) -> r.Rel:
        if not self.grows():
            return self.filter(rel)
        other = self.filter(self.again(rel))
        children = (rel, other) if not self.chance(4) else (rel, other, self.again(other))
        return r.Union(children, self.like(rel.columns))

    def like(self, columns: r.Columns) -> r.Columns:
        return tuple(self.column(c.name, c.type, c.nullable) for c in columns)

    def except_all(self, rel: r.Rel) -> r.Rel:
        """EXCEPT ALL as Spark lowers it: count by sign, and repeat what is left."""
        if not self.grows():
            return self.distinct(rel)
        signed = []
        for number, child in ((1, rel), (-1, self.filter(self.again(rel)))):
            sign = s.Assignment(self.column("s", "BIGINT", nullable=False), whole(number, "BIGINT"))
            signed.append(r.Project(child, (sign, *map(s.identity, child.columns))))
        both = r.Union(tuple(signed), self.like(signed[0].columns))
        total = aggregate_call("sum", s.reference(both.fields[0]))
        measure = s.Measure(self.column("n", "BIGINT", nullable=True), total)
        keys = tuple(self.key(s.reference(column)) for column in both.fields[1:])
        counted = r.Aggregate(both, keys, (measure,))
        count = s.reference(measure.column)
        left = r.Filter(counted, call(">", count, whole(0, "BIGINT")))
        repeated = self.repeated(left, count)
        return r.Project(repeated, tuple(s.identity(key.column) for key in keys))


STEP = st.sampled_from(
    (
        Builder.filter,
        Builder.join,
        Builder.aggregate,
        Builder.outer,
        Builder.project,
        Builder.outer,
        Builder.union,
        Builder.aggregate,
        Builder.outer,
        Builder.window,
        Builder.aggregate,
        Builder.generate,
        Builder.window,
        Builder.subquery,
        Builder.aggregate,
        Builder.outer,
        Builder.join,
        Builder.grouping_sets,
        Builder.limit,
        Builder.outer,
        Builder.sort,
        Builder.distinct,
        Builder.except_all,
        Builder.outer,
    )
)
