"""How many rows an operator of a program gives, from what its inputs give.

A change has the inserts and deletes that have arrived, and every operator over it what its relation
would have of so many rows (`estimate`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final

from slacktide.algebra import scalar as s
from slacktide.optimizer.statistics.estimate import (
    GENERATED,
    Estimate,
    assigned,
    changed_columns,
    domains,
    expanded,
    groups,
    meeting_share,
    met,
    source_estimate,
)
from slacktide.optimizer.statistics.facts import END, Figure, Statistics, total
from slacktide.optimizer.statistics.relation import Cardinality
from slacktide.optimizer.statistics.selectivity import ALWAYS, but
from slacktide.optimizer.statistics.unions import added
from slacktide.optimizer.statistics.widths import (
    in_memory,
    joined,
    reshaped,
    scan_bytes,
    summarised,
)
from slacktide.program import operator as o
from slacktide.program.operator import Operator

BALANCED: Final = Figure(0.5)
"""The share of changed rows whose key has a balance that is asked for."""
UNKNOWN_STORED: Final = Estimate(Figure(100_000.0), {}, inf)
"""What a chain holds that the log does not know yet."""
Below = Callable[[Operator], Estimate]
Rule = Callable[[Any, Below, Statistics], Estimate]


def operator_estimate(operator: Operator, below: Below, known: Statistics) -> Estimate:
    """The estimate of an operator; not of what is read from earlier steps of its own program.

    Args:
        operator: of a program, or of a memo over holes.
        below: estimates of its inputs.
        known: of sources and of what is stored.
    """
    return _RULES[type(operator)](operator, below, known)


def _changes(operator: o.ReadChanges, _: Below, known: Statistics) -> Estimate:
    source, fields = known.source(operator.source), operator.fields
    change = source.change(END)
    planned = scan_bytes(source, change.rows, change.bytes, fields)
    return Estimate(change.rows, changed_columns(known, operator.source, fields), planned)


def _snapshot(operator: o.ReadSnapshot, _: Below, known: Statistics) -> Estimate:
    """As large as at the end at both moments, so that nothing falls as a change grows."""
    rows = known.source(operator.source).rows
    return source_estimate(known, operator.source, operator.fields, rows)


def _stored(
    operator: o.ReadBag | o.ReadState | o.ReadSegments, _: Below, k: Statistics
) -> Estimate:
    stored = k.stored.get(operator.chain)
    ids = (field.id for field in operator.fields)
    columns = {number: k.columns[number] for number in ids if number in k.columns}
    if stored is None:
        return replace(UNKNOWN_STORED, columns=columns)
    return Estimate(Figure(stored.rows, "observed"), columns, stored.bytes)


def _select(operator: o.Select, below: Below, _: Statistics) -> Estimate:
    return below(operator.child).filtered(operator.predicate)


def _map(operator: o.Map | o.Finish, below: Below, _: Statistics) -> Estimate:
    child = below(operator.child)
    planned = reshaped(child.planned_bytes, operator.child.columns, operator.columns)
    return Estimate(child.rows, assigned(operator.outputs, child.columns), planned)


def _join(operator: o.JoinBags, below: Below, _: Statistics) -> Estimate:
    left, right = below(operator.left), below(operator.right)
    sides = (operator.left.columns, operator.right.columns)
    rows = met(left, right, operator.condition, sides)
    planned = joined(left.planned_bytes, right.planned_bytes)
    return Estimate(rows, {**left.columns, **right.columns}, planned)


def _semi(operator: o.SemiBags, below: Below, _: Statistics) -> Estimate:
    left, right = below(operator.left), below(operator.right)
    sides = (operator.left.columns, operator.right.columns)
    pairs = met(left, right, operator.condition, sides)
    share = meeting_share(left, right, operator.condition, sides, pairs)
    return left.share(but(share) if operator.negated else share)


def _flips(operator: o.Flips, below: Below, _: Statistics) -> Estimate:
    child = below(operator.child)
    return replace(child, rows=child.rows.scaled(1.0, below(operator.after).rows))


def _touched(operator: o.Touched, below: Below, _: Statistics) -> Estimate:
    child, by = below(operator.child), below(operator.by)
    keys = domains([(pair.own, pair.other) for pair in operator.keys], child, by)
    shares = [by.rows.scaled(1.0 / max(key.value, 1.0), key) for key in keys]
    least = min(shares, key=lambda share: share.value, default=ALWAYS)
    return child.share(replace(least, value=min(least.value, 1.0)))


def _expand(operator: o.ExpandBag, below: Below, _: Statistics) -> Estimate:
    child, times = below(operator.child), len(operator.projections)
    planned = times * reshaped(child.planned_bytes, operator.child.columns, operator.columns)
    columns = expanded(operator.projections, child.columns, operator.fields)
    return Estimate(child.rows.scaled(times), columns, planned)


def _generate(operator: o.GenerateBag, below: Below, _: Statistics) -> Estimate:
    return below(operator.child).share(GENERATED)


def _add(operator: o.Add, below: Below, _: Statistics) -> Estimate:
    children = [below(child) for child in operator.children]
    return added(children, [child.columns for child in operator.children], operator.fields)


def _balanced(operator: o.ByBalance, below: Below, _: Statistics) -> Estimate:
    return below(operator.child).share(BALANCED)


def _first(operator: o.First, below: Below, _: Statistics) -> Estimate:
    child = below(operator.child)
    most = min(child.rows.value, operator.count + 1.0)
    planned = in_memory(Figure(most), operator.columns)
    return replace(child, rows=replace(child.rows, value=most), planned_bytes=planned)


def _summarise(operator: o.Summarise, below: Below, _: Statistics) -> Estimate:
    child = below(operator.child)
    rows = groups([key.value for key in operator.keys], child)
    sides = (operator.child.columns, operator.columns)
    planned = summarised(child.planned_bytes, *sides, has_keys=bool(operator.keys))
    return Estimate(rows, assigned(operator.keys, child.columns), planned)


def _combine(operator: o.Combine, below: Below, _: Statistics) -> Estimate:
    """Each group once, of however many pieces of a state: no more than what touches them, or than there are keys."""
    child = below(operator.child)
    if not operator.keys:
        return replace(child, rows=Figure(1.0, "observed"))
    holders = dict.fromkeys(_holders(operator.child, {key.id for key in operator.keys}))
    most = [total(below(holder).rows for holder in holders)]
    if all(child.column(key.id).sure is not None for key in operator.keys):
        most.append(groups(list(map(s.reference, operator.keys)), child))
    least = min(most, key=lambda figure: figure.value)
    return child if least.value >= child.rows.value else replace(child, rows=least)


def _holders(operator: Operator, keys: Collection[int]) -> Iterator[Operator]:
    """What has a row for each group of partial aggregates, if not more."""
    match operator:
        case o.Add():
            at = [place for place, field in enumerate(operator.fields) if field.id in keys]
            for child in operator.children:
                yield from _holders(child, {child.columns[place].id for place in at})
        case o.Touched() if _columns(operator) >= set(keys):
            yield operator.by
        case _:
            yield operator


def _columns(operator: o.Touched) -> set[int]:
    return {pair.own.column for pair in operator.keys if isinstance(pair.own, s.Reference)}


def _regroup(operator: o.Regroup, below: Below, _: Statistics) -> Estimate:
    child = below(operator.child)
    if operator.predicate is not None:
        child = child.filtered(operator.predicate)
    planned = reshaped(child.planned_bytes, operator.child.columns, operator.columns)
    return Estimate(child.rows, assigned(operator.outputs, child.columns), planned)


def _evaluate(operator: o.Evaluate, below: Below, known: Statistics) -> Estimate:
    inputs = {item.name: below(item.operator) for item in operator.inputs}
    return Cardinality(known, inputs).of(operator.query)


def _same(
    operator: o.Negate | o.Consolidate | o.Nonzero | o.UpTo, below: Below, _: Statistics
) -> Estimate:
    return below(operator.child)


_RULES: Final[Mapping[type[Any], Rule]] = {
    o.ReadChanges: _changes,
    o.ReadSnapshot: _snapshot,
    o.ReadBag: _stored,
    o.ReadState: _stored,
    o.ReadSegments: _stored,
    o.Select: _select,
    o.Map: _map,
    o.JoinBags: _join,
    o.SemiBags: _semi,
    o.Flips: _flips,
    o.ExpandBag: _expand,
    o.GenerateBag: _generate,
    o.Add: _add,
    o.Negate: _same,
    o.Consolidate: _same,
    o.ByBalance: _balanced,
    o.First: _first,
    o.UpTo: _same,
    o.Summarise: _summarise,
    o.Combine: _combine,
    o.Nonzero: _same,
    o.Regroup: _regroup,
    o.Touched: _touched,
    o.Finish: _map,
    o.Evaluate: _evaluate,
}
