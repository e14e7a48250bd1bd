"""Deltas of linear operators: the operator applied to the change (`tempura.md` G-1 to G-4)."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.optimizer.rule import Context, DeltaRule, Near, add
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator


def _scan_delta(rel: r.Scan, context: Context) -> Operator | None:
    return o.ReadChanges(rel.source, rel.fields) if context.has_changed(rel.source) else None


def _scan_at(rel: r.Scan, moment: Moment, context: Context, _near: Near | None) -> Operator:
    same = not context.has_changed(rel.source)
    return o.ReadSnapshot(rel.source, rel.fields, "after" if same else moment)


def _filter_delta(rel: r.Filter, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else o.Select(change, rel.predicate)


def _filter_at(rel: r.Filter, moment: Moment, context: Context, near: Near | None) -> Operator:
    return o.Select(context.at(rel.child, moment, near), rel.predicate)


def _project_delta(rel: r.Project, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else o.Map(change, rel.outputs)


def _project_at(rel: r.Project, moment: Moment, context: Context, near: Near | None) -> Operator:
    below = None if near is None else near.through(rel.outputs)
    return o.Map(context.at(rel.child, moment, below), rel.outputs)


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


def _expand_delta(rel: r.Expand, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else o.ExpandBag(change, rel.projections, rel.fields)


def _expand_at(rel: r.Expand, moment: Moment, context: Context, _near: Near | None) -> Operator:
    return o.ExpandBag(context.at(rel.child, moment), rel.projections, rel.fields)


def _generate_delta(rel: r.Generate, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else _generated(rel, change)


def _generate_at(rel: r.Generate, moment: Moment, context: Context, near: Near | None) -> Operator:
    below = None if near is None else near.over(rel.child.columns)
    return _generated(rel, context.at(rel.child, moment, below))


def _generated(rel: r.Generate, rows: Operator) -> Operator:
    return o.GenerateBag(rows, rel.generator, rel.outer, rel.kept, rel.fields)


def _sort_delta(rel: r.Sort, context: Context) -> Operator | None:
    return context.delta(rel.child)


def _sort_at(rel: r.Sort, moment: Moment, context: Context, near: Near | None) -> Operator:
    return context.at(rel.child, moment, near)


READ_CHANGES_OF_SCAN = DeltaRule(
    name="read_changes_of_scan",
    node=r.Scan,
    identity="Δscan(s) = changes(s)",
    source="Tempura, G-1",
    delta=_scan_delta,
    at=_scan_at,
)
FILTER_CHANGES = DeltaRule(
    name="filter_changes",
    node=r.Filter,
    identity="Δσp(X) = σp(ΔX)",
    source="Tempura, G-2",
    delta=_filter_delta,
    at=_filter_at,
)
PROJECT_CHANGES = DeltaRule(
    name="project_changes",
    node=r.Project,
    identity="Δπe(X) = πe(ΔX)",
    source="Tempura, G-3",
    delta=_project_delta,
    at=_project_at,
)
ADD_CHANGES_OF_UNION = DeltaRule(
    name="add_changes_of_union",
    node=r.Union,
    identity="Δ(L ⊎ R) = ΔL + ΔR",
    source="Tempura, G-4",
    delta=_union_delta,
    at=_union_at,
)
EXPAND_CHANGES = DeltaRule(
    name="expand_changes",
    node=r.Expand,
    identity="Δε(X) = ε(ΔX)",
    source="Tempura, §1.6",
    delta=_expand_delta,
    at=_expand_at,
)
GENERATE_FROM_CHANGES = DeltaRule(
    name="generate_from_changes",
    node=r.Generate,
    identity="Δμ(X) = μ(ΔX)",
    source="Tempura, G-3",
    delta=_generate_delta,
    at=_generate_at,
)
FORGET_ORDER = DeltaRule(
    name="forget_order",
    node=r.Sort,
    identity="Δτ(X) = ΔX",
    source="bags have no order",
    delta=_sort_delta,
    at=_sort_at,
)
