"""What a rule of the memo is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slacktide.errors import InvariantError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Edge


def never(_binding: Binding, _memo: Memo) -> bool:
    """The condition that never holds."""
    return False


@dataclass(frozen=True, slots=True)
class MemoRule:
    """One rule: where a pattern holds, more of the memo is known.

    Attributes:
        name: verb phrase; names the rule in traces and tests.
        identity: the rule as one line of algebra.
        source: where the identity comes from.
        pattern: what it looks for.
        apply: adds to the memo.
        importance: rules of greater importance fire first.
        skip: asked at the moment of firing, not of matching; True where it is not worth it.
        is_basic: whether it fires beyond the budget, too; it may ask for nothing but rows of inputs.
    """

    name: str
    identity: str
    source: str
    pattern: tuple[Edge, ...]
    apply: Callable[[Binding, Memo], None]
    importance: int = 10
    skip: Callable[[Binding, Memo], bool] = never
    is_basic: bool = False

    def __post_init__(self) -> None:
        if not self.pattern:
            raise InvariantError(f"rule {self.name} looks for nothing")
