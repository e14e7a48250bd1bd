"""Rows of one side of an inner join, with what they meet on the other side."""

from __future__ import annotations

from collections.abc import Sequence

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import take_apart
from slacktide.optimizer.rule_parts.reduction import reduced
from slacktide.optimizer.rule_parts.rule import Context, JoinOrder, Near, bounded_by
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator, Pair
from slacktide.program.origin import is_small


def joined_with(
    rel: r.Join,
    side: r.Rel,
    rows: Operator,
    moment: Moment,
    context: Context,
    beside: Operator | None = None,
) -> Operator:
    """Join rows in the place of one side with the other side.

    Args:
        rel: an inner join.
        side: of the join.
        rows: a bag with the columns of that side.
        moment: as of when the other side is met.
        context: of the rule that asks.
        beside: further rows that are met on the other side.

    Returns:
        A bag with the columns of the join.
    """
    other = rel.right if side == rel.left else rel.left
    order = None
    # What is met beside is met by the rows once more, which pays for changes alone.
    if context.join_orders is not None and (beside is None or is_small(rows)):
        order = context.join_orders.of(side, other, rel.condition)
    if order is None:
        return _met_whole(rel, side, rows, moment, context, beside)
    found = _met_in_order(rel, rows, order, moment, context)
    if beside is None:
        return found
    return o.Add((found, _joined(rel, side, rows, beside)), rel.columns)


def _met_whole(
    rel: r.Join,
    side: r.Rel,
    rows: Operator,
    moment: Moment,
    context: Context,
    beside: Operator | None,
) -> Operator:
    other = rel.right if side == rel.left else rel.left
    if beside is None:
        return _joined(rel, side, *_with(rows, other, rel.condition, moment, context))
    there = context.at(
        other, moment, _near(rows, _pairs(rel.condition, rows.columns, other.columns))
    )
    return _joined(rel, side, rows, o.Add((there, beside), other.columns))


def _met_in_order(
    rel: r.Join, rows: Operator, order: JoinOrder, moment: Moment, context: Context
) -> Operator:
    for member, condition in order:
        rows = o.JoinBags(*_with(rows, member, condition, moment, context), condition)
    return o.Map(rows, tuple(map(s.identity, rel.columns)))


def _with(
    rows: Operator, member: r.Rel, condition: s.Scalar | None, moment: Moment, context: Context
) -> tuple[Operator, Operator]:
    """Rows, and a relation that they meet: groups alone whose keys it has, where it is remembered with few rows."""
    pairs = _pairs(condition, rows.columns, member.columns)
    there = context.at(member, moment, _near(rows, pairs))
    if pairs and context.is_small_bag(member):
        rows = reduced(rows, there, pairs)
    return rows, there


def _near(rows: Operator, pairs: Sequence[Pair]) -> Near | None:
    return bounded_by(rows, [(pair.other, pair.own) for pair in pairs])


def _joined(rel: r.Join, side: r.Rel, rows: Operator, there: Operator) -> Operator:
    left, right = (rows, there) if side == rel.left else (there, rows)
    return o.JoinBags(left, right, rel.condition)


def _pairs(condition: s.Scalar | None, own: r.Columns, other: r.Columns) -> list[Pair]:
    """The equalities between rows and what they meet."""
    return [Pair(equal.left, equal.right) for equal in take_apart(condition, own, other).equalities]
