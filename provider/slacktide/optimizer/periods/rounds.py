"""Rounds of maintenance as runs of the engine: states grow by segments, the answer by its change.

The first instant of the memo is what the last due run has left, the last one is when the answer is due
again; between them lie runs that have stored something for it. A due run goes on from all that is stored, or makes
all anew; either way the states are there for the next round. A run before it stores what pays by its
weight (tempura.md §5, progressive days: plan the run at hand and the due one, never more).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from slacktide.algebra.tree import sources
from slacktide.common.chain_ids import answer_id
from slacktide.errors import InvariantError
from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import Key, Weighted, total
from slacktide.optimizer.choice.plan import Load, Run, Source
from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.emptiness import Quiet, empty_groups
from slacktide.optimizer.memo.hole import ChangesBetween, SnapshotAt
from slacktide.optimizer.memo.trait import SetSnap
from slacktide.optimizer.periods.applications import Planned
from slacktide.optimizer.periods.emission import operator_of
from slacktide.optimizer.periods.kept import START, Kept, change_of, kept_of, snaps_at_start
from slacktide.optimizer.periods.period_chains import NO_NAMES, Naming
from slacktide.optimizer.periods.plan_space import Carrying, Price, space_of
from slacktide.optimizer.programs.bases import publish_whole, save_whole
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program

_ANSWER = -1


@dataclass(frozen=True, slots=True)
class Round:
    """A planned round.

    Attributes:
        program: of the run.
        key: what it costs.
    """

    program: Program
    key: Key


@dataclass(frozen=True, slots=True)
class Early:
    """What a run stores before the answer is due.

    Attributes:
        program: of the run.
        scopes: the sources that each of the chains which it writes is made of.
        cost: of this run and the due one, each times its weight, in the units of the prices.
    """

    program: Program
    scopes: Mapping[str, tuple[str, ...]]
    cost: Fraction


def worth_keeping(expanded: Expanded, planned: Planned, conf: Mapping[str, str]) -> list[Kept]:
    """What a plan of maintenance over two instants loads of the first one."""
    answer = expanded.answers[0]
    found = {
        source.node
        for source, _ in planned.choice.plan.uses()
        if isinstance(source, Load) and (source.saved_at, source.instant) == (START, START + 1)
    }
    memo = expanded.memo
    groups = sorted(group for group in found - {answer} if any(snaps_at_start(memo, group)))
    return [kept_of(memo, group, conf, START + 1) for group in groups]


class Rounds:
    """Plans the rounds of one view.

    Args:
        view: its name.
        expanded: its memo over two instants or more.
        kept: what is stored from round to round.
        price: of an expression.
        carrying: what it costs to save a group, and to load it.
        naming: of what runs before the due one store, and have stored.
        is_spent: whether planning has taken all the time that it may.
    """

    def __init__(
        self,
        view: str,
        expanded: Expanded,
        kept: Sequence[Kept],
        *,
        price: Price,
        carrying: Carrying,
        naming: Naming = NO_NAMES,
        is_spent: IsSpent = never,
    ) -> None:
        self._end = len(expanded.answers)
        if self._end <= START:
            raise InvariantError("rounds are planned over two instants or more")
        self._view = view
        self._expanded = expanded
        self._memo = expanded.memo
        self._price = price
        self._carrying = carrying
        self._naming = naming
        self._is_spent = is_spent
        self._is_cut = False
        self._kept = kept
        wanted = {kept.after for kept in self._kept} | {kept.change for kept in self._kept}
        owed = [Goal(group, self._end) for group in sorted(g for g in wanted if g is not None)]
        answer = self._answer_change()
        owed += [] if answer is None else [Goal(answer, self._end)]
        self._space = space_of(expanded, [self._end], price, carrying, owed=owed)

    @property
    def is_whole(self) -> bool:
        """Whether no search, for ways and for states, has ended because its budget was spent."""
        return self._expanded.trace.is_whole and not self._is_cut

    def anew(self) -> Round:
        """Plan answer and states from the sources as they are at the end."""
        alternatives = {
            node: tuple(
                _not_before(alternative, self._end)
                if not _is_of_start(flat)
                else replace(alternative, earliest=self._end + 1)
                for alternative, flat in zip(
                    found, self._memo.groups.expressions(node), strict=True
                )
            )
            for node, found in self._space.alternatives.items()
        }
        goals = [Goal(kept.after, self._end, is_saved=True) for kept in self._kept]
        goals.append(Goal(self._expanded.answers[-1], self._end))
        space = replace(self._space, alternatives=alternatives, goals=tuple(goals))
        choice = choose(space, total(self._end), most_candidates=0)
        *states, answer = choice.plan.goals
        steps: list[o.Step] = [
            save_whole(kept.chain, self._operator(made, self._end))
            for kept, made in zip(self._kept, states, strict=True)
        ]
        steps.append(publish_whole(self._view, self._operator(answer, self._end)))
        return Round(Program(tuple(steps)), choice.key)

    def onward(self) -> Round:
        """Plan what changes the answer and the states, from what is stored."""
        stored = self._naming.found(self._memo, self._end - 1)
        space, owed = self._going_on(self._end, stored)
        choice = choose(space, total(self._end), owed=owed, most_candidates=0)
        return Round(self._program(choice, stored), choice.key)

    def early(self, weight: Fraction, due: Fraction, quiet: Quiet = frozenset()) -> Early:
        """Plan what the run before the due one stores, so that both together cost least.

        Args:
            weight: of what this run costs.
            due: of what the due run costs.
            quiet: the tables that are expected not to change until the due run, or have not. What follows from
                that is taken to cost the due run nothing; it is planned again, by what has come.
        """
        now = self._end - 1
        stored = self._naming.found(self._memo, now - 1)
        space, owed = self._going_on(now, stored)
        nothing = Alternative((), (0,) * self._end, self._end)
        empty = dict.fromkeys(empty_groups(self._memo, quiet), (nothing,))
        space = replace(
            space,
            alternatives={
                n: (*found, *empty.get(n, ())) for n, found in space.alternatives.items()
            },
        )
        objective = Weighted((Fraction(1),) * (now - 1) + (weight, due))
        choice = choose(space, objective, owed=owed, is_spent=self._is_spent)
        self._is_cut |= not choice.is_whole
        saves: dict[str, o.Step] = {}
        scopes: dict[str, tuple[str, ...]] = {}
        for node, made in choice.plan.saved():
            if made.instant != now:
                continue
            chain = self._naming.name(self._memo, node, now)
            saves.setdefault(chain, save_whole(chain, self._operator(made, now, stored)))
            scopes[chain] = self._sources(node)
        cost = Fraction(choice.key[0], objective.unit)
        return Early(Program(tuple(saves.values())), scopes, cost)

    def _going_on(
        self, now: int, stored: Collection[int]
    ) -> tuple[PlanSpace, list[tuple[int, int]]]:
        """The space of plans that go on from what is stored, at an instant or later, and what they owe."""
        alternatives = {
            node: tuple(_not_before(alternative, now) for alternative in found)
            for node, found in self._space.alternatives.items()
        }
        alternatives[_ANSWER] = self._publishing()
        space = replace(
            self._space,
            alternatives=alternatives,
            kept=frozenset(
                {
                    self._expanded.answers[0],
                    *(kept.before for kept in self._kept),
                    *stored,
                }
            ),
            goals=(Goal(_ANSWER, self._end),),
        )
        changes = (kept.change for kept in self._kept if kept.change is not None)
        return space, [(change, self._end) for change in dict.fromkeys(changes)]

    def _sources(self, group: int) -> tuple[str, ...]:
        found = {
            s for tvr, _ in self._memo.linked(group) for s in sources(self._memo.relation(tvr))
        }
        return tuple(sorted(found))

    def _publishing(self) -> tuple[Alternative, ...]:
        """The answer by its change, or whole: that is grouped before it is written, and is no smaller than what is stored."""
        change, whole = self._answer_change(), self._expanded.answers[-1]
        grouping = self._price(o.Consolidate(self._memo.groups.hole(whole)))
        costs = {whole: grouping + self._carrying(whole)[0]}
        if change is not None:
            costs = {change: self._carrying(change)[0], **costs}
        return tuple(
            Alternative((group,), (cost,) * self._end, self._end) for group, cost in costs.items()
        )

    def _answer_change(self) -> int | None:
        found = snaps_at_start(self._memo, self._expanded.answers[0])
        tvr, snap = next((t, s) for t, s in found if isinstance(s, SetSnap))
        return change_of(self._memo, tvr, snap, self._end)

    def _program(self, choice: Choice, stored: Mapping[int, str]) -> Program:
        steps: list[o.Step] = []
        for state in choice.plan.states:
            rows = o.consolidated(self._operator(state.made, self._end, stored))
            steps += [
                o.Save(kept.chain, rows, is_base=False)
                for kept in self._kept
                if kept.change == state.node
            ]
        (answer,) = choice.plan.goals
        if not isinstance(answer, Run):
            raise InvariantError("an answer is published, not loaded")
        (published,) = answer.inputs
        rows = self._operator(published, self._end, stored)
        if published.node == self._expanded.answers[-1]:
            steps.append(publish_whole(self._view, rows))
        else:
            steps.append(o.Publish(self._view, o.consolidated(rows), is_base=False))
        return Program(tuple(steps))

    def _operator(
        self, made: Source, now: int, stored: Mapping[int, str] = MappingProxyType({})
    ) -> Operator:
        return operator_of(self._memo, made, lambda load: self._read(load, now, stored))

    def _read(self, load: Load, now: int, stored: Mapping[int, str]) -> Operator:
        """What was stored before a run, or what this one has saved."""
        hole = self._memo.groups.hole(load.node)
        read = o.ReadState if hole.is_state else o.ReadBag
        if load.node == self._expanded.answers[0]:
            return o.ReadBag(answer_id(self._view), hole.columns)
        for kept in self._kept:
            if load.node == kept.change and load.saved_at == self._end:
                return o.ReadSaved(kept.chain, hole.columns, is_bag=not hole.is_state)
            if load.node == kept.before:
                return read(kept.chain, hole.columns)
        if load.saved_at == 0:
            return read(stored[load.node], hole.columns)
        name = self._naming.name(self._memo, load.node, now)
        return o.ReadSaved(name, hole.columns, is_bag=not hole.is_state)


def _not_before(alternative: Alternative, instant: int) -> Alternative:
    return replace(alternative, earliest=max(alternative.earliest, instant))


def _is_of_start(flat: Operator) -> bool:
    """Whether a leaf needs what was before: a first run has only what there is."""
    return isinstance(flat, ChangesBetween) or (
        isinstance(flat, SnapshotAt) and flat.version == START
    )
