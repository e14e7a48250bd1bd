"""Translational symmetry: what was found between two instants holds between any two (tempura.md §3.5).

A sample over the first two instants is explored; its groups are then copied to every later pair.
Rules are not matched again, so that their firings do not depend on the number of instants.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from slacktide.errors import InvariantError
from slacktide.optimizer.memo.hole import ChangesBetween, Hole, SnapshotAt, moved_leaf, with_inputs
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import Trait
from slacktide.optimizer.memo.versions import moved
from slacktide.program.operator import Operator, operator_inputs


@dataclass(frozen=True, slots=True)
class Sample:
    """The groups of a memo and their expressions before they are copied.

    Attributes:
        groups: the expressions of each group; those without a link stand after what they read.
        linked: what a group is to TVRs.
    """

    groups: dict[int, tuple[Operator, ...]] = field(default_factory=dict)
    linked: dict[int, frozenset[tuple[int, Trait]]] = field(default_factory=dict)


def copy_to_instants(memo: Memo, instants: int) -> None:
    """Copy a memo that was explored over two instants to as many as there are."""
    sample = _sample(memo)
    for shift in range(1, instants - 1):
        _copy(memo, sample, shift)
    memo.facts.clear()


def _sample(memo: Memo) -> Sample:
    sample = Sample()
    for root in memo.groups:
        sample.linked[root] = memo.linked(root)
        stack = [(root, False)]
        while stack:
            group, is_ready = stack.pop()
            if group in sample.groups:
                continue
            below = {h for flat in memo.groups.expressions(group) for h in _read(flat)}
            loose = [h for h in below if h not in sample.groups and not memo.linked(h)]
            if is_ready or not loose:
                sample.groups[group] = memo.groups.expressions(group)
            else:
                stack.append((group, True))
                stack.extend((h, False) for h in loose)
    return sample


def _copy(memo: Memo, sample: Sample, shift: int) -> None:
    copies: dict[int, Hole] = {}
    for group, linked in sample.linked.items():
        hole = memo.groups.hole(group)
        for tvr, trait in sorted(linked, key=lambda link: (link[0], repr(link[1]))):
            later = trait.mapped(lambda version: moved(version, shift))
            asked = memo.ask(tvr, later, hole.columns, of_state=hole.is_state)
            known = copies.setdefault(group, asked)
            memo.groups.merge(known.group, asked.group)
    for group, expressions in sample.groups.items():
        for flat in expressions:
            there = copies.get(group)
            into = None if there is None else there.group
            found = memo.groups.intern(_moved(flat, copies, shift), into)
            copies[group] = memo.groups.hole(found)


def _moved(flat: Operator, copies: dict[int, Hole], shift: int) -> Operator:
    if isinstance(flat, SnapshotAt | ChangesBetween):
        return moved_leaf(flat, shift)

    def move(part: Operator) -> Operator:
        if not isinstance(part, Hole) or part.group not in copies:
            raise InvariantError(f"{flat.tag} reads what has not been copied")
        return copies[part.group]

    return with_inputs(flat, move)


def _read(flat: Operator) -> list[int]:
    return [part.group for part in operator_inputs(flat) if isinstance(part, Hole)]
