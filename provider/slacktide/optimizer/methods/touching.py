"""Affected-key recomputation: the groups that a change touches are computed anew (ADR 0004)."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta
from slacktide.optimizer.methods.asking import changes_by
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.rules.recompute import RECOMPUTE_TOUCHED_GROUPS


def rules(shapes: Shapes) -> tuple[MemoRule, ...]:
    """The rules of this method; operators without another way to a change have it as their own."""

    def recompute(found: Binding, memo: Memo) -> None:
        rel, delta = found["rel"], found["delta"]
        ways = changes_by(RECOMPUTE_TOUCHED_GROUPS.delta, memo, shapes, rel, delta.start, delta.end)
        for change in ways:
            memo.fill(found["q"], delta, change)

    return (
        MemoRule(
            name="recompute_touched_groups",
            identity="ΔQ = Q(X'│K) − Q│K, K the keys of ΔX",
            source="ADR 0004: touched keys; tempura.md R-GROUP",
            pattern=(Form("q", "rel", r.Aggregate, is_additive), Has("q", "delta", SetDelta)),
            apply=recompute,
        ),
    )
