"""Joins of base tables as bags: which a view may remember, which of them are there, and which have grown too large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.nested import is_storable
from slacktide.algebra.tree import relations, sources
from slacktide.algebra.types import is_told_apart
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.states import bag_chain
from slacktide.optimizer.statistics import Cardinality, Statistics

MOST_ROWS: Final = 0.1
"""Rows of a join that may be remembered, as a share of those of the largest source below it: what is read instead."""
OUTGROWN: Final = 2.0
"""How many times of that a join may have that is remembered: one at the border would come and go with each change, and
what it is stored with is the rows of all its pieces, of which newer ones take away some of the older."""


def joins(analysis: Maintainability) -> dict[str, frozenset[r.Rel]]:
    """The joins that a view may remember, by chain: those that mean the same share one.

    They have rows of base tables, of types that are stored and grouped by.
    """
    found: dict[str, set[r.Rel]] = defaultdict(set)
    for rel in relations(analysis.root):
        if isinstance(rel, r.Join) and rel != analysis.root and not analysis.is_state_backed(rel):
            types = [column.type for column in rel.columns]
            if types and all(is_storable(one) and is_told_apart(one) for one in types):
                found[bag_chain(rel, analysis.conf)].add(rel)
    return {chain: frozenset(rels) for chain, rels in found.items()}


def joins_of(analysis: Maintainability, chains: Collection[str]) -> frozenset[r.Rel]:
    """The joins of a view that some chains hold."""
    if not chains:
        return frozenset()
    found = joins(analysis)
    return frozenset(rel for chain in chains for rel in found.get(chain, ()))


def sources_of(analysis: Maintainability, chains: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The sources that each join is made of which some chains hold."""
    found = {bag_chain(rel, analysis.conf): sources(rel) for rel in joins_of(analysis, chains)}
    return dict(sorted(found.items()))


def present(
    chains: Iterable[str], start: Versions, states: Mapping[str, Versions]
) -> tuple[str, ...]:
    """The chains that are there as of the start of a run; see `is_there`."""
    return tuple(chain for chain in chains if is_there(chain, start, states))


def still_worth_remembering(
    analysis: Maintainability, chains: Collection[str], statistics: Statistics
) -> tuple[str, ...]:
    """The chains of joins, of some, that are not `OUTGROWN` by now."""
    known = joins(analysis) if chains else {}
    kept = {*known} & {*chains}
    return tuple(sorted(one for one in kept if not is_large(one, known[one], statistics, OUTGROWN)))


def is_large(
    chain: str, alike: Collection[r.Rel], statistics: Statistics, times: float = 1.0
) -> bool:
    """Whether a join has too many rows to be remembered: as many as it is stored with, or by estimate.

    Args:
        chain: that holds it, or would.
        alike: the relations that mean it.
        statistics: what is known.
        times: of `MOST_ROWS`, what is not too many.
    """
    rel = min(alike, key=lambda one: one.digest)
    stored = statistics.stored.get(chain)
    largest = max(statistics.source(name).rows.value for name in sources(rel))
    rows = Cardinality(statistics).of(rel).rows.value if stored is None else stored.rows
    return rows > times * MOST_ROWS * largest


def is_ahead(versions: Versions, end: Versions) -> bool:
    """Whether a state is made of more than a run takes in.

    Args:
        versions: of the state.
        end: versions up to which the run goes.
    """
    return any(version > end.get(source, 0) for source, version in versions.items())


def is_there(chain: str, start: Versions, states: Mapping[str, Versions]) -> bool:
    """Whether a state is there as of the start of a run.

    Args:
        chain: its id.
        start: versions from which the run goes on.
        states: the versions of each state that exists, by chain.
    """
    versions = states.get(chain)
    return versions is not None and all(start.get(name) == at for name, at in versions.items())
