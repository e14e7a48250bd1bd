"""What a rule of the memo adds, written for people, and proved by the reference interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import to_text
from slacktide.algebra.tree import sources
from slacktide.common.node import Node
from slacktide.common.tree import rewrite
from slacktide.errors import DataError
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt, SnapshotNear
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import Version
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from slacktide.program.textual import program_text
from tests.harness.histories import shapes_of
from tests.harness.memory import same_bag
from tests.harness.planner.groups import Batch, Filled, same
from tests.harness.planner.keyed import history
from tests.harness.planner.watched import watched

HISTORIES = 5
_PARTS = {"Kept": "P", "Held": "N", "KeptGroups": "P", "HeldGroups": "N"}
"""Ties to the parts of a relation, Q, of IM-2: QP and QN."""


class Told:
    """What one rule adds to the memo of a relation for the last of some instants, of that relation alone.

    Args:
        rel: the relation, Q.
        rule: name of the rule.
        instants: how many.
        append_only: tables whose rows never go.
        keys: declared keys of tables.
    """

    def __init__(
        self,
        rel: Rel,
        rule: str,
        instants: int = 2,
        append_only: Iterable[str] = (),
        keys: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._rel = rel
        self._instants = instants
        self._memo, self._space = watched(rel, rule, instants, append_only=append_only, keys=keys)
        self._root = self._memo.tvr(rel)

    def lines(self) -> Iterator[str]:
        """One way, form, tie or question after another; nothing where the rule adds nothing."""
        added = self._memo.added
        ways = dict.fromkeys(
            (trait, op)
            for tvr, trait, op in added.filled
            if self._is_root(tvr) and self._instants in trait.versions()[-1]
        )
        for trait, operator in ways:
            yield f"{self._named(self._root, trait)} ="
            yield from self._operator(operator)
        for rel in dict.fromkeys(rel for tvr, rel in added.formed if self._is_root(tvr)):
            yield "Q ="
            yield from _indented(to_text(rel))
        ties = {tie: target for tvr, tie, target in added.tied if self._is_root(tvr)}
        for tie, target in ties.items():
            yield f"{type(tie).__name__} of Q ="
            yield from _indented(to_text(self._memo.relation(target)))
        for trait in dict.fromkeys(t for tvr, t in added.asked if self._is_root(tvr) and not ways):
            yield f"asks for {self._named(self._root, trait)}"

    def differing(self) -> list[str]:
        """What the rule adds that is not what batch gives, under random changes."""
        shapes, found = shapes_of(self._rel), []
        for seed in range(HISTORIES):
            batches: list[Batch] = [*history(random.Random(seed), shapes, self._instants)]  # noqa: S311
            filled = Filled(self._space, sources(self._rel), shapes, batches)
            found += [
                f"{self._named(tvr, trait)} by {op.tag} of history {seed}"
                for tvr, trait, op in self._memo.added.filled
                if not self._is_equal(filled, tvr, trait, op)
            ]
            found += [
                f"{self._name(tvr)} as {rel.tag} of history {seed}"
                for tvr, rel in self._memo.added.formed
                if not self._is_form(filled, tvr, rel)
            ]
        return found

    def _is_equal(self, filled: Filled, tvr: int, trait: Trait, operator: Operator) -> bool:
        group = self._memo.links(tvr)[trait]
        try:
            return same(filled.run(operator), filled.rows[group], self._memo.groups.hole(group))
        except DataError:
            return False

    def _is_form(self, filled: Filled, tvr: int, rel: Rel) -> bool:
        """Whether a relation has the rows of another at every instant."""
        used = self._memo.used(tvr)
        versions = [self._memo.tables.at(at, used) for at in range(1, self._instants + 1)]
        return all(
            same_bag(filled.evaluated(rel, version), filled.batch(tvr, version))
            for version in versions
        )

    def _is_root(self, tvr: int) -> bool:
        return self._memo.find(tvr) == self._memo.find(self._root)

    def _operator(self, operator: Operator) -> list[str]:
        """An operator over what it reads by name, as programs are written."""

        def read(part: Node) -> Node | None:
            match part:
                case SnapshotAt():
                    near = " near" if isinstance(part, SnapshotNear) else ""
                    return o.ReadBag(f"{part.source}@{part.version or 1}{near}", part.columns)
                case ChangesBetween():
                    return o.ReadBag(f"Δ{part.source}({part.start}→{part.end})", part.columns)
                case Hole():
                    name = self._of_group(part.group)
                    return (o.ReadState if part.is_state else o.ReadBag)(name, part.columns)
                case _:
                    return None

        root = rewrite(operator, read)
        step = (
            o.Save("", root, is_base=True) if root.is_state else o.Publish("", root, is_base=True)
        )
        return program_text(o.Program((step,))).splitlines()[1:]

    def _of_group(self, group: int) -> str:
        """What a group is, by the name of the first relation of which it is that."""
        tvr, trait = min(self._memo.linked(group), key=lambda link: (link[0], str(link[1])))
        return self._named(tvr, trait)

    def _named(self, tvr: int, trait: Trait) -> str:
        name = self._name(tvr)
        match trait:
            case SetSnap(version):
                return f"{name}@{_at(version)}"
            case SetDelta(start, end):
                return f"Δ{name}({_at(start)}→{_at(end)})"
            case ValSnap(_, version):
                return f"state({name})@{_at(version)}"
            case ValDelta(_, start, end):
                return f"Δstate({name})({_at(start)}→{_at(end)})"
            case _:
                return f"{type(trait).__name__}({name})"

    def _name(self, tvr: int) -> str:
        """Q, the name of a source, or the operator that a relation is with what it is over."""
        if self._is_root(tvr):
            return "Q"
        for tie, source in sorted(self._memo.tied(tvr), key=str):
            if type(tie).__name__ in _PARTS:
                return self._name(source) + _PARTS[type(tie).__name__]
        rel = self._memo.relation(tvr)
        if isinstance(rel, r.Scan):
            return rel.source
        return f"{rel.tag}[{','.join(sources(rel))}]"


def _at(version: Version) -> str:
    """An instant, or the version of each table where they differ."""
    numbers = [number for number in version if number]
    return str(numbers[0]) if len(set(numbers)) == 1 else f"({','.join(map(str, version))})"


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
