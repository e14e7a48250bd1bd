"""How often the operators of a step are computed, and how much of a table is read.

An operator that is read in several places is computed in each of them, as Spark puts a table of WITH in
its place, unless it is worked out before (`program.materialising`). A table that a change bounds by the ranges of its keys (`spark_costs.md` §2) is read in part, by
its reach, where asking for the ranges pays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import exp, inf
from typing import Final

from slacktide.algebra.scalar import Reference
from slacktide.common.ranges import LARGE_ROWS, MOST_RANGES, covered_evenly, pays_to_ask
from slacktide.common.tree import of_type
from slacktide.optimizer.statistics import Figure, Sizes
from slacktide.optimizer.statistics.facts import UNKNOWN_REACH
from slacktide.program import operator as o
from slacktide.program.bounding import Bound, bounds, snapshot_column
from slacktide.program.operator import Operator, operator_inputs
from slacktide.program.origin import Origin

MOST_TIMES: Final = 1000.0
"""As often an operator is counted at most."""
Reached = Mapping[int, float | None]


@dataclass(slots=True)
class Times:
    """How often an operator is computed: in all, whole, and within the reach of a change.

    Attributes:
        count: in all.
        whole: without any bound.
        unknown: bounded by keys of which nobody knows where they lie.
        known: bounded by keys of which that is known; each time counts by the share that they reach.
    """

    count: float = 0.0
    whole: float = 0.0
    unknown: float = 0.0
    known: float = 0.0

    def add(self, other: Times, reach: float | None = 1.0) -> None:
        """Count a reader of this operator; `reach` is what its bound leaves, None where that is not known."""
        self.count = min(self.count + other.count, MOST_TIMES)
        # A second bound is seldom a narrower one.
        self.unknown = min(self.unknown + other.unknown, MOST_TIMES)
        self.known = min(self.known + other.known, MOST_TIMES)
        if reach is None:
            self.unknown = min(self.unknown + other.whole, MOST_TIMES)
        elif reach < 1.0:
            self.known = min(self.known + reach * other.whole, MOST_TIMES)
        else:
            self.whole = min(self.whole + other.whole, MOST_TIMES)

    def at(self, reach: float) -> float:
        """How often, where within an unknown reach such a share is computed."""
        return self.whole + self.known + reach * self.unknown


def times(
    reached: Mapping[Operator, Reached], root: Operator, first: Collection[Operator] = ()
) -> Mapping[Operator, Times]:
    """Walk from the root to the leaves: every path to an operator computes it once, but where it is worked out before.

    Args:
        reached: of each operator what `reached` tells.
        root: of the step.
        first: what is worked out before.
    """
    found: dict[Operator, Times] = defaultdict(Times)
    for operator in reversed(list(of_type(root, Operator))):
        if operator is root or operator in first:
            # Once for all readers, and whole, as no range of theirs reaches it.
            found[operator] = Times(count=1.0, whole=1.0)
        for place, below in enumerate(operator_inputs(operator)):
            found[below].add(found[operator], reached[operator].get(place, 1.0))
    return found


def reached(operator: Operator, sizes: Sizes) -> Reached:
    """The share that is read of each input that a change bounds, by its place; None where nobody knows."""
    return {bound.place: _reach(bound, sizes) for bound in bounds(operator)}


def _reach(bound: Bound, sizes: Sizes) -> float | None:
    """The share of an input that is read: by the key that lies closest; None where nobody knows how one lies.

    Nothing is read for a change of which a filter leaves no key. Where it is known how keys lie, what asking for them
    reads counts as read of the input, so that no larger change is thought to cost less.
    """
    rows = rows_read(bound.large, sizes)
    asked = sum(rows_read(one.by, sizes) for one in bound.origins)
    if not pays_to_ask(rows, asked):
        return 1.0
    shares = [_covered(bound, place, sizes) for place in range(len(bound.pairs))]
    known = [share for share in shares if share is not None]
    if not known or (len(known) < len(shares) and min(known) == 1.0):
        return None
    page = LARGE_ROWS / rows  # of keys that lie ever so close together a page is read
    keys = sum(sizes.of(one.by).rows.value for one in bound.origins)
    is_any = 1.0 - exp(-keys)  # rows are kept or not as if each by itself
    return min(1.0, is_any * max(min(known), page) + asked / rows)


def guessed_reach(operator: Operator, sizes: Sizes) -> float:
    """The share that is read of the tables of an operator, where nobody knows how the keys lie."""
    rows = {leaf: max(sizes.of(leaf).rows.value, 1.0) for leaf in _leaves(operator)}
    within = sum(count * _reach_of_leaf(leaf, sizes) for leaf, count in rows.items())
    return within / sum(rows.values()) if rows else 1.0


def _reach_of_leaf(leaf: Operator, sizes: Sizes) -> float:
    if isinstance(leaf, o.ReadSnapshot):
        return sizes.statistics.source(leaf.source).reach.value
    return UNKNOWN_REACH


def rows_read(operator: Operator, sizes: Sizes) -> float:
    """The rows of all tables that an operator reads."""
    return sum(sizes.of(leaf).rows.value for leaf in _leaves(operator))


def _leaves(operator: Operator) -> Iterator[Operator]:
    return (one for one in of_type(operator, Operator) if not operator_inputs(one))


def _covered(bound: Bound, place: int, sizes: Sizes) -> float | None:
    """The share of an input in which the values of a key lie: all of one that does not lie in its order."""
    column = snapshot_column(bound.large, bound.pairs[place].own)
    if column is not None and sizes.statistics.source(column[0]).is_scattered(column[1]):
        return 1.0
    shares = [_of_origin(origin, place, sizes) for origin in bound.origins]
    known = [share for share in shares if share is not None]
    return min(sum(known), 1.0) if len(known) == len(shares) else None


def _of_origin(origin: Origin, place: int, sizes: Sizes) -> float | None:
    """The share of the range of a key in which its values lie that filters have left of some changes."""
    key, rows = origin.keys[place], sizes.of(origin.by)
    if not isinstance(key, Reference):
        return None
    facts = rows.columns.get(key.column)
    if facts is None or facts.covered is None:
        return None
    all_rows = rows_read(origin.by, sizes)
    # Of the values that a filter leaves nobody knows where they lie.
    left = min(rows.rows.value, all_rows)
    return facts.covered.value * _thinned(left, all_rows, facts.distinct)


def _thinned(left: float, rows: float, distinct: Figure | None) -> float:
    """The share that keys cover which a filter has left of some rows, of what those of all of these cover.

    Few keys may lie as closely as all of them did. Of few values each is a part of the range.
    """
    values = inf if distinct is None else max(distinct.value, 1.0)
    covered = [
        max(covered_evenly(keys), keys / values)
        for keys in (_different(left, values), _different(rows, values))
    ]
    evenly = covered[0] / covered[1] if covered[1] else 0.0
    closely = min(left, MOST_RANGES) / max(rows, 1.0)
    return min(max(evenly, closely), 1.0)


def _different(rows: float, values: float) -> float:
    """How many values rows are expected to have that have any of so many."""
    return rows if values == inf else values * (1.0 - exp(-rows / values))
