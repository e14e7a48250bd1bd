"""What is known of the multiplicities that an operator gives, without running it."""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.types import has_floating
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

_OF_SETS: Final = frozenset(
    {"min", "max", "min_by", "max_by", "any_value", "approx_count_distinct"}
    | {"bool_and", "every", "bool_or", "some", "any", "bit_and", "bit_or"}
)
"""Aggregates that more copies of a row leave as they are."""


def is_plain(operator: Operator) -> bool:
    """Whether every multiplicity is one, so that rows need not be consolidated to be counted."""
    match operator:
        case o.Finish() | o.Evaluate() | o.Batch():
            return True
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag() | o.Touched():
            return is_plain(operator.child)
        case o.JoinBags():
            return is_plain(operator.left) and is_plain(operator.right)
        case o.SemiBags():
            return is_plain(operator.left)
        case _:
            return False


def is_rowable(operator: Operator) -> bool:
    """Whether plain rows can be had without consolidating what the operator gives as a bag.

    A snapshot as rows is what its source has; what is linear over rows gives rows.
    """
    match operator:
        case o.ReadSnapshot():
            return True
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag():
            return is_rowable(operator.child)
        case o.JoinBags():
            return is_rowable(operator.left) and is_rowable(operator.right)
        case o.SemiBags():
            return is_rowable(operator.left)
        case o.Add():
            return all(is_rowable(child) for child in operator.children)
        case _:
            return is_plain(operator)


def is_unit(operator: Operator) -> bool:
    """Whether every multiplicity is one or minus one.

    Sources are: a change is one row, and a mirror repeats its rows.
    """
    match operator:
        case o.ReadChanges() | o.ReadSnapshot():
            return True
        case o.Negate():
            return is_unit(operator.child)
        case o.Add():
            return all(is_unit(child) for child in operator.children)
        case o.Select() | o.Map() | o.ExpandBag() | o.GenerateBag():
            return is_unit(operator.child)
        case o.Touched() | o.Flips() | o.ByBalance():
            return is_unit(operator.child)
        case o.JoinBags():
            return is_unit(operator.left) and is_unit(operator.right)
        case o.SemiBags():
            return is_unit(operator.left)
        case _:
            return is_plain(operator)


def ignores_copies(query: r.Rel) -> bool:
    """Whether a relation over an input is the same however often each row is there: an aggregate of values alone."""
    return (
        isinstance(query, r.Aggregate)
        and isinstance(query.child, r.Scan)
        and all(_is_of_a_set(one.call) for one in query.measures)
    )


def _is_of_a_set(call: s.AggregateCall) -> bool:
    """Whether copies of rows change nothing in an aggregate; COLLECT_SET takes each NaN for another value."""
    if call.function == "collect_set" and not call.distinct:
        return not any(has_floating(one.type) for one in call.arguments)
    return call.distinct or call.function in _OF_SETS


def adds_up(operator: Operator) -> bool:
    """Whether a snapshot in an operator is read as it lies, with multiplicities, and not as the rows that it has.

    Plain rows are asked for by what is evaluated as batch, by the other side of a semi-join and by first rows; what is
    linear over a snapshot has its rows from those of the snapshot.
    """
    stack, seen = [(operator, False)], set[tuple[Operator, bool]]()
    while stack:
        one, as_rows = stack.pop()
        if (one, as_rows) in seen:
            continue
        seen.add((one, as_rows))
        is_linear = as_rows and is_rowable(one) and not is_plain(one)
        if isinstance(one, o.ReadSnapshot) and not is_linear:
            return True
        # Only the first input of a semi-join has its rows passed on.
        passed = 1 if isinstance(one, o.SemiBags) else len(o.operator_inputs(one))
        are_rows = is_linear or isinstance(one, o.Evaluate | o.First)
        stack += [
            (part, are_rows or place >= passed) for place, part in enumerate(o.operator_inputs(one))
        ]
    return False


def operators_planned(program: o.Program) -> int:
    """The operators of the largest step of a program, each as often as it is read: Spark plans each of them."""
    known: dict[Operator, int] = {}
    for operator in of_type(program, Operator):
        known[operator] = 1 + sum(known[part] for part in o.operator_inputs(operator))
    return max((known[step.child] for step in program.steps), default=0)
