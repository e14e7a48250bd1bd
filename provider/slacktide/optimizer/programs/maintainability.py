"""Whether a relation is maintained by changes and states, and what its `at` is made of.

Two analyses over a view, each memoised on the object that holds them:

* `verdict()`: nothing where the change of the view follows from changes and states, else the reasons.
* `is_state_backed(rel)`: whether `rel` at any moment follows from states without a base table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import null_aware, parts_of
from slacktide.algebra.nested import is_storable
from slacktide.algebra.order import takes_as_they_come
from slacktide.algebra.scalar import Scalar
from slacktide.algebra.tree import inputs, ordered_path, own_subqueries, relations
from slacktide.algebra.types import DataType, has_floating, is_comparable, is_told_apart
from slacktide.common.reasons import Reason
from slacktide.optimizer.programs.normal import normal
from slacktide.optimizer.rule_parts.additive import is_additive


class Maintainability:
    """The two analyses for one view.

    Args:
        root: its relation; brought into normal form first.
        conf: the SQL settings under which it is computed.
    """

    def __init__(self, root: r.Rel, conf: Mapping[str, str] | None = None) -> None:
        self.root = normal(root)
        self.conf = dict(conf or {})
        self._obstacles: dict[r.Rel, Reason | None] = {}
        self._backed: dict[r.Rel, bool] = {}
        self._learn(self.root)

    def is_state_backed(self, rel: r.Rel) -> bool:
        """Whether `rel` can be computed without reading a base table."""
        self._learn(rel)
        return self._backed[rel]

    def verdict(self) -> tuple[Reason, ...]:
        """Why the whole view is recomputed from the sources; empty when it is maintained."""
        if self._obstacles[self.root] is None:
            unlike = _unlike([column.type for column in self.root.columns])
            return () if unlike is None else (unlike,)
        found = dict.fromkeys(self._own(rel) for rel in relations(self.root))
        return tuple(reason for reason in found if reason is not None)

    def _learn(self, root: r.Rel) -> None:
        """Analyse a relation that rules made of parts of the view, too."""
        if root in self._obstacles:
            return
        for rel in relations(root):
            if rel not in self._obstacles:
                self._backed[rel] = self._is_backed(rel)
                self._obstacles[rel] = self._first(rel)

    def _first(self, rel: r.Rel) -> Reason | None:
        for child in inputs(rel):
            below = self._obstacles[child]
            if below is not None:
                return below
        return self._own(rel)

    def _own(self, rel: r.Rel) -> Reason | None:
        if own_subqueries(rel):
            return Reason("OPERATOR_NOT_INCREMENTAL", "scalar subquery")
        odd = _unkeepable(_remembered(rel))
        if odd is not None:
            return odd
        match rel:
            case r.Aggregate() | r.Window() | r.Limit() if _looks_at_order(rel):
                return Reason(
                    "OPERATOR_NOT_INCREMENTAL",
                    f"{rel.tag} that goes by the ORDER BY of a query below it",
                )
            case r.Aggregate():
                return _ungroupable([key.column.type for key in rel.keys])
            case r.Join():
                return _untestable(rel)
            case r.Window() if not rel.partition and not self._backed[rel.child]:
                return Reason("OPERATOR_NOT_INCREMENTAL", "window without PARTITION BY")
            case r.Window():
                return _ungroupable([value.type for value in rel.partition])
            case _:
                return None

    def _is_backed(self, rel: r.Rel) -> bool:
        match rel:
            case r.Scan():
                return False
            case r.Aggregate() | r.Limit():
                return True
            case r.Window() if rel.partition:
                return True
            case _:
                return all(self._backed[child] for child in inputs(rel))


def _looks_at_order(rel: r.Aggregate | r.Window | r.Limit) -> bool:
    """Whether an operator may give another value for the order in which its rows come; states keep none.

    Spark takes away an ORDER BY at which no aggregate looks. A limit over an ORDER BY keeps its keys; one to which rows come
    through generators or grouping sets has no keys to go by.
    """
    if isinstance(rel, r.Limit):
        looks = not isinstance(ordered_path(rel)[-1], r.Sort)
    else:
        looks = takes_as_they_come(rel)
    return looks and _is_ordered(rel.child)


def _is_ordered(rel: r.Rel) -> bool:
    """Whether rows come in an order that stands below what passes them on as they come."""
    while isinstance(rel, r.Filter | r.Project | r.Limit | r.Generate | r.Expand | r.Window):
        rel = rel.child
    if isinstance(rel, r.Union):
        return any(map(_is_ordered, rel.children))
    return isinstance(rel, r.Sort)


def _remembered(rel: r.Rel) -> list[DataType]:
    """The types of what may be kept for an operator: its groups, its input or its result."""
    match rel:
        case r.Aggregate():
            calls = () if is_additive(rel) else (one.call for one in rel.measures)
            arguments = [argument for call in calls for argument in call.arguments]
            return [c.type for c in rel.columns] + [a.type for a in arguments]
        case r.Window() | r.Limit():
            # A limit over an order keeps rows as they come to that, with its keys.
            order = ordered_path(rel)[-1]
            sorted_rows = order.child.columns if isinstance(order, r.Sort) else ()
            return [c.type for c in (*rel.columns, *rel.child.columns, *sorted_rows)]
        case r.Join() if rel.kind != "inner":
            return [equal.right.type for equal in parts_of(rel).equalities]
        case _:
            return []


def _untestable(rel: r.Join) -> Reason | None:
    if rel.kind == "anti" and _is_not_in_of_doubles(rel.condition):
        return Reason("OPERATOR_NOT_INCREMENTAL", "NOT IN of floating-point numbers")
    return _unlike([column.type for side in _tested(rel) for column in side.columns])


def _tested(rel: r.Join) -> tuple[r.Rel, ...]:
    """The sides of which it counts whether a row is there, so that equal rows are put together."""
    if rel.kind == "inner":
        return ()
    return {"right": (rel.left,), "full": (rel.left, rel.right)}.get(rel.kind, (rel.right,))


def _is_not_in_of_doubles(condition: Scalar | None) -> bool:
    """Whether Spark answers NOT IN by looking bits up, so that 0.0 is not in a table of -0.0, though they are equal."""
    equal = null_aware(condition)
    return equal is not None and all(has_floating(one.type) for one in equal.arguments)


def _unkeepable(types: Collection[DataType]) -> Reason | None:
    """Why values of some types cannot be kept: no file has them, or none can be told from another."""
    return _first_without(is_storable, types, "UNSTORABLE_TYPE") or _unlike(types)


def _unlike(types: Iterable[DataType]) -> Reason | None:
    return _first_without(is_told_apart, types, "UNGROUPABLE_TYPE")


def _ungroupable(types: Iterable[DataType]) -> Reason | None:
    return _first_without(is_comparable, types, "UNGROUPABLE_TYPE")


def _first_without(
    has: Callable[[DataType], bool], types: Iterable[DataType], code: str
) -> Reason | None:
    """A reason that names the first type of which something does not hold."""
    odd = next((one for one in types if not has(one)), None)
    return None if odd is None else Reason(code, odd)
