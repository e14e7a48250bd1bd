"""The condition of a join, taken apart: equalities between its sides, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slacktide.algebra import scalar as s
from slacktide.algebra.relation import Columns, Join
from slacktide.algebra.tree import references
from slacktide.algebra.types import BOOLEAN, is_comparable

_EQUAL = ("=", "<=>")


@dataclass(frozen=True, slots=True)
class Equality:
    """An equality of an expression over the left side and one over the right side.

    Attributes:
        operator: ``=``, or ``<=>``, by which NULL equals NULL.
    """

    left: s.Scalar
    right: s.Scalar
    operator: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as a conjunction.

    Attributes:
        equalities: between the two sides.
        left: what speaks of the left side alone, and what speaks of neither.
        right: what speaks of the right side alone.
        both: the rest.
    """

    equalities: tuple[Equality, ...]
    left: tuple[s.Scalar, ...]
    right: tuple[s.Scalar, ...]
    both: tuple[s.Scalar, ...]


def take_apart(condition: s.Scalar | None, left: Columns, right: Columns) -> Condition:
    """Take a condition apart by the columns of the two sides."""
    equalities: list[Equality] = []
    rest: dict[str, list[s.Scalar]] = {"left": [], "right": [], "both": []}
    ids = frozenset(column.id for column in left), frozenset(column.id for column in right)
    for part in conjuncts(condition):
        equality = _equality(part, *ids)
        if equality is not None:
            equalities.append(equality)
        else:
            rest[_side(references(part), *ids)].append(part)
    return Condition(tuple(equalities), *(tuple(rest[side]) for side in ("left", "right", "both")))


def null_aware(condition: s.Scalar | None) -> s.Call | None:
    """The equality of a condition in the form of NOT IN, `a = b OR (a = b) IS NULL`; None for another condition.

    The two equalities are not compared: Spark may exchange their sides, and gives their subqueries and the parameters of their
    lambdas other columns. So `a = b OR (c = d) IS NULL` is taken for one, too, which costs increments and no right answer.
    """
    match condition:
        case s.Call("or", (s.Call("=") as equal, s.Call("isnull", (s.Call("="),)))):
            return equal
        case _:
            return None


def conjuncts(condition: s.Scalar | None) -> Iterator[s.Scalar]:
    """The parts of a conjunction, from left to right."""
    stack = [] if condition is None else [condition]
    while stack:
        part = stack.pop()
        if isinstance(part, s.Call) and part.function == "and":
            stack.extend(reversed(part.arguments))
        else:
            yield part


def conjunction(parts: Iterable[s.Scalar]) -> s.Scalar | None:
    """All of some conditions as one; None of none."""
    found: s.Scalar | None = None
    for part in parts:
        if found is None:
            found = part
        else:
            found = s.Call("and", (found, part), BOOLEAN, found.nullable or part.nullable)
    return found


def _equality(part: s.Scalar, left: frozenset[int], right: frozenset[int]) -> Equality | None:
    if not isinstance(part, s.Call) or part.function not in _EQUAL:
        return None
    one, other = part.arguments
    if one.type != other.type or not is_comparable(one.type):
        return None
    sides = _side(references(one), left, right), _side(references(other), left, right)
    if not references(one) or not references(other):
        return None
    if sides == ("left", "right"):
        return Equality(one, other, part.function)
    if sides == ("right", "left"):
        return Equality(other, one, part.function)
    return None


def _side(used: frozenset[int], left: frozenset[int], right: frozenset[int]) -> str:
    if used <= left:
        return "left"
    return "right" if used <= right else "both"


def parts_of(rel: Join) -> Condition:
    """The condition of a join, taken apart."""
    return take_apart(rel.condition, rel.left.columns, rel.right.columns)
