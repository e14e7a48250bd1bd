"""Deltas of linear operators: the operator applied to the change (`tempura.md` G-1 to G-4)."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.rule import Context, DeltaRule, add
from slacktide.program import operator as o
from slacktide.program.operator import Moment, Operator


def _scan_delta(rel: r.Scan, context: Context) -> Operator | None:
    return o.ReadChanges(rel.source, rel.fields) if context.has_changed(rel.source) else None


def _scan_at(rel: r.Scan, moment: Moment, context: Context) -> Operator:
    same = not context.has_changed(rel.source)
    return o.ReadSnapshot(rel.source, rel.fields, "after" if same else moment)


def _filter_delta(rel: r.Filter, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else o.Select(change, rel.predicate)


def _filter_at(rel: r.Filter, moment: Moment, context: Context) -> Operator:
    return o.Select(context.at(rel.child, moment), rel.predicate)


def _project_delta(rel: r.Project, context: Context) -> Operator | None:
    change = context.delta(rel.child)
    return None if change is None else o.Map(change, rel.outputs)


def _project_at(rel: r.Project, moment: Moment, context: Context) -> Operator:
    return o.Map(context.at(rel.child, moment), rel.outputs)


def _union_delta(rel: r.Union, context: Context) -> Operator | None:
    changes = [context.delta(child) for child in rel.children]
    return add([change for change in changes if change is not None], rel.columns)


def _union_at(rel: r.Union, moment: Moment, context: Context) -> Operator:
    return o.Add(tuple(context.at(child, moment) for child in rel.children), rel.columns)


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
