"""The change of an inner join along a foreign key (ADR 0006).

R refers to the key of S, and the rows of R that change are joined with what S has or had:

    Δ(R ⋈ S) = ΔR ⋈ (S' + S⁻) + R ⋈ ΔS⁼

S⁻ are the rows of S whose keys are gone, ΔS⁼ the change of keys that stayed. A key that came met no
row of R before; one that is gone meets none after, so that what it met before is in −ΔR. R, which is
mostly the larger one, is read only for keys whose row in S was updated in a column that is read: other
updates cancel out in ΔS⁼, which is grouped by its key anyway.

S may be a scan below filters, projections and inner joins: all of these are linear in the scan. Its
change is then the change by the scan alone and the change by all else.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.errors import InvariantError
from slacktide.optimizer.rule_parts.delta_join import joined_with
from slacktide.optimizer.rule_parts.foreign_keys import Referring
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule, Terms, add
from slacktide.program import operator as o
from slacktide.program.balance import Balance
from slacktide.program.operator import Moment, Operator


def _is_along(rel: r.Join, context: Context) -> bool:
    return rel.kind == "inner" and context.referring(rel) is not None


def _delta(rel: r.Join, context: Context) -> Operator | None:
    by = context.referring(rel)
    if by is None:
        raise InvariantError("a join goes by no foreign key")
    change = context.delta(by.source)
    terms = [] if change is None else [_referring_to(rel, by, change, context)]
    return add([*terms, *_updated(rel, by, context)], rel.columns)


def _referring_to(rel: r.Join, by: Referring, change: Operator, context: Context) -> Operator:
    """ΔR ⋈ (S' + S⁻)."""
    gone: Operator | None = None
    if context.has_changed(by.anchor.source):
        gone = o.Negate(_along(by, _balanced(by, "gone"), context))
    return joined_with(rel, by.source, change, "after", context, beside=gone)


def _updated(rel: r.Join, by: Referring, context: Context) -> Terms:
    """R ⋈ ΔS⁼, where ΔS⁼ has what else changes in S."""
    terms: Terms = []
    if context.has_changed(by.anchor.source):
        terms.append(_balanced(by, "kept"))
    below: r.Rel = by.anchor
    for node in reversed(by.path):
        terms = [_through(node, below, term, context) for term in terms]
        if isinstance(node, r.Join):
            terms += _others(node, below, context)
        below = node
    kept = add(terms, by.target.columns)
    return [] if kept is None else [joined_with(rel, by.target, kept, "before", context)]


def _balanced(by: Referring, balance: Balance) -> Operator:
    changes = o.ReadChanges(by.anchor.source, by.anchor.fields)
    rows = o.ByBalance(changes, by.key, balance)
    return o.Consolidate(rows) if balance == "kept" else rows


def _along(by: Referring, rows: Operator, context: Context) -> Operator:
    """What rows in the place of the anchor add to S."""
    below: r.Rel = by.anchor
    for node in reversed(by.path):
        rows = _through(node, below, rows, context)
        below = node
    return rows


def _through(node: r.Rel, below: r.Rel, rows: Operator, context: Context) -> Operator:
    match node:
        case r.Filter():
            return o.Select(rows, node.predicate)
        case r.Project():
            return o.Map(rows, node.outputs)
        case r.Join():
            by = context.referring(node)
            if by is not None and by.source == below:
                return _referring_to(node, by, rows, context)
            return joined_with(node, below, rows, _moment(node, below), context)
        case _:
            return rows


def _others(node: r.Join, below: r.Rel, context: Context) -> Terms:
    """What the change of the side that has not the anchor adds to the change of a join."""
    by = context.referring(node)
    if by is not None and by.source == below:
        return _updated(node, by, context)
    other = node.right if below == node.left else node.left
    change = context.delta(other)
    return (
        [] if change is None else [joined_with(node, other, change, _moment(node, other), context)]
    )


def _moment(node: r.Join, side: r.Rel) -> Moment:
    """ΔL ⋈ R' + L ⋈ ΔR: as of when the change of a side meets the other one."""
    return "after" if side == node.left else "before"


GO_ALONG_FOREIGN_KEY = DeltaRule(
    name="go_along_foreign_key",
    node=r.Join,
    identity="Δ(R ⋈ S) = ΔR ⋈ (S' + S⁻) + R ⋈ ΔS⁼, where R refers to the key of S",
    source="ADR 0006: foreign keys, after Quass and others",
    delta=_delta,
    at=None,
    where=_is_along,
)
