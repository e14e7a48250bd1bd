"""A memo under names of its own: two memos are the same up to numbers when their texts are."""

from __future__ import annotations

from slacktide.optimizer.memo.hole import Hole, with_inputs
from slacktide.optimizer.memo.memo import Memo
from slacktide.program.operator import Operator, operator_inputs


def text_of(memo: Memo) -> dict[str, list[str]]:
    """Every group by what it is linked to, or else by its expressions; and its expressions."""
    names: dict[int, str] = {}
    for group in memo.groups:
        linked = sorted(
            f"{memo.relation(tvr).digest.hex()} {trait}" for tvr, trait in memo.linked(group)
        )
        if linked:
            names[group] = " = ".join(linked)
    waiting = [group for group in memo.groups if group not in names]
    while waiting:
        for group in list(waiting):
            texts = [_text(flat, names) for flat in memo.groups.expressions(group)]
            if None not in texts:
                names[group] = "(" + " | ".join(sorted(filter(None, texts))) + ")"
                waiting.remove(group)
    found: dict[str, list[str]] = {}
    for group in memo.groups:
        texts = [_text(flat, names) for flat in memo.groups.expressions(group)]
        found.setdefault(names[group], []).extend(sorted(filter(None, texts)))
    return found


def _text(flat: Operator, names: dict[int, str]) -> str | None:
    inputs = [part.group for part in operator_inputs(flat) if isinstance(part, Hole)]
    if any(group not in names for group in inputs):
        return None

    def nameless(part: Operator) -> Operator:
        return Hole(0, part.columns, part.is_state) if isinstance(part, Hole) else part

    own = with_inputs(flat, nameless).digest.hex()
    return f"{flat.tag} {own} [{', '.join(names[group] for group in inputs)}]"
