"""The SQL of operators that hold rows of two operators against each other."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra.equalities import take_apart
from slacktide.algebra.scalar import Reference
from slacktide.algebra.sql import scalar_sql
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.program.origin import is_small, origins_of
from slacktide.spark.compile.compiler import Compiler
from slacktide.spark.compile.fragments import names, of_table
from slacktide.spark.compile.gathering import join_hint, semi_hint, touched_hint
from slacktide.spark.ranges import LARGE_ROWS, has_ranges


def join(compiler: Compiler, operator: o.JoinBags) -> str:
    """Pairs of rows that meet a condition."""
    condition = "true" if operator.condition is None else scalar_sql(operator.condition)
    outputs = [*names(operator.columns), "l.__m * r.__m AS __m"]
    parts = take_apart(operator.condition, operator.left.columns, operator.right.columns)
    across = [o.Pair(equal.left, equal.right) for equal in parts.equalities]
    back = [o.Pair(equal.right, equal.left) for equal in parts.equalities]
    left = _bounded(compiler, operator.left, operator.right, across)
    right = _bounded(compiler, operator.right, operator.left, back)
    hint = join_hint(operator, compiler.gathered)
    return f"SELECT {hint}{', '.join(outputs)} FROM {left} l JOIN {right} r ON {condition}"


def semi(compiler: Compiler, operator: o.SemiBags) -> str:
    """The rows that meet one, or none, of another operator."""
    kind = "ANTI" if operator.negated else "SEMI"
    condition = "true" if operator.condition is None else scalar_sql(operator.condition)
    outputs = [f"l.{column}" for column in [*names(operator.columns), o.MULTIPLICITY]]
    left, right = compiler.names[operator.left], compiler.occurring(operator.right)
    hint = semi_hint(operator, compiler.gathered)
    where = f"{left} l LEFT {kind} JOIN ({right}) r ON {condition}"
    return f"SELECT {hint}{', '.join(outputs)} FROM {where}"


def flips(compiler: Compiler, operator: o.Flips) -> str:
    """Two joins a sign; Spark cannot tell constraints of EXISTS as a column from others."""
    condition = "true" if operator.condition is None else scalar_sql(operator.condition)
    before, after = compiler.occurring(operator.before), compiler.occurring(operator.after)
    child = compiler.names[operator.child]
    return "\nUNION ALL\n".join(
        f"SELECT {', '.join([*names(operator.columns), f'{sign}__m AS __m'])} FROM {child} l"
        f" LEFT SEMI JOIN ({met}) r ON {condition} LEFT ANTI JOIN ({unmet}) u ON {condition}"
        for sign, met, unmet in (("", after, before), ("-", before, after))
    )


def touched(compiler: Compiler, operator: o.Touched) -> str:
    """What has a key that occurs elsewhere."""
    equal = " AND ".join(
        f"{scalar_sql(pair.own, of_table('t'))} <=> {scalar_sql(pair.other, of_table('b'))}"
        for pair in operator.keys
    )
    listed = [f"t.{column}" for column in names(operator.columns)]
    outputs = listed if operator.is_state else [*listed, "t.__m"]
    child, by = (
        _bounded(compiler, operator.child, operator.by, operator.keys),
        compiler.names[operator.by],
    )
    hint = touched_hint(operator, compiler.gathered)
    where = f"{child} t LEFT SEMI JOIN {by} b ON {equal or 'true'}"
    return f"SELECT {hint}{', '.join(outputs)} FROM {where}"


def _bounded(compiler: Compiler, big: Operator, small: Operator, pairs: Sequence[o.Pair]) -> str:
    """The rows of an operator, or those alone that a small one's keys can meet.

    Args:
        compiler: of the step.
        big: what may be large.
        small: what bounds it, itself or by something inside.
        pairs: keys of the one and of the other.
    """
    pairs = [pair for pair in pairs if _is_ranged(pair)]
    sources = origins_of(small, [pair.other for pair in pairs]) if pairs else None
    if sources is None or is_small(big) or compiler.leaves.fewest_read(big) < LARGE_ROWS:
        return compiler.names[big]
    ways = []
    for source in sources:
        found = compiler.leaves.keys(source.by, source.keys)
        if found is None:
            return compiler.names[big]
        tests = [
            ranges.predicate(scalar_sql(pair.own), pair.own.type)
            for pair, ranges in zip(pairs, found, strict=True)
        ]
        ways.append(" AND ".join(tests))
    return f"(SELECT * FROM {compiler.names[big]} WHERE {' OR '.join(ways)})"


def _is_ranged(pair: o.Pair) -> bool:
    return isinstance(pair.own, Reference) and has_ranges(pair.own.type)
