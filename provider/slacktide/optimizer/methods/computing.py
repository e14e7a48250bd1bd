"""Full recomputation: rows and states of a version from the rows of its inputs at that version."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.tree import inputs
from slacktide.common.tree import graft
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule, never
from slacktide.optimizer.memo.trait import SetSnap, ValSnap
from slacktide.optimizer.memo.versions import realised
from slacktide.optimizer.methods.asking import rows_at
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.program import operator as o
from slacktide.program.operator import by_id


def rules(shapes: Shapes, *, is_later: bool) -> tuple[MemoRule, ...]:
    """The rules of this method.

    Args:
        shapes: columns that rules make.
        is_later: compute anew after the first instant, too; without that, what was computed at the
            first is maintained, as a baseline of one incremental method does.
    """
    skip = never if is_later else _is_later

    def compute(found: Binding, memo: Memo) -> None:
        rows = rows_at(memo, shapes, found["rel"], found["snap"].version)
        memo.fill(found["q"], found["snap"], rows)

    def compute_state(found: Binding, memo: Memo) -> None:
        rel, state = found["rel"], found["state"]
        if rel.digest == state.layout:
            rows_at(memo, shapes, rel, state.version)

    return (
        MemoRule(
            name="compute_rows",
            identity="Q_v = Q(X_v)",
            source="Tempura §2: a query lifts pointwise",
            pattern=(Form("q", "rel", r.Relation), Has("q", "snap", SetSnap)),
            apply=compute,
            skip=skip,
            is_basic=True,
        ),
        MemoRule(
            name="evaluate_operator",
            identity="Q_v = Q(X_v), as batch evaluates it",
            source="Tempura §2: a query lifts pointwise",
            pattern=(Form("q", "rel", r.Relation, _is_stateful), Has("q", "snap", SetSnap)),
            apply=_evaluate,
            skip=skip,
        ),
        MemoRule(
            name="compute_state",
            identity="S_v = γ-state(X_v)",
            source="Tempura: the attribute perspective",
            pattern=(Form("q", "rel", r.Aggregate, is_additive), Has("q", "state", ValSnap)),
            apply=compute_state,
            skip=skip,
            is_basic=True,
        ),
    )


def _is_later(found: Binding, _memo: Memo) -> bool:
    """Whether an operator is asked for after the first instant; reading a source is not computing."""
    trait = found["snap"] if "snap" in found else found["state"]
    return realised(trait.version) > 1 and not isinstance(found["rel"], r.Scan)


def _is_stateful(rel: r.Rel) -> bool:
    """Whether delta rules compute an operator from states, which is not always the cheapest."""
    if isinstance(rel, r.Join):
        return rel.kind in {"semi", "anti"}
    return isinstance(rel, r.Aggregate) and is_additive(rel)


def _evaluate(found: Binding, memo: Memo) -> None:
    rel, snap = found["rel"], found["snap"]
    below = {child.digest: child for child in inputs(rel)}
    names = {digest: f"input{place}" for place, digest in enumerate(below)}
    scans = {d: r.Scan(names[d], by_id(child.columns)) for d, child in below.items()}
    holes = [
        o.Input(names[digest], memo.ask(memo.tvr(child), snap, child.columns))
        for digest, child in below.items()
    ]
    memo.fill(found["q"], snap, o.Evaluate(graft(rel, scans), tuple(holes)))
