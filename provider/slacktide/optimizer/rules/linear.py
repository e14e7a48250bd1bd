"""Deltas of linear operators: the operator applied to the change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Near, add
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator

L = TypeVar("L", r.Filter, r.Project, r.Expand, r.Generate, r.Sort)


def _linear(
    name: str,
    node: type[L],
    identity: str,
    source: str,
    apply: Callable[[L, Operator], Operator],
    below: Callable[[L, Near], Near | None],
) -> DeltaRule[L]:
    """The rule of an operator over one input that works row by row.

    Args:
        name: as the rule's.
        node: as the rule's.
        identity: as the rule's.
        source: as the rule's.
        apply: gives the operator over rows, be they all or a change.
        below: what the rows that are asked for say of the input.
    """

    def delta(rel: L, context: Context) -> Operator | None:
        change = context.delta(rel.child)
        return None if change is None else apply(rel, change)

    def at(rel: L, moment: Moment, context: Context, near: Near | None) -> Operator:
        return apply(rel, context.at(rel.child, moment, near and below(rel, near)))

    return DeltaRule(name, node, identity, source, delta, at)


def _scan_delta(rel: r.Scan, context: Context) -> Operator | None:
    if not context.has_changed(rel.source):
        return None
    changes = o.ReadChanges(rel.source, rel.fields)
    return o.Consolidate(changes) if context.is_netted(rel.source) else changes


def _scan_at(rel: r.Scan, moment: Moment, context: Context, _near: Near | None) -> Operator:
    same = not context.has_changed(rel.source)
    return o.ReadSnapshot(rel.source, rel.fields, "after" if same else moment)


def _union_delta(rel: r.Union, context: Context) -> Operator | None:
    changes = [context.delta(child) for child in rel.children]
    return add([change for change in changes if change is not None], rel.columns)


def _union_at(rel: r.Union, moment: Moment, context: Context, near: Near | None) -> Operator:
    branches = []
    for child in rel.children:
        renamed = [
            s.Assignment(field, s.reference(own))
            for field, own in zip(rel.fields, child.columns, strict=True)
        ]
        below = None if near is None else near.through(renamed)
        branches.append(context.at(child, moment, below))
    return o.Add(tuple(branches), rel.columns)


_LINEAR = "Tempura: linear operators"

READ_CHANGES_OF_SCAN = DeltaRule(
    name="read_changes_of_scan",
    node=r.Scan,
    identity="Δscan(s) = changes(s)",
    source="what a source is",
    delta=_scan_delta,
    at=_scan_at,
)
FILTER_CHANGES = _linear(
    "filter_changes",
    r.Filter,
    "Δσp(X) = σp(ΔX)",
    _LINEAR,
    lambda rel, rows: o.Select(rows, rel.predicate),
    lambda _, near: near,
)
PROJECT_CHANGES = _linear(
    "project_changes",
    r.Project,
    "Δπe(X) = πe(ΔX)",
    _LINEAR,
    lambda rel, rows: o.Map(rows, rel.outputs),
    lambda rel, near: near.through(rel.outputs),
)
ADD_CHANGES_OF_UNION = DeltaRule(
    name="add_changes_of_union",
    node=r.Union,
    identity="Δ(L ⊎ R) = ΔL + ΔR",
    source=_LINEAR,
    delta=_union_delta,
    at=_union_at,
)
EXPAND_CHANGES = _linear(
    "expand_changes",
    r.Expand,
    "Δε(X) = ε(ΔX)",
    _LINEAR,
    lambda rel, rows: o.ExpandBag(rows, rel.projections, rel.fields),
    lambda _rel, _near: None,
)
GENERATE_FROM_CHANGES = _linear(
    "generate_from_changes",
    r.Generate,
    "Δμ(X) = μ(ΔX)",
    _LINEAR,
    lambda rel, rows: o.GenerateBag(rows, rel.generator, rel.outer, rel.kept, rel.fields),
    lambda rel, near: near.over(rel.child.columns),
)
FORGET_ORDER = _linear(
    "forget_order",
    r.Sort,
    "Δτ(X) = ΔX",
    "bags have no order",
    lambda _, rows: rows,
    lambda _, near: near,
)
