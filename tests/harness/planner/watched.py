"""What one rule of the memo adds to it, told apart from what all others add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import METHODS, Expanded, Problem, Switches, rules_for
from slacktide.optimizer.memo.exploration import Exploration
from slacktide.optimizer.memo.hole import Hole
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetSnap, Tie, Trait
from slacktide.optimizer.memo.versions import Tables
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.program.operator import Operator

FREE = Switches(is_pruned=False, is_guided=False)


@dataclass(slots=True)
class Added:
    """What a rule has added, in order, TVRs by the numbers that they had.

    Attributes:
        filled: ways to compute traits.
        formed: relations that are a TVR, too.
        tied: ties between TVRs.
        asked: traits that are wanted.
    """

    filled: list[tuple[int, Trait, Operator]] = field(default_factory=list)
    formed: list[tuple[int, Rel]] = field(default_factory=list)
    tied: list[tuple[int, Tie, int]] = field(default_factory=list)
    asked: list[tuple[int, Trait]] = field(default_factory=list)


class Watched(Memo):
    """A memo that notes what one rule adds."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.added = Added()
        self._is_watching = False

    def watch(self, rule: MemoRule) -> MemoRule:
        """The same rule, of which is noted what it adds."""

        def apply(found: Binding, memo: Memo) -> None:
            self._is_watching = True
            try:
                rule.apply(found, memo)
            finally:
                self._is_watching = False

        return replace(rule, apply=apply)

    def fill(self, tvr: int, trait: Trait, operator: Operator) -> None:
        if self._is_watching:
            self.added.filled.append((tvr, self._within(self.find(tvr), trait), operator))
        super().fill(tvr, trait, operator)

    def equate(self, tvr: int, rel: Rel) -> None:
        if self._is_watching:
            self.added.formed.append((tvr, rel))
        super().equate(tvr, rel)

    def tie(self, source: int, tie: Tie, target: int) -> None:
        if self._is_watching:
            self.added.tied.append((source, tie, target))
        super().tie(source, tie, target)

    def ask(self, tvr: int, trait: Trait, columns: Columns, *, of_state: bool = False) -> Hole:
        if self._is_watching:
            self.added.asked.append((tvr, self._within(self.find(tvr), trait)))
        return super().ask(tvr, trait, columns, of_state=of_state)


def watched(
    rel: Rel,
    name: str,
    instants: int,
    *,
    append_only: Iterable[str] = (),
    keys: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Watched, Expanded]:
    """Explore a relation by all methods, nothing pruned, and note what one rule adds.

    Args:
        rel: the relation, which is asked for at all instants.
        name: of the rule.
        instants: how many.
        append_only: tables whose rows never go.
        keys: declared keys of tables.
    """
    tables = sources(rel)
    problem = Problem(rel, tables, instants, append_only=frozenset(append_only), keys=keys or {})
    memo = Watched(Tables(tables))
    rules = rules_for(problem, Shapes(rel, {}), METHODS, FREE, instants)
    root = memo.tvr(rel)
    answers = [
        memo.ask(root, SetSnap(memo.tables.at(at, memo.used(root))), rel.columns).group
        for at in range(1, instants + 1)
    ]
    trace = Exploration(memo, [memo.watch(r) if r.name == name else r for r in rules]).run()
    return memo, Expanded(memo, trace, tuple(map(memo.groups.find, answers)))
