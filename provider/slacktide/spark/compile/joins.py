"""The SQL of operators that hold rows of two operators against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slacktide.algebra.equalities import null_aware
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.sql import scalar_sql
from slacktide.algebra.types import DataType, has_floating, is_collated
from slacktide.common.ranges import pays_to_ask
from slacktide.program import operator as o
from slacktide.program.bounding import Bound, bounds
from slacktide.program.materialising import SENT, materialised
from slacktide.program.operator import Operator, operator_inputs
from slacktide.program.uniqueness import meets_at_most_once
from slacktide.spark.compile.compiler import Compiler, held_sql
from slacktide.spark.compile.fragments import names, of_table
from slacktide.spark.compile.gathering import join_hint, semi_hint, touched_hint


def join(compiler: Compiler, operator: o.JoinBags) -> str:
    """Pairs of rows that meet a condition; a side may be worked out before (`program.materialising`)."""
    condition = "true" if operator.condition is None else scalar_sql(operator.condition)
    outputs = [*names(operator.columns), "l.__m * r.__m AS __m"]
    within = _ranges(compiler, operator)
    inputs, hint = _inputs(compiler, operator, within), join_hint(operator, compiler.gathered)
    place = _materialised(compiler, operator, within)
    if place is not None:
        side = operator_inputs(operator)[place]
        held = compiler.leaves.materialised(side)
        inputs[place] = held_sql(side, held)
        hint = f"/*+ BROADCAST({'lr'[place]}) */ " if held.bytes <= SENT else ""
    left, right = inputs
    return f"SELECT {hint}{', '.join(outputs)} FROM {left} l JOIN {right} r ON {condition}"


def semi(compiler: Compiler, operator: o.SemiBags) -> str:
    """The rows that meet one, or none, of another operator.

    Spark pushes a semi-join of a union into each of its branches, and computes the other side for each of them (not in
    light sessions, which leave that out): where no row can meet two, it is a plain join.
    """
    kind = "LEFT ANTI JOIN" if operator.negated else "LEFT SEMI JOIN"
    if not operator.negated and _is_union(operator.left) and meets_at_most_once(operator):
        kind = "JOIN"
    condition = _by_value(operator.condition)
    outputs = [f"l.{column}" for column in [*names(operator.columns), o.MULTIPLICITY]]
    left, right = compiler.names[operator.left], compiler.occurring(operator.right)
    hint = semi_hint(operator, compiler.gathered)
    where = f"{left} l {kind} ({right}) r ON {condition}"
    return f"SELECT {hint}{', '.join(outputs)} FROM {where}"


def _is_union(operator: Operator) -> bool:
    """Whether Spark sees a union: it pushes through what works row by row, too."""
    while isinstance(operator, o.Map | o.Select):
        operator = operator.child
    return isinstance(operator, o.Add)


def flips(compiler: Compiler, operator: o.Flips) -> str:
    """Two joins a sign; Spark cannot tell constraints of EXISTS as a column from others."""
    condition = _by_value(operator.condition)
    before, after = compiler.occurring(operator.before), compiler.occurring(operator.after)
    child = compiler.names[operator.child]
    return "\nUNION ALL\n".join(
        f"SELECT {', '.join([*names(operator.columns), f'{sign}__m AS __m'])} FROM {child} l"
        f" LEFT SEMI JOIN ({met}) r ON {condition} LEFT ANTI JOIN ({unmet}) u ON {condition}"
        for sign, met, unmet in (("", after, before), ("-", before, after))
    )


def _by_value(condition: Scalar | None) -> str:
    """The condition of a semi-join or an anti-join, so that both compare values.

    An anti-join of Spark whose whole condition has the form of NOT IN compares bits: 0.0 does not meet -0.0, and over strings that a
    collation compares it fails. Batch does so for NOT IN that stands alone, and for no other query. Spark does not see
    the form inside of `coalesce`, and a pair for which the condition is NULL does not meet either way.
    """
    sql = "true" if condition is None else scalar_sql(condition)
    equal = null_aware(condition)
    if equal is None or not any(_may_differ_in_bits(one.type) for one in equal.arguments):
        return sql
    return f"coalesce({sql}, false)"


def _may_differ_in_bits(data_type: DataType) -> bool:
    """Whether equal values of a type may have different bits."""
    return has_floating(data_type) or is_collated(data_type)


def touched(compiler: Compiler, operator: o.Touched) -> str:
    """What has a key that occurs elsewhere."""
    equal = " AND ".join(
        f"{scalar_sql(pair.own, of_table('t'))} <=> {scalar_sql(pair.other, of_table('b'))}"
        for pair in operator.keys
    )
    listed = [f"t.{column}" for column in names(operator.columns)]
    outputs = listed if operator.is_state else [*listed, "t.__m"]
    child, by = _inputs(compiler, operator, _ranges(compiler, operator))
    hint = touched_hint(operator, compiler.gathered)
    where = f"{child} t LEFT SEMI JOIN {by} b ON {equal or 'true'}"
    return f"SELECT {hint}{', '.join(outputs)} FROM {where}"


@dataclass(frozen=True, slots=True)
class _Within:
    """Where the keys of an input must lie to meet those of a change: as a condition, and the share of its rows."""

    condition: str
    share: float


def _materialised(
    compiler: Compiler, operator: o.JoinBags, within: Mapping[int, _Within]
) -> int | None:
    """The place of the side that is worked out before the other one is read."""
    if not compiler.may_work_out:
        return None
    read = [
        compiler.leaves.fewest_read(side) * (within[place].share if place in within else 1.0)
        for place, side in enumerate(operator_inputs(operator))
    ]
    return materialised(operator, read, compiler.leaves.most_changed)


def _inputs(compiler: Compiler, operator: Operator, within: Mapping[int, _Within]) -> list[str]:
    """The rows of each input, or those alone that the keys of a change can meet."""
    found = [compiler.names[below] for below in operator_inputs(operator)]
    for place, one in within.items():
        found[place] = f"(SELECT * FROM {found[place]} WHERE {one.condition})"
    return found


def _ranges(compiler: Compiler, operator: Operator) -> dict[int, _Within]:
    """By place of an input, where its keys lie, if it pays to know."""
    found = {bound.place: _within(compiler, bound) for bound in bounds(operator)}
    return {place: within for place, within in found.items() if within is not None}


def _within(compiler: Compiler, bound: Bound) -> _Within | None:
    """Where the keys of an input lie; None where it does not pay to know."""
    leaves = compiler.leaves
    asked = sum(leaves.fewest_read(origin.by) for origin in bound.origins)
    if not pays_to_ask(leaves.fewest_read(bound.large), asked):
        return None
    ways, share = [], 0.0
    for origin in bound.origins:
        found = leaves.keys(origin.by, origin.keys)
        if found is None:
            return None
        tests = [
            ranges.predicate(scalar_sql(pair.own), pair.own.type)
            for pair, ranges in zip(bound.pairs, found, strict=True)
        ]
        ways.append(" AND ".join(tests))
        share += leaves.share_within(bound, found)
    return _Within(" OR ".join(ways), min(share, 1.0))
