"""Partial aggregates of one grouping as those of another, without its rows (tempura.md §2.1, G-14 and G-15).

    σ_k(γ_K(X)) = γ_K(σ_k(X))                        k over the keys alone
    π_e(γ_K(X)) = γ_e(X)                             e over the keys alone, all of which stay
    γ_L;SUM(γ_K;SUM(X)) = γ_L;SUM(X)                 L over the keys K; SUM of COUNT alike

What stands on the right is one aggregate of the same relation; its partial aggregates, all or a change, are those
of γ_K row by row. A sum of averages, of extremes or of groups is none of these. The sums below must not overflow, as
one over all rows would not: those of BIGINT may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction
from slacktide.algebra.tree import references, substitute
from slacktide.algebra.types import BIGINT, BOOLEAN, has_floating
from slacktide.common.tree import of_type
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has, Leads
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import Tie, ValDelta, ValSnap
from slacktide.optimizer.rule_parts.additive import is_additive, never_overflows
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.rule_parts.states import AggregateState, state_of
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Partial

Meaning = tuple[str, s.Scalar | None, s.Scalar | None]


@dataclass(frozen=True, slots=True)
class Regrouped(Tie):
    """From a relation to the aggregate whose partial aggregates it has, told by other keys.

    Attributes:
        whole: the aggregate that the relation is.
        below: the aggregate that it stands on.
        chosen: over the rows of `below`, by its keys; None where all groups stay.
        keys: of `whole`, over the keys of `below`.
        sources: of each measure of `whole` the place of that of `below` which it follows from.
    """

    whole: r.Aggregate
    below: r.Aggregate
    chosen: s.Scalar | None
    keys: tuple[s.Scalar, ...]
    sources: tuple[int, ...]


def rules(shapes: Shapes) -> tuple[MemoRule, ...]:
    """The rules of this family."""

    def merge(found: Binding, memo: Memo) -> None:
        tie = regrouped(found["rel"])
        if tie is not None:
            memo.equate(found["q"], tie.whole)
            memo.tie(found["q"], tie, memo.tvr(tie.below))

    def regroup(found: Binding, memo: Memo) -> None:
        tie = found["tie"]
        trait = found["state"] if "state" in found else found["delta"]
        if trait.layout != tie.whole.digest:
            return
        known = (
            ValSnap(tie.below.digest, trait.version)
            if isinstance(trait, ValSnap)
            else (ValDelta(tie.below.digest, trait.start, trait.end))
        )
        below = shapes.state(tie.below)
        hole = memo.ask(found["p"], known, below.columns, of_state=True)
        memo.fill(found["q"], trait, _regroup(tie, hole, below, shapes.state(tie.whole)))

    above = Form("q", "rel", r.Relation, lambda rel: regrouped(rel) is not None)
    tied = Leads("q", "tie", Regrouped, "p")
    return (
        MemoRule(
            name="merge_groupings",
            identity="γ_L;SUM(γ_K;SUM(X)) = γ_L;SUM(X), σ_k(γ_K(X)) = γ_K(σ_k(X))",
            source="Tempura: G-14 and G-15",
            pattern=(above,),
            apply=merge,
        ),
        MemoRule(
            name="regroup_state",
            identity="S_v(γ_L(γ_K(X))) = regroup(S_v(γ_K(X)))",
            source="Tempura: G-14 and G-15",
            pattern=(tied, Has("q", "state", ValSnap)),
            apply=regroup,
        ),
        MemoRule(
            name="regroup_change_of_state",
            identity="ΔS(γ_L(γ_K(X))) = regroup(ΔS(γ_K(X)))",
            source="Tempura: G-14 and G-15",
            pattern=(tied, Has("q", "delta", ValDelta)),
            apply=regroup,
        ),
    )


def regrouped(root: r.Rel) -> Regrouped | None:
    """The aggregate that a relation above another aggregate is; None where its rows are needed."""
    if not isinstance(root, r.Filter | r.Project | r.Aggregate):
        return None
    above: list[r.Filter | r.Project] = []
    below: r.Rel = root.child if isinstance(root, r.Aggregate) else root
    while isinstance(below, r.Filter | r.Project):
        above.append(below)
        below = below.child
    if not isinstance(below, r.Aggregate) or not below.keys or not is_additive(below):
        return None
    own = frozenset(key.column.id for key in below.keys)
    values: dict[int, s.Scalar] = {column.id: s.reference(column) for column in below.columns}
    chosen: list[s.Scalar] = []
    for rel in reversed(above):
        if isinstance(rel, r.Filter):
            chosen.append(substitute(rel.predicate, values))
        else:
            values = {item.column.id: substitute(item.value, values) for item in rel.outputs}
    if not all(_is_over(predicate, own) for predicate in chosen):
        return None
    predicate = conjunction(chosen)
    if isinstance(root, r.Aggregate):
        return _summed(root, below, predicate, values)
    return _passed_on(root, below, predicate, values)


def _passed_on(
    root: r.Filter | r.Project,
    below: r.Aggregate,
    chosen: s.Scalar | None,
    values: Mapping[int, s.Scalar],
) -> Regrouped | None:
    """The same groups, chosen and told by their keys: first all keys, then measures."""
    own = frozenset(key.column.id for key in below.keys)
    places = {measure.column.id: place for place, measure in enumerate(below.measures)}
    keys: list[s.Assignment] = []
    measures: list[s.Measure] = []
    sources: list[int] = []
    for column in root.columns:
        value = values[column.id]
        if isinstance(value, s.Reference) and value.column in places:
            sources.append(places[value.column])
            measures.append(s.Measure(column, below.measures[sources[-1]].call))
        elif _is_over(value, own) and not measures:
            keys.append(s.Assignment(column, value))
        else:
            return None
    if not own <= {key.value.column for key in keys if isinstance(key.value, s.Reference)}:
        return None
    return _regrouped(below, chosen, keys, measures, sources)


def _summed(
    root: r.Aggregate,
    below: r.Aggregate,
    chosen: s.Scalar | None,
    values: Mapping[int, s.Scalar],
) -> Regrouped | None:
    """Sums of sums and of counts, by fewer keys."""
    own = frozenset(key.column.id for key in below.keys)
    places = {measure.column.id: place for place, measure in enumerate(below.measures)}
    keys = [s.Assignment(key.column, substitute(key.value, values)) for key in root.keys]
    if not is_additive(root) or not all(_is_over(key.value, own) for key in keys):
        return None
    measures: list[s.Measure] = []
    sources: list[int] = []
    for measure in root.measures:
        call = measure.call
        if call.function != "sum" or call.filter is not None:
            return None
        value = substitute(call.arguments[0], values)
        place = places.get(value.column) if isinstance(value, s.Reference) else None
        summed = None if place is None else _argument(below.measures[place].call)
        if place is None or summed is None:
            return None
        sources.append(place)
        condition = below.measures[place].call.filter if _is_sum(below, place) else None
        whole = replace(call, arguments=(summed,), filter=condition)
        measures.append(s.Measure(measure.column, whole))
    return _regrouped(below, chosen, keys, measures, sources)


def _regrouped(
    below: r.Aggregate,
    chosen: s.Scalar | None,
    keys: list[s.Assignment],
    measures: list[s.Measure],
    sources: list[int],
) -> Regrouped | None:
    """The aggregate over the rows below, with the values of its keys in the place of the keys.

    Groups hold 0.0 for -0.0, which rows do not: what is more than such a key itself is told by groups alone.
    """
    floating = frozenset(key.column.id for key in below.keys if has_floating(key.column.type))
    told: list[s.Scalar] = [key.value for key in keys if not isinstance(key.value, s.Reference)]
    told += [] if chosen is None else [chosen]
    if any(references(value) & floating for value in told):
        return None
    values = {key.column.id: key.value for key in below.keys}
    child = below.child
    if chosen is not None:
        child = r.Filter(child, substitute(chosen, values))
    over = tuple(s.Assignment(key.column, substitute(key.value, values)) for key in keys)
    whole = r.Aggregate(child, over, tuple(measures))
    return Regrouped(whole, below, chosen, tuple(key.value for key in keys), tuple(sources))


def _is_over(value: s.Scalar, keys: frozenset[int]) -> bool:
    return references(value) <= keys and not any(of_type(value, s.Subquery))


def _is_sum(rel: r.Aggregate, place: int) -> bool:
    return rel.measures[place].call.function == "sum"


def _argument(call: s.AggregateCall) -> s.Scalar | None:
    """What a sum over all rows adds up where a sum of this aggregate would; None where there is none."""
    argument = call.arguments[0] if call.arguments else None
    if call.function == "sum" and argument is not None:
        fits = never_overflows(argument.type)
        return s.Cast(argument, call.type, argument.nullable) if fits else None
    if call.function != "count":
        return None
    tests = [] if call.filter is None else [call.filter]
    if argument is not None and argument.nullable:
        tests.append(s.Call("isnotnull", (argument,), BOOLEAN, nullable=False))
    one, zero = (s.Literal(f"{number}L", BIGINT, nullable=False) for number in (1, 0))
    condition = conjunction(tests)
    return one if condition is None else s.Case(((condition, one),), zero, BIGINT, nullable=False)


def _regroup(
    tie: Regrouped, state: Operator, below: AggregateState, whole: AggregateState
) -> Operator:
    """Partial aggregates of `below` as those of `whole`."""
    values: dict[int, s.Scalar] = {
        key.column.id: s.reference(column)
        for key, column in zip(tie.below.keys, below.keys, strict=True)
    }
    keys = tuple(
        s.Assignment(column, substitute(value, values))
        for column, value in zip(whole.keys, tie.keys, strict=True)
    )
    found = {_meaning(partial): partial.column for partial in below.partials}
    of = {_meaning(partial): found[known] for partial, known in _followed(tie, whole)}
    partials = tuple(
        s.Assignment(partial.column, _widened(of[_meaning(partial)], partial.column))
        for partial in whole.partials
    )
    chosen = None if tie.chosen is None else substitute(tie.chosen, values)
    return o.Regroup(state, below.keys, chosen, keys, partials)


def _followed(tie: Regrouped, whole: AggregateState) -> list[tuple[Partial, Meaning]]:
    """Each partial of the whole with that below which it is the sum of."""
    rows = whole.partials[0]
    found: list[tuple[Partial, Meaning]] = [(rows, _meaning(rows))]
    for place, source in enumerate(tie.sources):
        own, known = _alone(tie.whole, place), _alone(tie.below, source)
        found.append((own[-1], _meaning(known[-1])))
        if len(own) > 2:
            found.append((own[1], _meaning(known[1])))
    return found


def _alone(rel: r.Aggregate, place: int) -> tuple[Partial, ...]:
    """The partials of one measure: the rows of its groups, the values where some are NULL, the sum."""

    def fresh(name: str, data_type: str) -> s.Column:
        return s.Column(0, name, data_type, nullable=False)

    return state_of(r.Aggregate(rel.child, rel.keys, (rel.measures[place],)), fresh).partials


def _meaning(partial: Partial) -> Meaning:
    return partial.function, partial.argument, partial.filter


def _widened(column: s.Column, wanted: s.Column) -> s.Scalar:
    value = s.reference(column)
    return value if column.type == wanted.type else s.Cast(value, wanted.type, nullable=False)
