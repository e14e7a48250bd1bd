"""Firing rules until nothing is new (tempura.md §3.4).

A new fact is looked up in an index by the class of its operator, trait or tie, so that it is matched
against the patterns with such an edge alone. All rules share one queue; a match fires once. The
search ends when its budget of firings or of time is spent, with what it has found: from then on those rules
alone fire that every plan may need, so that there is one.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any, Final

from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.memo.memo import Fact, Formed, Linked, Memo
from slacktide.optimizer.memo.pattern import Binding, Edge, Reads, matches
from slacktide.optimizer.memo.rule import MemoRule

MOST_FIRED: Final = 20_000


@dataclass(slots=True)
class Trace:
    """What an exploration did.

    Attributes:
        fired: by name of rule.
        matched: patterns that were tried on a new fact, by name of rule.
        skipped: firings that were not worth it, by name of rule.
        is_whole: whether the search ended because nothing was new, not because its budget was spent.
    """

    fired: Counter[str] = field(default_factory=Counter)
    matched: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    is_whole: bool = True


class Index:
    """Edges of patterns by the class that they look for."""

    def __init__(self, rules: Sequence[MemoRule]) -> None:
        self._edges: dict[type, list[tuple[MemoRule, Edge]]] = {}
        for rule in rules:
            for edge in rule.pattern:
                if not isinstance(edge, Reads):
                    self._edges.setdefault(edge.kind, []).append((rule, edge))

    def hits(self, fact: Fact) -> Iterator[tuple[MemoRule, Edge]]:
        """The rules that a fact may concern, each with the edge that it may be."""
        for kind in type(_what(fact)).__mro__:
            yield from self._edges.get(kind, ())


def _what(fact: Fact) -> object:
    if isinstance(fact, Formed):
        return fact.rel
    return fact.trait if isinstance(fact, Linked) else fact.tie


class Exploration:
    """Fires rules over a memo.

    Args:
        memo: the plan space; facts that it holds already are matched too.
        rules: all that may fire.
        boosts: factors for the importance of rules, by name.
        most_fired: the budget.
        is_spent: whether the budget of time is.
    """

    def __init__(
        self,
        memo: Memo,
        rules: Sequence[MemoRule],
        *,
        boosts: Mapping[str, int] = MappingProxyType({}),
        most_fired: int = MOST_FIRED,
        is_spent: IsSpent = never,
    ) -> None:
        self.trace = Trace()
        self._memo = memo
        self._index = Index(rules)
        self._boosts = boosts
        self._most = most_fired
        self._is_spent = is_spent
        self._queue: list[tuple[int, int, MemoRule, Binding]] = []
        self._turns = count()
        self._fired: set[tuple[str, tuple[tuple[str, Any], ...]]] = set()

    def run(self) -> Trace:
        """Fire until nothing is new; beyond the budget what is basic alone."""
        while self._take():
            _, _, rule, binding = heapq.heappop(self._queue)
            key = rule.name, tuple(sorted(self._canonical(binding).items()))
            if key in self._fired:
                continue
            if rule.skip(binding, self._memo):
                self.trace.skipped[rule.name] += 1
                continue
            if len(self._fired) >= self._most or self._is_spent():
                self.trace.is_whole = False
                if not rule.is_basic:
                    continue
            self._fired.add(key)
            self.trace.fired[rule.name] += 1
            rule.apply(binding, self._memo)
        return self.trace

    def _take(self) -> bool:
        """Match what is new; whether there is anything to fire."""
        facts = self._memo.facts
        while facts:
            fact = facts.popleft()
            for rule, edge in self._index.hits(fact):
                self.trace.matched[rule.name] += 1
                score = rule.importance * self._boosts.get(rule.name, 1)
                for binding in matches(rule.pattern, edge, fact, self._memo):
                    heapq.heappush(self._queue, (-score, next(self._turns), rule, binding))
        return bool(self._queue)

    def _canonical(self, binding: Binding) -> dict[str, Any]:
        """Numbers of TVRs as they are now, and nodes by what they are."""
        found: dict[str, Any] = {}
        for name, value in binding.items():
            found[name] = self._memo.find(value) if isinstance(value, int) else value
        return found
