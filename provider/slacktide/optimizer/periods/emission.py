"""Programs of a chosen plan: one for each instant, joined by the states that one saves and another loads.

The last pass (architecture.md §4): operators of the memo with versions for moments, chains for what is
carried from run to run, and additive aggregates over bags by multiplicities. A chain is named by what it
holds, version included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slacktide.algebra.tree import canonical
from slacktide.common.chain_ids import state_id
from slacktide.common.digest import digest_of
from slacktide.errors import InvariantError
from slacktide.optimizer.choice.plan import ChosenPlan, Load, Source
from slacktide.optimizer.choice.space import PlanSpace
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt, with_inputs
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.programs.bases import publish_whole, save_whole
from slacktide.optimizer.rule_parts.bag_aggregate import aggregate_by_multiplicity
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program


def emit(view: str, expanded: Expanded, space: PlanSpace, plan: ChosenPlan) -> dict[int, Program]:
    """Give the program of each instant at which something is done.

    Args:
        view: name of the view.
        expanded: its memo.
        space: of plans over the memo.
        plan: that was chosen from it, where sources were at hand as runs have them.
    """
    memo = expanded.memo
    steps: dict[int, dict[str, o.Step]] = {}
    for node, made in plan.saved():
        _save(memo, node, made, steps)
    due = list(zip(space.goals, plan.goals, strict=True))
    for goal, source in due:
        if goal.is_saved:
            _save(memo, goal.node, source, steps)
    programs = {instant: tuple(saves.values()) for instant, saves in steps.items()}
    for goal, source in due:
        if not goal.is_saved:
            rows = operator_of(memo, source, lambda load: _read(memo, load))
            answer = publish_whole(view, rows)
            programs[goal.instant] = (*programs.get(goal.instant, ()), answer)
    return {instant: Program(programs[instant]) for instant in sorted(programs)}


def _save(memo: Memo, node: int, made: Source, steps: dict[int, dict[str, o.Step]]) -> None:
    chain = chain_of(memo, node)
    rows = operator_of(memo, made, lambda load: _read(memo, load))
    steps.setdefault(made.instant, {}).setdefault(chain, save_whole(chain, rows))


def chain_of(memo: Memo, group: int) -> str:
    """The chain that holds what a group gives: the least of its names, so that it is always the same."""
    names = [
        digest_of("plan", canonical(memo.relation(tvr)), repr(trait)).hex()
        for tvr, trait in memo.linked(group)
    ]
    if not names:
        raise InvariantError(f"group {group} is carried over and is nothing to any relation")
    return state_id(min(names))


def operator_of(memo: Memo, root: Source, read: Callable[[Load], Operator]) -> Operator:
    """The operators by which a run has something.

    Args:
        memo: that the plan was chosen from.
        root: what the run has.
        read: gives what is loaded.
    """
    done: dict[int, Operator] = {}
    for source in _of_run(root):
        if isinstance(source, Load):
            done[id(source)] = read(source)
            continue
        flat = memo.groups.expressions(source.node)[source.place]
        below = {item.node: done[id(item)] for item in source.inputs}
        done[id(source)] = _placed(flat, below, source.instant)
    return done[id(root)]


def _of_run(root: Source) -> Iterator[Source]:
    """What a run does for something, inputs first; what it loads was made by others."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        source, is_ready = stack.pop()
        if id(source) in seen:
            continue
        if is_ready or isinstance(source, Load):
            seen.add(id(source))
            yield source
        else:
            stack.append((source, True))
            stack.extend((item, False) for item in source.inputs)


def _placed(flat: Operator, below: dict[int, Operator], instant: int) -> Operator:
    """An expression over operators, reading sources by the moments of its run."""
    match flat:
        case SnapshotAt() if flat.version in {0, instant}:
            return o.ReadSnapshot(flat.source, flat.fields, "after")
        case SnapshotAt() if flat.version == instant - 1:
            return o.ReadSnapshot(flat.source, flat.fields, "before")
        case ChangesBetween() if (flat.start, flat.end) == (instant - 1, instant):
            return o.ReadChanges(flat.source, flat.fields)
        case SnapshotAt() | ChangesBetween():
            raise InvariantError(f"run {instant} reads {flat.source} at versions that it has not")
        case _:
            placed = with_inputs(
                flat, lambda part: below[part.group] if isinstance(part, Hole) else part
            )
            return aggregate_by_multiplicity(placed) or placed


def _read(memo: Memo, load: Load) -> Operator:
    """What an earlier run saved, or an earlier step of this one."""
    hole = memo.groups.hole(load.node)
    chain = chain_of(memo, load.node)
    if load.saved_at == load.instant:
        return o.ReadSaved(chain, hole.columns, is_bag=not hole.is_state)
    if hole.is_state:
        return o.ReadState(chain, hole.columns)
    return o.ReadBag(chain, hole.columns)
