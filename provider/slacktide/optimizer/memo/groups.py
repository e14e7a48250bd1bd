"""Groups of expressions that compute the same rows, kept apart by digest and merged by congruence.

A group is found by its number, and by an older number after it was merged away (union-find). Two
expressions with one operator over the same groups are one expression; where they stood in two
groups, these are one group. Merging goes by a list of work, never by recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from slacktide.algebra.relation import Columns
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.hole import Hole, with_inputs
from slacktide.program.operator import Operator, operator_inputs


@dataclass(slots=True)
class Group:
    """Expressions that all give the same bag, or the same partial aggregates once merged.

    Attributes:
        hole: stands for the group in the expressions that read it.
        expressions: by digest.
        readers: digests of the expressions that read the group, in an order that is the same in every process.
    """

    hole: Hole
    expressions: dict[bytes, Operator] = field(default_factory=dict)
    readers: dict[bytes, None] = field(default_factory=dict)


class Groups:
    """All groups of a memo.

    Args:
        on_merge: told the number that stays and the one that goes.
    """

    def __init__(self, on_merge: Callable[[int, int], None]) -> None:
        self._groups: dict[int, Group] = {}
        self._forward: dict[int, int] = {}
        self._owner: dict[bytes, int] = {}
        self._work: list[tuple[int, int]] = []
        self._on_merge = on_merge
        self._next = 0

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._groups))

    def __len__(self) -> int:
        return len(self._groups)

    def new(self, columns: Columns, *, of_state: bool) -> int:
        """Make a group without expressions."""
        number, self._next = self._next, self._next + 1
        self._groups[number] = Group(Hole(number, columns, of_state))
        return number

    def find(self, number: int) -> int:
        """The number under which a group is known now."""
        path = []
        while number in self._forward:
            path.append(number)
            number = self._forward[number]
        for passed in path:
            self._forward[passed] = number
        return number

    def hole(self, number: int) -> Hole:
        """What stands for a group in expressions."""
        return self._groups[self.find(number)].hole

    def expressions(self, number: int) -> tuple[Operator, ...]:
        """The expressions of a group, in the order in which they were found."""
        return tuple(self._groups[self.find(number)].expressions.values())

    def size(self) -> int:
        """The number of all expressions."""
        return len(self._owner)

    def intern(self, root: Operator, into: int | None = None) -> int:
        """Register an operator tree, each operator as an expression.

        Args:
            root: over holes and leaves.
            into: the group that computes the same; a new or known one where there is none.

        Returns:
            The group of the root.
        """
        done: dict[bytes, Hole] = {}
        stack = [(root, False)]
        while stack:
            node, is_ready = stack.pop()
            if node.digest in done:
                continue
            if isinstance(node, Hole):
                done[node.digest] = self.hole(node.group)
            elif is_ready:
                flat = with_inputs(node, lambda part: done[part.digest])
                target = into if node is root else None
                done[node.digest] = self.hole(self._register(flat, target))
            else:
                stack.append((node, True))
                stack.extend((part, False) for part in operator_inputs(node))
        found = done[root.digest].group
        if into is not None:
            self.merge(into, found)
        return self.find(found)

    def _register(self, flat: Operator, into: int | None) -> int:
        flat = self._canonical(flat)
        known = self._owner.get(flat.digest)
        if known is not None:
            return self.find(known)
        if into is not None and any(h.group == self.find(into) for h in _holes(flat)):
            return self.find(into)
        number = self.new(flat.columns, of_state=flat.is_state) if into is None else self.find(into)
        self._own(number, flat)
        return number

    def _own(self, number: int, flat: Operator) -> None:
        group = self._groups[number]
        _fits(group.hole, flat)
        group.expressions[flat.digest] = flat
        self._owner[flat.digest] = number
        for hole in _holes(flat):
            self._groups[hole.group].readers[flat.digest] = None

    def _canonical(self, flat: Operator) -> Operator:
        if all(hole.group not in self._forward for hole in _holes(flat)):
            return flat
        return with_inputs(
            flat, lambda part: self.hole(part.group) if isinstance(part, Hole) else part
        )

    def merge(self, one: int, other: int) -> None:
        """Make two groups one, and those that are one for that reason."""
        self._work.append((one, other))
        while self._work:
            kept, gone = sorted(map(self.find, self._work.pop()))
            if kept != gone:
                self._unite(kept, gone)

    def _unite(self, kept: int, gone: int) -> None:
        group, lost = self._groups[kept], self._groups.pop(gone)
        _fits(group.hole, lost.hole)
        self._forward[gone] = kept
        for digest, flat in lost.expressions.items():
            group.expressions[digest] = flat
            self._owner[digest] = kept
        group.readers |= lost.readers
        for digest in lost.readers:
            self._rewritten(digest)
        for digest, flat in list(group.expressions.items()):
            if any(hole.group == kept for hole in _holes(flat)):
                self._forget(digest)
        self._on_merge(kept, gone)

    def _rewritten(self, digest: bytes) -> None:
        """Know an expression under its new inputs; where it is known already, groups are one."""
        number = self._owner.get(digest)
        if number is None:
            return
        number = self.find(number)
        flat = self._forget(digest)
        moved = self._canonical(flat)
        known = self._owner.get(moved.digest)
        if known is not None:
            self._work.append((number, known))
        elif all(hole.group != number for hole in _holes(moved)):
            self._own(number, moved)

    def _forget(self, digest: bytes) -> Operator:
        number = self.find(self._owner.pop(digest))
        flat = self._groups[number].expressions.pop(digest)
        for hole in _holes(flat):
            self._groups[self.find(hole.group)].readers.pop(digest, None)
        return flat

    def check(self) -> None:
        """Refuse a memo whose parts contradict each other.

        Raises:
            InvariantError: a link has no other end.
        """
        for number, group in self._groups.items():
            for digest, flat in group.expressions.items():
                if self.find(self._owner.get(digest, -1)) != number:
                    raise InvariantError(f"an expression of group {number} has another owner")
                for hole in _holes(flat):
                    there = self._groups.get(hole.group)
                    if there is None or digest not in there.readers:
                        raise InvariantError(
                            f"group {hole.group} does not know its reader {number}"
                        )
                    if hole.group == number:
                        raise InvariantError(
                            f"an expression of group {number} reads the group itself"
                        )
            if any(digest not in self._owner for digest in group.readers):
                raise InvariantError(f"group {number} has a reader that is gone")


def _holes(flat: Operator) -> tuple[Hole, ...]:
    return tuple(part for part in operator_inputs(flat) if isinstance(part, Hole))


def _fits(hole: Hole, other: Operator) -> None:
    ids, others = ([column.id for column in side.columns] for side in (hole, other))
    if ids != others or hole.is_state != other.is_state:
        raise InvariantError(f"{other.tag} gives {others} where group {hole.group} gives {ids}")
