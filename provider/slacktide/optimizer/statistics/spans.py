"""How much of the range of a key the changes of a run cover: the share of a table that is read for them.

A run reads of a large table what lies in a few ranges of the keys that changed (spark_costs.md §2): new orders meet
the end of their lines, updates of any order all of them. Too many keys are asked for nowhere, and the table is read whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import parts_of
from slacktide.algebra.scalar import Assignment, Reference, Scalar
from slacktide.algebra.tree import relations
from slacktide.optimizer.statistics.facts import END, Figure, SourceFacts, worst

Base = tuple[str, str]
"""A source, and one of its columns."""


def reached(root: r.Rel, known: Mapping[str, SourceFacts]) -> dict[str, SourceFacts]:
    """The same facts, with the share of each source that the keys of a run's changes reach.

    That of the column by which most is reached; where nobody knows of one, the share stays what it was.

    Args:
        root: the relation of a view.
        known: of its sources, each with one change.
    """
    found: dict[str, list[Figure | None]] = {}
    for (source, own), (other, column) in _meetings(root):
        change = known.get(other, SourceFacts()).change(END)
        if change.rows.value:
            is_scattered = known.get(source, SourceFacts()).is_scattered(own)
            share = Figure(1.0, "observed") if is_scattered else change.covered.get(column)
            found.setdefault(source, []).append(share)
    return {
        name: replace(facts, reach=_widest(found.get(name, ())) or facts.reach)
        for name, facts in known.items()
    }


def _widest(shares: Sequence[Figure | None]) -> Figure | None:
    told = [share for share in shares if share is not None]
    if not told or len(told) < len(shares):
        return None
    return Figure(max(share.value for share in told), worst(*told))


def _meetings(root: r.Rel) -> Iterator[tuple[Base, Base]]:
    """Columns of sources that must be equal where rows meet, each with the other."""
    bases = _bases(root)
    for rel in relations(root):
        if isinstance(rel, r.Join):
            for equal in parts_of(rel).equalities:
                for left in _of(equal.left, bases):
                    for right in _of(equal.right, bases):
                        yield left, right
                        yield right, left


def _bases(root: r.Rel) -> Mapping[int, frozenset[Base]]:
    """The columns of sources whose values a column passes on, by its id."""
    found: dict[int, frozenset[Base]] = {}

    def pass_on(items: Iterable[Assignment]) -> None:
        found.update({item.column.id: _of(item.value, found) for item in items})

    for rel in relations(root):
        match rel:
            case r.Scan():
                found.update({c.id: frozenset({(rel.source, c.name)}) for c in rel.columns})
            case r.Project():
                pass_on(rel.outputs)
            case r.Aggregate():
                pass_on(rel.keys)
            case r.Union():
                for place, field in enumerate(rel.fields):
                    below = (found.get(child.columns[place].id, _NOWHERE) for child in rel.children)
                    found[field.id] = frozenset().union(*below)
            case _:
                pass
    return found


_NOWHERE: frozenset[Base] = frozenset()


def _of(value: Scalar, bases: Mapping[int, frozenset[Base]]) -> frozenset[Base]:
    return bases.get(value.column, _NOWHERE) if isinstance(value, Reference) else _NOWHERE
