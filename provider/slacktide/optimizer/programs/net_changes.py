"""Of which sources the change is netted before it meets other tables.

An update of a column that a view does not read changes nothing for it, and yet its old and its new row would both
be joined with all that they meet: they are irrelevant updates (J. Blakeley and others, *Updating derived relations:
detecting irrelevant and autonomously computable updates*, TODS 14, 1989). Equal rows are taken together before, over the columns
that are read, which costs a grouping of the change. So it is done where that is small beside what the run does
anyway, as the change of a dimension is beside that of the facts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import sources
from slacktide.optimizer.statistics import Statistics

SMALL: Final = 0.25
"""The share of the rows of a view's sources up to which the change of one of them is netted."""


def netted(root: Rel, statistics: Statistics, losing: Collection[str]) -> frozenset[str]:
    """The sources of a view whose changes are netted.

    Args:
        root: the relation of the view.
        statistics: tell the rows of its sources. These decide, and not the rows of changes, so that a view keeps
            its programs.
        losing: the sources that have ever lost a row: nothing else can cancel out.
    """
    rows = {name: statistics.source(name).rows for name in sources(root)}
    most = SMALL * sum(one.value for one in rows.values())
    small = {name for name, one in rows.items() if one.value <= most and one.origin != "default"}
    return frozenset(losing) & small
