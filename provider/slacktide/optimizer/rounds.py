"""One round of maintenance as a run of the engine: states grow by segments, the answer by its change.

A memo over two instants is enough for all rounds: the first instant is what the last run has left, the second
what this one makes. States have the ids that they have today (`slacktide.optimizer.states`), so that a
view goes on from what the engine has stored. Each round either goes on from its states or makes all
anew, whichever is cheaper; either way they are there for the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from slacktide.errors import InvariantError
from slacktide.optimizer.applications import Planned
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import Key, total
from slacktide.optimizer.choice.plan import Load, Run, Source
from slacktide.optimizer.choice.space import Alternative, Goal
from slacktide.optimizer.emission import operator_of
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.hole import ChangesBetween, SnapshotAt
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.plan_space import Carrying, Price, space_of
from slacktide.optimizer.states import bag_chain, chain_of
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program

START, END = 1, 2
_ANSWER = -1


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored from round to round.

    Attributes:
        chain: id of the state.
        before: the group of what is stored at the start.
        after: that of what is to be stored at the end.
        change: that of what leads from one to the other; None where it does not change.
    """

    chain: str
    before: int
    after: int
    change: int | None


@dataclass(frozen=True, slots=True)
class Round:
    """A planned round.

    Attributes:
        program: of the run.
        key: what it costs.
        is_anew: whether it makes answer and states anew.
    """

    program: Program
    key: Key
    is_anew: bool


def worth_keeping(expanded: Expanded, planned: Planned) -> tuple[int, ...]:
    """The groups that a plan of maintenance over two instants loads of the first one."""
    answer = expanded.answers[0]
    found = {
        source.node
        for source, _ in planned.choice.plan.uses()
        if isinstance(source, Load) and (source.saved_at, source.instant) == (START, END)
    }
    return tuple(sorted(group for group in found - {answer} if _state_of(expanded.memo, group)))


class Rounds:
    """Plans the rounds of one view.

    Args:
        view: its name.
        expanded: its memo over two instants.
        kept: the groups, as of the first instant, that are stored from round to round.
        price: of an expression.
        carrying: what it costs to save a group, and to load it.
        conf: the SQL settings of the view.
    """

    def __init__(
        self,
        view: str,
        expanded: Expanded,
        kept: Collection[int],
        *,
        price: Price,
        carrying: Carrying,
        conf: Mapping[str, str],
    ) -> None:
        if len(expanded.answers) != END:
            raise InvariantError("rounds are planned over two instants")
        self._view = view
        self._expanded = expanded
        self._memo = expanded.memo
        self._carrying = carrying
        self._kept = [_kept(expanded.memo, group, conf) for group in kept]
        wanted = {kept.after for kept in self._kept} | {kept.change for kept in self._kept}
        owed = [Goal(group, END) for group in sorted(g for g in wanted if g is not None)]
        answer = self._answer_change()
        owed += [] if answer is None else [Goal(answer, END)]
        self._space = space_of(expanded, [END], price, carrying, owed=owed, is_forgetful=True)

    def best(self) -> Round:
        """The cheaper one: to go on, or to make all anew."""
        return min(self.onward(), self.anew(), key=lambda planned: planned.key)

    def anew(self) -> Round:
        """Plan answer and states from the sources as they are at the end."""
        alternatives = {
            node: tuple(
                _at_end(alternative)
                if not _is_of_start(flat)
                else replace(alternative, earliest=END + 1)
                for alternative, flat in zip(
                    found, self._memo.groups.expressions(node), strict=True
                )
            )
            for node, found in self._space.alternatives.items()
        }
        goals = [Goal(kept.after, END, is_saved=True) for kept in self._kept]
        goals.append(Goal(self._expanded.answers[1], END))
        space = replace(self._space, alternatives=alternatives, goals=tuple(goals))
        choice = choose(space, total(END), most_candidates=0)
        *states, answer = choice.plan.goals
        steps: list[o.Step] = [
            self._base(kept.chain, made) for kept, made in zip(self._kept, states, strict=True)
        ]
        steps.append(o.Publish(self._view, self._operator(answer), is_base=True))
        return Round(Program(tuple(steps)), choice.key, is_anew=True)

    def _base(self, chain: str, made: Source) -> o.Save:
        """A state written anew, its rows sorted by their leading column."""
        rows = self._operator(made)
        order = tuple(column.id for column in rows.columns[:1])
        return o.Save(chain, _consolidated(rows), is_base=True, order=order)

    def onward(self) -> Round:
        """Plan what changes the answer and the states, from what is stored."""
        alternatives = {
            node: tuple(_at_end(alternative) for alternative in found)
            for node, found in self._space.alternatives.items()
        }
        alternatives[_ANSWER] = self._publishing()
        space = replace(
            self._space,
            alternatives=alternatives,
            kept=frozenset({self._expanded.answers[0], *(kept.before for kept in self._kept)}),
            goals=(Goal(_ANSWER, END),),
        )
        owed = [(kept.change, END) for kept in self._kept if kept.change is not None]
        choice = choose(space, total(END), owed=owed, most_candidates=0)
        return Round(self._program(choice), choice.key, is_anew=False)

    def _publishing(self) -> tuple[Alternative, ...]:
        """The answer by its change, or whole."""
        change, whole = self._answer_change(), self._expanded.answers[1]
        groups = (whole,) if change is None else (change, whole)
        return tuple(
            Alternative((group,), (self._carrying(group)[0],) * END, END) for group in groups
        )

    def _answer_change(self) -> int | None:
        found = _traits(self._memo, self._expanded.answers[0])
        (tvr, snap) = next((t, s) for t, s in found if isinstance(s, SetSnap))
        return _change_of(self._memo, tvr, snap)

    def _program(self, choice: Choice) -> Program:
        steps: list[o.Step] = []
        chains = {kept.change: kept.chain for kept in self._kept}
        for state in choice.plan.states:
            rows = _consolidated(self._operator(state.made))
            steps.append(o.Save(chains[state.node], rows, is_base=False))
        (answer,) = choice.plan.goals
        if not isinstance(answer, Run):
            raise InvariantError("an answer is published, not loaded")
        (published,) = answer.inputs
        is_base = published.node == self._expanded.answers[1]
        rows = self._operator(published)
        rows = rows if is_base else _consolidated(rows)
        steps.append(o.Publish(self._view, rows, is_base=is_base))
        return Program(tuple(steps))

    def _operator(self, made: Source) -> Operator:
        return operator_of(self._memo, made, self._read)

    def _read(self, load: Load) -> Operator:
        """A state as it was at the start, or the segment that this run has saved."""
        hole = self._memo.groups.hole(load.node)
        if load.node == self._expanded.answers[0]:
            return o.ReadBag(f"views/{self._view}", hole.columns)
        for kept in self._kept:
            if load.node == kept.change:
                return o.ReadSaved(kept.chain, hole.columns, is_bag=not hole.is_state)
            if load.node == kept.before:
                read = o.ReadState if hole.is_state else o.ReadBag
                return read(kept.chain, hole.columns)
        raise InvariantError(f"group {load.node} is loaded and not kept")


def _consolidated(rows: Operator) -> Operator:
    return rows if rows.is_state or isinstance(rows, o.Consolidate) else o.Consolidate(rows)


def _at_end(alternative: Alternative) -> Alternative:
    return replace(alternative, earliest=END)


def _is_of_start(flat: Operator) -> bool:
    """Whether a leaf needs what was before: a first run has only what there is."""
    return isinstance(flat, ChangesBetween) or (
        isinstance(flat, SnapshotAt) and flat.version == START
    )


def _kept(memo: Memo, group: int, conf: Mapping[str, str]) -> Kept:
    found = _state_of(memo, group)
    if found is None:
        raise InvariantError(f"group {group} is not the state of a relation")
    tvr, trait = found
    rel = memo.relation(tvr)
    later = trait.mapped(lambda version: moved(version, 1))
    columns = memo.groups.hole(group).columns
    after = memo.ask(tvr, later, columns, of_state=isinstance(trait, ValSnap)).group
    chain = bag_chain(rel, conf)
    if isinstance(trait, ValSnap):
        layout = next(form for form in memo.forms(tvr) if form.digest == trait.layout)
        chain = chain_of(layout, conf)  # type: ignore[arg-type]  # only aggregates have states
    return Kept(chain, group, after, _change_of(memo, tvr, trait))


def _state_of(memo: Memo, group: int) -> tuple[int, SetSnap | ValSnap] | None:
    """The relation that a group is the rows or the state of, at the start."""
    for tvr, trait in _traits(memo, group):
        if isinstance(trait, SetSnap | ValSnap) and realised(trait.version) == START:
            return tvr, trait
    return None


def _change_of(memo: Memo, tvr: int, trait: SetSnap | ValSnap) -> int | None:
    later = moved(trait.version, 1)
    if later == trait.version:
        return None
    change: Trait = SetDelta(trait.version, later)
    if isinstance(trait, ValSnap):
        change = ValDelta(trait.layout, trait.version, later)
    return memo.links(tvr).get(change)


def _traits(memo: Memo, group: int) -> list[tuple[int, Trait]]:
    return sorted(memo.linked(group), key=lambda link: (link[0], repr(link[1])))
