"""What a rule looks for: a graph of operators, time-varying relations and their links (tempura.md §3.3).

A pattern is a conjunction of edges over named operands. Operators and TVRs are operands; an edge says
that an operator is a form of a TVR, that it reads one, that a TVR has a trait, or that two are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import inputs
from slacktide.optimizer.memo.memo import Fact, Formed, Linked, Memo, Tied

Binding = Mapping[str, Any]
Test = Callable[[Any], bool]


def anything(_: object) -> bool:
    """The test that all pass."""
    return True


@dataclass(frozen=True, slots=True)
class Form:
    """An operator of a class is a form of a TVR."""

    tvr: str
    rel: str
    kind: type
    test: Test = anything

    def start(self, fact: Fact) -> dict[str, Any] | None:
        """What a new fact binds; None where it is not of this edge."""
        if isinstance(fact, Formed) and isinstance(fact.rel, self.kind) and self.test(fact.rel):
            return {self.tvr: fact.tvr, self.rel: fact.rel}
        return None

    def extend(self, bound: Binding, memo: Memo) -> Iterator[dict[str, Any]]:
        """Every way to bind what is not bound yet; nothing where it does not hold."""
        if self.tvr not in bound:
            return
        for rel in memo.forms(bound[self.tvr]):
            fits = isinstance(rel, self.kind) and self.test(rel)
            if fits and bound.get(self.rel, rel) == rel:
                yield {self.rel: rel}


@dataclass(frozen=True, slots=True)
class Reads:
    """An input of an operator, which is a form of `reader`, is a form of a TVR."""

    reader: str
    rel: str
    tvr: str

    def start(self, _fact: Fact) -> dict[str, Any] | None:
        """Operators come with their TVR: no fact of its own."""
        return None

    def extend(self, bound: Binding, memo: Memo) -> Iterator[dict[str, Any]]:
        """From the operator to its inputs, or from an input to the operators that read it."""
        if self.rel in bound:
            for found in _inputs(bound[self.rel], memo):
                if memo.find(bound.get(self.tvr, found)) == found:
                    yield {self.tvr: found}
        elif self.tvr in bound:
            below = memo.find(bound[self.tvr])
            for reader in memo.readers(below):
                for rel in memo.forms(reader):
                    if below in _inputs(rel, memo):
                        yield {self.rel: rel, self.reader: reader}


def _inputs(rel: Rel, memo: Memo) -> dict[int, None]:
    """The TVRs that an operator reads."""
    return dict.fromkeys(map(memo.tvr, inputs(rel)))


@dataclass(frozen=True, slots=True)
class Has:
    """A TVR has a trait of a class."""

    tvr: str
    trait: str
    kind: type
    test: Test = anything

    def start(self, fact: Fact) -> dict[str, Any] | None:
        """What a new fact binds; None where it is not of this edge."""
        if isinstance(fact, Linked) and isinstance(fact.trait, self.kind) and self.test(fact.trait):
            return {self.tvr: fact.tvr, self.trait: fact.trait}
        return None

    def extend(self, bound: Binding, memo: Memo) -> Iterator[dict[str, Any]]:
        """Every way to bind what is not bound yet; nothing where it does not hold."""
        if self.tvr not in bound:
            return
        for trait in memo.links(bound[self.tvr]):
            if isinstance(trait, self.kind) and self.test(trait):
                yield {self.trait: trait}


@dataclass(frozen=True, slots=True)
class Leads:
    """A tie of a class leads from a TVR to another."""

    source: str
    tie: str
    kind: type
    target: str
    test: Test = anything

    def start(self, fact: Fact) -> dict[str, Any] | None:
        """What a new fact binds; None where it is not of this edge."""
        if isinstance(fact, Tied) and isinstance(fact.tie, self.kind) and self.test(fact.tie):
            return {self.source: fact.source, self.tie: fact.tie, self.target: fact.target}
        return None

    def extend(self, bound: Binding, memo: Memo) -> Iterator[dict[str, Any]]:
        """Along the tie, from either end."""
        if self.source in bound:
            for tie, target in memo.ties(bound[self.source]).items():
                same = memo.find(bound.get(self.target, target)) == target
                if isinstance(tie, self.kind) and self.test(tie) and same:
                    yield {self.tie: tie, self.target: target}
        elif self.target in bound:
            for tie, source in memo.tied(bound[self.target]):
                if isinstance(tie, self.kind) and self.test(tie):
                    yield {self.tie: tie, self.source: source}


Edge = Form | Reads | Has | Leads


def matches(pattern: tuple[Edge, ...], anchor: Edge, fact: Fact, memo: Memo) -> Iterator[Binding]:
    """All ways in which a pattern holds with one edge bound by a new fact."""
    start = anchor.start(fact)
    if start is None:
        return
    waiting = [(start, tuple(edge for edge in pattern if edge is not anchor))]
    while waiting:
        bound, edges = waiting.pop()
        if not edges:
            yield bound
            continue
        edge = next((edge for edge in edges if _touches(edge, bound)), edges[0])
        rest = tuple(other for other in edges if other is not edge)
        waiting.extend(({**bound, **more}, rest) for more in edge.extend(bound, memo))


def _touches(edge: Edge, bound: Binding) -> bool:
    names = {name for name in (getattr(edge, key, None) for key in _OPERANDS) if name}
    return not names.isdisjoint(bound)


_OPERANDS = ("tvr", "rel", "source", "target")
