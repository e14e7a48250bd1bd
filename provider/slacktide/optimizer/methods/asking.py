"""Asking the delta rules on behalf of the memo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from slacktide.algebra import relation as r
from slacktide.optimizer.memo.context import Between
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.versions import Version
from slacktide.optimizer.rule_parts.rule import Context, DeltaRule
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.rules import RULES
from slacktide.program import operator as o
from slacktide.program.operator import Operator

Change = Callable[[Any, Context], Operator | None]


def rows_at(memo: Memo, shapes: Shapes, rel: r.Rel, version: Version) -> Operator:
    """All rows of an operator at a version, from those of its inputs."""
    context = Between(memo, shapes, rel, version, version)
    at = next((rule.at for rule in _rules(rel, context) if rule.at), None)
    if at is None:
        return o.Evaluate(rel, ())
    return context.placed(at(rel, "after", context, None))


def changes_of(
    memo: Memo, shapes: Shapes, rel: r.Rel, start: Version, end: Version
) -> Iterator[Operator]:
    """The change of an operator between two versions, in every form that a delta rule gives."""
    rule = next(_rules(rel, Between(memo, shapes, rel, start, end)), None)
    if rule is not None:
        for change in (rule.delta, *rule.alternatives):
            yield from changes_by(change, memo, shapes, rel, start, end)


def changes_by(
    change: Change, memo: Memo, shapes: Shapes, rel: r.Rel, start: Version, end: Version
) -> Iterator[Operator]:
    """The change of an operator between two versions by one way to it, from all rows and from those near."""
    for is_near in (False, True):
        context = Between(memo, shapes, rel, start, end, is_near=is_near)
        found = change(rel, context)
        if context.was_near or not is_near:
            yield o.nothing(rel.columns) if found is None else context.placed(found)


def _rules(rel: r.Rel, context: Context) -> Iterator[DeltaRule[Any]]:
    """The delta rules that apply to an operator, the one that is taken first."""
    return (rule for rule in RULES if rule.node is type(rel) and rule.where(rel, context))
