"""The memo: time-varying relations, what groups are to them, and how they are tied.

A time-varying relation (TVR) stands for a relation at all versions. Its forms are relations of the
algebra that mean the same; they are its DEFAULT link, which Tempura keeps apart from the last
snapshot while rules are matched (tempura.md §2). Traits link it to groups, ties to other TVRs.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.tree import inputs, relations, sources
from slacktide.common.tree import graft
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.groups import Groups
from slacktide.optimizer.memo.hole import Hole
from slacktide.optimizer.memo.trait import Tie, Trait
from slacktide.optimizer.memo.versions import Tables
from slacktide.program.operator import Operator


@dataclass(slots=True)
class Tvr:
    """A time-varying relation.

    Attributes:
        used: the changing tables that it reads.
        forms: relations that mean it, by digest of the form over the TVRs of their inputs.
        links: the group of each trait.
        ties: the TVR of each tie that goes out.
        tied: the TVRs from which ties come in.
        readers: numbers of the TVRs with a form that reads it.
    """

    used: frozenset[str]
    forms: dict[bytes, Rel] = field(default_factory=dict)
    links: dict[Trait, int] = field(default_factory=dict)
    ties: dict[Tie, int] = field(default_factory=dict)
    tied: set[tuple[Tie, int]] = field(default_factory=set)
    readers: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Formed:
    """A TVR has a form."""

    tvr: int
    rel: Rel


@dataclass(frozen=True, slots=True)
class Linked:
    """A TVR has a trait; its group may have no expression yet."""

    tvr: int
    trait: Trait


@dataclass(frozen=True, slots=True)
class Tied:
    """A TVR is tied to another."""

    source: int
    tie: Tie
    target: int


Fact = Formed | Linked | Tied


class Memo:
    """The plan space of one view.

    Args:
        tables: the tables that change.

    Attributes:
        groups: of expressions.
        facts: what is new, in order; rules take it from the front.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.groups = Groups(self._regroup)
        self.facts: deque[Fact] = deque()
        self._tvrs: dict[int, Tvr] = {}
        self._forward: dict[int, int] = {}
        self._of_rel: dict[bytes, int] = {}
        self._of_form: dict[bytes, int] = {}
        self._linked: dict[int, set[tuple[int, Trait]]] = {}
        self._work: list[tuple[int, int]] = []

    # ------------------------------------------------------------ relations

    def tvr(self, root: Rel) -> int:
        """The TVR of a relation; new with those below it where it is not known."""
        if root.digest not in self._of_rel:
            for rel in relations(root):
                if rel.digest not in self._of_rel:
                    self._of_rel[rel.digest] = self._formed(rel)
        return self.find(self._of_rel[root.digest])

    def equate(self, tvr: int, rel: Rel) -> None:
        """Know a relation as one more form of a TVR: it means the same at every version.

        Raises:
            InvariantError: it has other columns, or reads other tables that change.
        """
        known = self.relation(tvr)
        if [c.id for c in known.columns] != [c.id for c in rel.columns]:
            raise InvariantError(f"{rel.tag} has other columns than TVR {tvr}")
        self._merge(tvr, self.tvr(rel))

    def _formed(self, rel: Rel) -> int:
        key = self._form_key(rel)
        if key in self._of_form:
            return self.find(self._of_form[key])
        number = len(self._tvrs) + len(self._forward)
        self._tvrs[number] = Tvr(frozenset(self.tables.names) & frozenset(sources(rel)))
        self._tvrs[number].forms[key] = rel
        self._of_form[key] = number
        for child in inputs(rel):
            self._tvrs[self.tvr(child)].readers.add(number)
        self.facts.append(Formed(number, rel))
        return number

    def _form_key(self, rel: Rel) -> bytes:
        """A relation over the TVRs of its inputs: one digest for all forms that are congruent."""
        return graft(rel, {c.digest: self._stand_in(c) for c in inputs(rel)}).digest

    def _stand_in(self, rel: Rel) -> r.Scan:
        return r.Scan(f"\0{self.tvr(rel)}", rel.columns)

    def find(self, number: int) -> int:
        """The number under which a TVR is known now."""
        while number in self._forward:
            number = self._forward[number]
        return number

    def relation(self, tvr: int) -> Rel:
        """The first form of a TVR."""
        return next(iter(self._tvrs[self.find(tvr)].forms.values()))

    def forms(self, tvr: int) -> tuple[Rel, ...]:
        """All forms of a TVR."""
        return tuple(self._tvrs[self.find(tvr)].forms.values())

    def tvrs(self) -> tuple[int, ...]:
        """All TVRs."""
        return tuple(self._tvrs)

    def used(self, tvr: int) -> frozenset[str]:
        """The changing tables that a TVR reads."""
        return self._tvrs[self.find(tvr)].used

    def readers(self, tvr: int) -> tuple[int, ...]:
        """The TVRs with a form that reads a TVR."""
        return tuple(sorted({self.find(n) for n in self._tvrs[self.find(tvr)].readers}))

    # ------------------------------------------------------------ traits

    def links(self, tvr: int) -> dict[Trait, int]:
        """The groups that are something to a TVR."""
        return {t: self.groups.find(g) for t, g in self._tvrs[self.find(tvr)].links.items()}

    def linked(self, group: int) -> frozenset[tuple[int, Trait]]:
        """What a group is, and to which TVRs."""
        found = self._linked.get(self.groups.find(group), set())
        return frozenset((self.find(tvr), trait) for tvr, trait in found)

    def ask(self, tvr: int, trait: Trait, columns: Columns, *, of_state: bool = False) -> Hole:
        """What stands for a trait of a TVR in expressions; rules will find expressions for it."""
        tvr = self.find(tvr)
        trait = self._within(tvr, trait)
        if trait not in self._tvrs[tvr].links:
            self._link(tvr, trait, self.groups.new(columns, of_state=of_state))
        return self.groups.hole(self._tvrs[tvr].links[trait])

    def fill(self, tvr: int, trait: Trait, operator: Operator) -> None:
        """Know an operator as one way to compute a trait of a TVR."""
        tvr = self.find(tvr)
        trait = self._within(tvr, trait)
        group = self._tvrs[tvr].links.get(trait)
        found = self.groups.intern(operator, group)
        if group is None:
            self._link(self.find(tvr), trait, found)

    def _within(self, tvr: int, trait: Trait) -> Trait:
        used = self._tvrs[tvr].used
        return trait.mapped(lambda version: self.tables.within(version, used))

    def _link(self, tvr: int, trait: Trait, group: int) -> None:
        self._tvrs[tvr].links[trait] = group
        self._linked.setdefault(self.groups.find(group), set()).add((tvr, trait))
        self.facts.append(Linked(tvr, trait))

    def _regroup(self, kept: int, gone: int) -> None:
        self._linked.setdefault(kept, set()).update(self._linked.pop(gone, set()))

    # ------------------------------------------------------------ ties

    def tie(self, source: int, tie: Tie, target: int) -> None:
        """Tie two TVRs; where the tie leads elsewhere already, both targets are one TVR."""
        source, target = self.find(source), self.find(target)
        known = self._tvrs[source].ties.get(tie)
        if known is not None:
            self._merge(known, target)
            return
        self._tvrs[source].ties[tie] = target
        self._tvrs[target].tied.add((tie, source))
        self.facts.append(Tied(source, tie, target))

    def ties(self, tvr: int) -> dict[Tie, int]:
        """The TVRs that a TVR is tied to."""
        return {tie: self.find(n) for tie, n in self._tvrs[self.find(tvr)].ties.items()}

    def tied(self, tvr: int) -> frozenset[tuple[Tie, int]]:
        """The TVRs that are tied to a TVR."""
        return frozenset((tie, self.find(n)) for tie, n in self._tvrs[self.find(tvr)].tied)

    # ------------------------------------------------------------ merging

    def _merge(self, one: int, other: int) -> None:
        self._work.append((one, other))
        while self._work:
            kept, gone = sorted(map(self.find, self._work.pop()))
            if kept != gone:
                self._unite(kept, gone)

    def _unite(self, kept: int, gone: int) -> None:
        tvr, lost = self._tvrs[kept], self._tvrs[gone]
        if tvr.used != lost.used:
            raise InvariantError(f"TVR {kept} and TVR {gone} read different tables that change")
        del self._tvrs[gone]
        self._forward[gone] = kept
        for trait, group in lost.links.items():
            if trait in tvr.links:
                self.groups.merge(tvr.links[trait], group)
            else:
                self._link(kept, trait, group)
        for tie, target in lost.ties.items():
            if tie in tvr.ties:
                self._work.append((tvr.ties[tie], target))
            else:
                tvr.ties[tie] = target
                self.facts.append(Tied(kept, tie, self.find(target)))
        tvr.tied |= lost.tied
        tvr.readers |= lost.readers
        for key, rel in lost.forms.items():
            tvr.forms[key] = rel
            self._of_form[key] = kept
            self.facts.append(Formed(kept, rel))
        for reader in sorted({self.find(n) for n in lost.readers}):
            self._congruent(reader)

    def _congruent(self, number: int) -> None:
        """Know the forms of a TVR under the TVRs of their inputs as they are now."""
        tvr = self._tvrs[number]
        for key, rel in list(tvr.forms.items()):
            self.facts.append(Formed(number, rel))
            now = self._form_key(rel)
            if now == key:
                continue
            del tvr.forms[key]
            owner = self._of_form.get(key)
            if (
                owner is not None and self.find(owner) == number
            ):  # or another one has the form by now
                del self._of_form[key]
            known = self._of_form.get(now)
            if known is None or self.find(known) == number:
                self._of_form[now] = number
                tvr.forms.setdefault(now, rel)
            else:
                tvr.forms[now] = rel
                self._work.append((number, known))

    def check(self) -> None:
        """Refuse a memo whose parts contradict each other.

        Raises:
            InvariantError: a link has no other end.
        """
        self.groups.check()
        for number, tvr in self._tvrs.items():
            for trait, group in tvr.links.items():
                if (number, trait) not in self.linked(group):
                    raise InvariantError(
                        f"a group does not know that it is {trait} of TVR {number}"
                    )
            for tie, target in tvr.ties.items():
                if (tie, number) not in self.tied(target):
                    raise InvariantError(f"TVR {target} does not know its tie to TVR {number}")
            for key, rel in tvr.forms.items():
                if self.find(self._of_form.get(key, -1)) != number:
                    raise InvariantError(f"a form of TVR {number} has another owner")
                if self._form_key(rel) != key:
                    raise InvariantError(f"a form of TVR {number} is known under old inputs")
