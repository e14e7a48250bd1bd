"""A memo as a space of plans: groups are nodes, expressions are alternatives, prices are the caller's."""

from __future__ import annotations

from collections.abc import Callable, Collection

from slacktide.optimizer.choice.space import Alternative, Goal, PlanSpace, Storage
from slacktide.optimizer.expand import Expanded
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt
from slacktide.program.operator import Operator, operator_inputs

Price = Callable[[Operator], int]
Carrying = Callable[[int], tuple[int, int]]


def space_of(
    expanded: Expanded,
    due: Collection[int],
    price: Price,
    carrying: Carrying,
    *,
    owed: Collection[Goal] = (),
    is_forgetful: bool = True,
) -> PlanSpace:
    """Give the plan space of a view.

    Only what a relation is linked to can be carried from run to run: what stands between is never
    worth a state of its own.

    Args:
        expanded: the memo and its answers.
        due: the instants at which the answer is due.
        price: of an expression, without its inputs; the same at every instant.
        carrying: what it costs to save a group, and to load it.
        owed: what is due besides the answer.
        is_forgetful: a run has of each source the snapshots at its start and end and the changes
            between, and no earlier versions.
    """
    instants = len(expanded.answers)
    memo = expanded.memo
    alternatives: dict[int, tuple[Alternative, ...]] = {}
    storage: dict[int, Storage] = {}
    answers = (Goal(expanded.answers[instant - 1], instant) for instant in sorted(due))
    goals = (*answers, *owed)
    for group in _reachable(expanded, goals):
        alternatives[group] = tuple(
            Alternative(
                _inputs(flat),
                (price(flat),) * instants,
                _earliest(flat),
                _latest(flat) if is_forgetful else None,
            )
            for flat in memo.groups.expressions(group)
        )
        if memo.linked(group):
            save, load = carrying(group)
            storage[group] = Storage((save,) * instants, (load,) * instants)
    return PlanSpace(instants, alternatives, storage, goals)


def _reachable(expanded: Expanded, goals: Collection[Goal]) -> list[int]:
    groups = expanded.memo.groups
    waiting = [goal.node for goal in goals]
    found: dict[int, None] = {}
    while waiting:
        group = waiting.pop()
        if group not in found:
            found[group] = None
            for flat in groups.expressions(group):
                waiting.extend(_inputs(flat))
    return list(found)


def _inputs(flat: Operator) -> tuple[int, ...]:
    return tuple(part.group for part in operator_inputs(flat) if isinstance(part, Hole))


def _earliest(flat: Operator) -> int:
    match flat:
        case SnapshotAt():
            return max(1, flat.version)
        case ChangesBetween():
            return flat.end
        case _:
            return 1


def _latest(flat: Operator) -> int | None:
    match flat:
        case SnapshotAt():
            return flat.version + 1 if flat.version else None
        case ChangesBetween():
            return flat.start + 1  # over more than one interval: at no run
        case _:
            return None
