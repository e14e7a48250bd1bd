"""IM-1: the change of an operator from the changes and rows of its inputs (tempura.md §2.1)."""

from __future__ import annotations

from collections.abc import Callable

from slacktide.algebra import relation as r
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta, ValDelta
from slacktide.optimizer.methods.asking import changes_of
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.shapes import Shapes

Maintained = Callable[[int, Memo], bool]


def rules(shapes: Shapes, is_maintained: Maintained) -> tuple[MemoRule, ...]:
    """The rules of this method.

    Args:
        shapes: columns that rules make.
        is_maintained: of which TVRs the change is derived.
    """

    def derive(found: Binding, memo: Memo) -> None:
        delta = found["delta"]
        for change in changes_of(memo, shapes, found["rel"], delta.start, delta.end):
            memo.fill(found["q"], delta, change)

    def extend(found: Binding, memo: Memo) -> None:
        rel, delta = found["rel"], found["delta"]
        if rel.digest == delta.layout:
            for _ in changes_of(memo, shapes, rel, delta.start, delta.end):
                continue

    def is_left_out(found: Binding, memo: Memo) -> bool:
        return not is_maintained(found["q"], memo)

    return (
        MemoRule(
            name="derive_change",
            identity="ΔQ = dQ(X, ΔX)",
            source="Tempura: TVR-generating rules; the delta rules of each operator",
            pattern=(Form("q", "rel", r.Relation), Has("q", "delta", SetDelta)),
            apply=derive,
            skip=is_left_out,
        ),
        MemoRule(
            name="derive_change_of_state",
            identity="ΔS = γ-state(ΔX)",
            source="Tempura: the attribute perspective",
            pattern=(Form("q", "rel", r.Aggregate, is_additive), Has("q", "delta", ValDelta)),
            apply=extend,
            skip=is_left_out,
        ),
    )
