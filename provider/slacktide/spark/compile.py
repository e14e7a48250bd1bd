"""A step of a program as one SQL string: operators nested, those that are read twice as tables.

Columns are named by id (``c12``), so that no two sides of a join collide; the multiplicity is
``__m``. How exactness is kept in SQL is said where it is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.nested import nullable, storable
from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment, Column, Reference, Scalar
from slacktide.algebra.sql import (
    column_name,
    expand_sql,
    generate_sql,
    quoted,
    relation_sql,
    scalar_sql,
)
from slacktide.algebra.types import DataType
from slacktide.common.node import Node
from slacktide.common.tree import postorder
from slacktide.errors import InvariantError
from slacktide.program import operator as o
from slacktide.program.balance import BALANCES
from slacktide.program.multiplicity import is_plain, is_rowable, is_unit
from slacktide.program.operator import Operator, operator_inputs
from slacktide.program.origin import is_small, origins_of
from slacktide.spark.bags import consolidate_sql, rows_sql, units_sql
from slacktide.spark.first import after_sql, first_sql
from slacktide.spark.leaves import Leaves
from slacktide.spark.partials import partial_sql, total_sql
from slacktide.spark.ranges import LARGE_ROWS, has_ranges


def step_sql(root: Operator, leaves: Leaves) -> str:
    """Give the SQL text whose rows are those of an operator, columns ``c0``, ``c1``, … by position.

    The columns are followed by ``__m`` in the bag form.
    """
    compiler = _compiled(root, leaves)
    outputs = [_stored(column, i) for i, column in enumerate(root.columns)]
    return compiler.text(_select(outputs, compiler.names[root], is_state=root.is_state))


def keys_sql(root: Operator, keys: Sequence[Scalar], leaves: Leaves, most: int | None) -> str:
    """Give the SQL text for the values of some keys over an operator.

    Args:
        root: the operator.
        keys: over its columns.
        leaves: what it stands on.
        most: how many distinct values at most; None for all of them, in one pass, with repetitions.
    """
    compiler = _compiled(root, leaves)
    outputs = ", ".join(f"{_scalar(key)} AS k{i}" for i, key in enumerate(keys))
    source = compiler.names[root]
    if most is None:
        return compiler.text(f"SELECT {outputs} FROM {source}")
    return compiler.text(f"SELECT DISTINCT {outputs} FROM {source} LIMIT {most}")


def _compiled(root: Operator, leaves: Leaves) -> _Compiler:
    operators = [node for node in postorder(root) if isinstance(node, Operator)]
    uses = Counter(below for operator in operators for below in operator_inputs(operator))
    compiler = _Compiler(leaves)
    for operator in operators:
        compiler.define(operator, is_shared=uses[operator] > 1)
    return compiler


def stored_type(data_type: DataType) -> DataType:
    """The type under which a column is stored; NULL alone has none of its own."""
    return "BOOLEAN" if data_type == "VOID" else storable(data_type)


def _stored(column: Column, position: int) -> str:
    stored = stored_type(column.type)
    if stored == column.type:
        return f"{name(column)} AS c{position}"
    value = "NULL" if column.type == "VOID" else name(column)
    return f"CAST({value} AS {stored}) AS c{position}"


def restored(column: Column, position: int) -> str:
    """A stored column with its own type."""
    if column.type == "VOID" or stored_type(column.type) == column.type:
        return f"c{position}"
    return f"CAST(c{position} AS {nullable(column.type)})"


def name(column: Column) -> str:
    """The name of a column inside the SQL of a program."""
    return column_name(column.id)


def _scalar(scalar: Scalar) -> str:
    return scalar_sql(scalar)


def _names(columns: Columns) -> list[str]:
    return [name(column) for column in columns]


def _assigned(assignments: tuple[Assignment, ...]) -> list[str]:
    return [f"{_scalar(item.value)} AS {name(item.column)}" for item in assignments]


def _select(outputs: list[str], table: str, *, is_state: bool, rest: str = "") -> str:
    listed = outputs if is_state else [*outputs, o.MULTIPLICITY]
    return f"SELECT {', '.join(listed)} FROM {table}{rest}"


class _Compiler:
    def __init__(self, leaves: Leaves) -> None:
        self.names: dict[Node, str] = {}
        self.tables: list[str] = []
        self._leaves = leaves

    def define(self, operator: Operator, *, is_shared: bool) -> None:
        """Name the rows of an operator; what is read once stands where it is read.

        Spark analyses a nested query several times faster than a common table expression per node.
        """
        body = self._body(operator)
        if not is_shared:
            self.names[operator] = f"(\n{body}\n)"
            return
        table = f"slacktide_o{len(self.tables)}"
        self.names[operator] = table
        self.tables.append(f"{table} AS (\n{body}\n)")

    def text(self, body: str) -> str:
        """A query together with the tables that it names."""
        return f"WITH {', '.join(self.tables)}\n{body}" if self.tables else body

    def bounded(self, big: Operator, small: Operator, pairs: Sequence[o.Pair]) -> str:
        """The rows of an operator, or those alone that a small one's keys can meet.

        Args:
            big: what may be large.
            small: what bounds it, itself or by something inside.
            pairs: keys of the one and of the other.
        """
        pairs = [pair for pair in pairs if _is_ranged(pair)]
        sources = origins_of(small, [pair.other for pair in pairs]) if pairs else None
        if sources is None or is_small(big) or self._leaves.fewest_read(big) < LARGE_ROWS:
            return self.names[big]
        ways = []
        for source in sources:
            found = self._leaves.keys(source.by, source.keys)
            if found is None:
                return self.names[big]
            tests = [
                ranges.predicate(_scalar(pair.own), pair.own.type)
                for pair, ranges in zip(pairs, found, strict=True)
            ]
            ways.append(" AND ".join(tests))
        return f"(SELECT * FROM {self.names[big]} WHERE {' OR '.join(ways)})"

    def _body(self, operator: Operator) -> str:
        rule = _RULES.get(type(operator))
        if rule is None:
            raise InvariantError(f"no SQL is known for {operator.tag}")
        return rule(self, operator)

    def read_source(self, operator: o.ReadChanges | o.ReadSnapshot) -> str:
        if isinstance(operator, o.ReadChanges):
            table = self._leaves.changes(operator.source)
        else:
            table = self._leaves.snapshot(operator.source, operator.moment)
        outputs = [f"{quoted(column.name)} AS {name(column)}" for column in operator.fields]
        return _select(outputs, table, is_state=False)

    def read_segments(self, operator: o.ReadSegments) -> str:
        table = self._leaves.pieces(
            operator.chain, operator.fields, operator.first, is_bag=operator.is_bag
        )
        return _select(_positions(operator.fields), table, is_state=not operator.is_bag)

    def read_chain(self, operator: o.ReadBag | o.ReadState | o.ReadSaved) -> str:
        if isinstance(operator, o.ReadSaved):
            is_bag = operator.is_bag
            table = self._leaves.saved(operator.chain, operator.fields, is_bag=is_bag)
        else:
            is_bag = not operator.is_state
            table = self._leaves.stored(operator.chain, operator.fields, is_bag=is_bag)
        return _select(_positions(operator.fields), table, is_state=not is_bag)

    def batch(self, operator: o.Batch) -> str:
        table = self._leaves.batch(operator.view)
        return f"SELECT {', '.join(_positions(operator.fields))}, 1L AS __m FROM {table}"

    def select(self, operator: o.Select) -> str:
        child = operator.child
        where = f" WHERE {_scalar(operator.predicate)}"
        return _select(_names(child.columns), self.names[child], is_state=False, rest=where)

    def map(self, operator: o.Map) -> str:
        return _select(_assigned(operator.outputs), self.names[operator.child], is_state=False)

    def join(self, operator: o.JoinBags) -> str:
        condition = "true" if operator.condition is None else _scalar(operator.condition)
        outputs = [*_names(operator.columns), "l.__m * r.__m AS __m"]
        parts = take_apart(operator.condition, operator.left.columns, operator.right.columns)
        across = [o.Pair(equal.left, equal.right) for equal in parts.equalities]
        back = [o.Pair(equal.right, equal.left) for equal in parts.equalities]
        left = self.bounded(operator.left, operator.right, across)
        right = self.bounded(operator.right, operator.left, back)
        return f"SELECT {', '.join(outputs)} FROM {left} l JOIN {right} r ON {condition}"

    def add(self, operator: o.Add) -> str:
        return "\nUNION ALL\n".join(
            _select(
                [
                    f"{name(own)} AS {name(column)}"
                    for own, column in zip(child.columns, operator.fields, strict=True)
                ],
                self.names[child],
                is_state=child.is_state,
            )
            for child in operator.children
        )

    def negate(self, operator: o.Negate) -> str:
        outputs = [*_names(operator.columns), "-__m AS __m"]
        return f"SELECT {', '.join(outputs)} FROM {self.names[operator.child]}"

    def consolidate(self, operator: o.Consolidate) -> str:
        types = [(name(column), column.type) for column in operator.columns]
        return consolidate_sql(self.names[operator.child], types)

    def by_balance(self, operator: o.ByBalance) -> str:
        keys = ", ".join(_names(operator.keys))
        balance = f"sum(__m) OVER (PARTITION BY {keys}) AS __b"
        child = self.names[operator.child]
        where = f" WHERE {BALANCES[operator.balance].sql('__b')}"
        table = f"(SELECT *, {balance} FROM {child})"
        return _select(_names(operator.columns), table, is_state=False, rest=where)

    def first(self, operator: o.First) -> str:
        types = [(name(column), column.type) for column in operator.columns]
        return first_sql(self._rows(operator.child), types, operator.order, operator.count)

    def up_to(self, operator: o.UpTo) -> str:
        child, fence = self.names[operator.child], self.names[operator.fence]
        outputs = [f"l.{column}" for column in [*_names(operator.columns), o.MULTIPLICITY]]
        after = after_sql(operator.order, _of("l"), _of("f"))
        return f"SELECT {', '.join(outputs)} FROM {child} l LEFT ANTI JOIN {fence} f ON {after}"

    def summarise(self, operator: o.Summarise) -> str:
        child = self.names[operator.child]
        has_sums = any(partial.function == "sum" for partial in operator.partials)
        if has_sums and not is_unit(operator.child):
            child = _units(child, operator.child)
        keyed = ", ".join(["*", *_assigned(operator.keys)])
        keys = [name(key.column) for key in operator.keys]
        outputs = [*keys, *(partial_sql(partial) for partial in operator.partials)]
        return f"SELECT {', '.join(outputs)} FROM (SELECT {keyed} FROM {child}){_group(keys)}"

    def combine(self, operator: o.Combine) -> str:
        keys = _names(operator.keys)
        kept = {column.id for column in operator.keys}
        sums = [
            f"{total_sql(name(column), '', column.type)} AS {name(column)}"
            for column in operator.columns
            if column.id not in kept
        ]
        return f"SELECT {', '.join([*keys, *sums])} FROM {self.names[operator.child]}{_group(keys)}"

    def nonzero(self, operator: o.Nonzero) -> str:
        some = " OR ".join(f"{name(column)} <> 0" for column in operator.partials)
        outputs = _names(operator.columns)
        where = f" WHERE {some or 'false'}"
        return _select(outputs, self.names[operator.child], is_state=True, rest=where)

    def regroup(self, operator: o.Regroup) -> str:
        where = "" if operator.predicate is None else f" WHERE {_scalar(operator.predicate)}"
        child = self.names[operator.child]
        return _select(_assigned(operator.outputs), child, is_state=True, rest=where)

    def touched(self, operator: o.Touched) -> str:
        equal = " AND ".join(
            f"{scalar_sql(pair.own, _of('t'))} <=> {scalar_sql(pair.other, _of('b'))}"
            for pair in operator.keys
        )
        listed = [f"t.{column}" for column in _names(operator.columns)]
        outputs = listed if operator.is_state else [*listed, "t.__m"]
        child, by = (
            self.bounded(operator.child, operator.by, operator.keys),
            self.names[operator.by],
        )
        where = f"{child} t LEFT SEMI JOIN {by} b ON {equal or 'true'}"
        return f"SELECT {', '.join(outputs)} FROM {where}"

    def semi(self, operator: o.SemiBags) -> str:
        kind = "ANTI" if operator.negated else "SEMI"
        condition = "true" if operator.condition is None else _scalar(operator.condition)
        outputs = [f"l.{column}" for column in [*_names(operator.columns), o.MULTIPLICITY]]
        left, right = self.names[operator.left], self._occurring(operator.right)
        return (
            f"SELECT {', '.join(outputs)} FROM {left} l LEFT {kind} JOIN ({right}) r ON {condition}"
        )

    def flips(self, operator: o.Flips) -> str:
        """Two joins a sign; Spark cannot tell constraints of EXISTS as a column from others."""
        condition = "true" if operator.condition is None else _scalar(operator.condition)
        before, after = self._occurring(operator.before), self._occurring(operator.after)
        child = self.names[operator.child]
        return "\nUNION ALL\n".join(
            f"SELECT {', '.join([*_names(operator.columns), f'{sign}__m AS __m'])} FROM {child} l"
            f" LEFT SEMI JOIN ({met}) r ON {condition} LEFT ANTI JOIN ({unmet}) u ON {condition}"
            for sign, met, unmet in (("", after, before), ("-", before, after))
        )

    def _occurring(self, operator: Operator) -> str:
        """The rows of a bag whose multiplicities do not add up to zero, as often as may be."""
        if is_rowable(operator):
            return self._rows(operator)
        types = [(name(column), column.type) for column in operator.columns]
        return consolidate_sql(self.names[operator], types)

    def expand(self, operator: o.ExpandBag) -> str:
        made = [f"e.{column}" for column in _names(operator.fields)]
        view = expand_sql(operator.projections, operator.fields, _scalar)
        child = self.names[operator.child]
        return f"SELECT {', '.join([*made, o.MULTIPLICITY])} FROM {child} {view}"

    def generate(self, operator: o.GenerateBag) -> str:
        view = generate_sql(_scalar(operator.generator), operator.fields, outer=operator.outer)
        return _select(
            _names(operator.columns), self.names[operator.child], is_state=False, rest=f" {view}"
        )

    def finish(self, operator: o.Finish) -> str:
        outputs = [*_assigned(operator.outputs), "1L AS __m"]
        below = "raise_error('SLACKTIDE_NEGATIVE a group has fewer rows than were deleted from it')"
        count = f"c{operator.count}"
        alive = "true" if operator.is_global else f"{count} > 0"
        # A guard that depends on where it runs is not one that Spark may infer for what the count is
        # joined with, where a negative number is no error.
        where = f"CASE WHEN {count} < 0 AND spark_partition_id() >= 0 THEN {below} ELSE {alive} END"
        return f"SELECT {', '.join(outputs)} FROM {self.names[operator.child]} WHERE {where}"

    def evaluate(self, operator: o.Evaluate) -> str:
        tables = {item.name: f"({self._rows(item.operator)})" for item in operator.inputs}
        outputs = ", ".join([*_names(operator.columns), "1L AS __m"])
        return f"SELECT {outputs} FROM ({relation_sql(operator.query, tables)})"

    def _rows(self, operator: Operator) -> str:
        """Plain rows: those that a source has, and what is linear over them, are not grouped."""
        if is_plain(operator):
            names = ", ".join(_names(operator.columns)) or "1"
            return f"SELECT {names} FROM {self.names[operator]}"
        if not is_rowable(operator):
            types = [(name(column), column.type) for column in operator.columns]
            return rows_sql(self.names[operator], types)
        match operator:
            case o.ReadSnapshot():
                outputs = [f"{quoted(column.name)} AS {name(column)}" for column in operator.fields]
                table = self._leaves.rows(operator.source, operator.moment)
                return f"SELECT {', '.join(outputs) or '1'} FROM {table}"
            case o.Add():
                return "\nUNION ALL\n".join(
                    f"SELECT {_renamed(child, operator)} FROM ({self._rows(child)})"
                    for child in operator.children
                )
            case _:
                return self._linear_rows(operator)

    def _linear_rows(self, operator: Operator) -> str:
        """The text of a linear operator over plain rows, each with multiplicity one."""
        inner = _Compiler(self._leaves)
        inner.names = dict(self.names)
        below = operator_inputs(operator)
        for child in below[:1] if isinstance(operator, o.SemiBags) else below:
            inner.names[child] = f"(SELECT *, 1L AS __m FROM ({self._rows(child)}))"
        names = ", ".join(_names(operator.columns)) or "1"
        return f"SELECT {names} FROM ({inner._body(operator)})"


def _is_ranged(pair: o.Pair) -> bool:
    return isinstance(pair.own, Reference) and has_ranges(pair.own.type)


def _renamed(child: Operator, operator: o.Add) -> str:
    pairs = zip(child.columns, operator.fields, strict=True)
    return ", ".join(f"{name(own)} AS {name(column)}" for own, column in pairs) or "1"


def _of(alias: str) -> Callable[[int], str]:
    return lambda column: f"{alias}.{column_name(column)}"


_RULES: dict[type[Operator], Callable[[_Compiler, Any], str]] = {
    o.ReadChanges: _Compiler.read_source,
    o.ReadSnapshot: _Compiler.read_source,
    o.ReadBag: _Compiler.read_chain,
    o.ReadState: _Compiler.read_chain,
    o.ReadSegments: _Compiler.read_segments,
    o.ReadSaved: _Compiler.read_chain,
    o.Batch: _Compiler.batch,
    o.Select: _Compiler.select,
    o.Map: _Compiler.map,
    o.JoinBags: _Compiler.join,
    o.SemiBags: _Compiler.semi,
    o.Flips: _Compiler.flips,
    o.ExpandBag: _Compiler.expand,
    o.GenerateBag: _Compiler.generate,
    o.Add: _Compiler.add,
    o.Negate: _Compiler.negate,
    o.Consolidate: _Compiler.consolidate,
    o.ByBalance: _Compiler.by_balance,
    o.First: _Compiler.first,
    o.UpTo: _Compiler.up_to,
    o.Summarise: _Compiler.summarise,
    o.Combine: _Compiler.combine,
    o.Nonzero: _Compiler.nonzero,
    o.Regroup: _Compiler.regroup,
    o.Touched: _Compiler.touched,
    o.Finish: _Compiler.finish,
    o.Evaluate: _Compiler.evaluate,
}


def _positions(columns: Columns) -> list[str]:
    return [f"{restored(column, i)} AS {name(column)}" for i, column in enumerate(columns)]


def _group(keys: list[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _units(table: str, operator: Operator) -> str:
    """Repeat rows whose multiplicity is greater than one: a value is never multiplied."""
    return f"({units_sql(table, _names(operator.columns))})"
