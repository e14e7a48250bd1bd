"""From the relation of a view to the program of one run.

A program either extends what exists (`maintain`), or builds answer and states anew (`rebuild`).
What has no delta rule but stands on states alone is computed from these as batch, by `Evaluate`.
"""

from __future__ import annotations

from itertools import count

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Column
from slacktide.algebra.types import DataType
from slacktide.common.tree import graft, of_type
from slacktide.errors import InvariantError
from slacktide.optimizer.maintainability import Maintainability, reads
from slacktide.optimizer.rules import RULES
from slacktide.optimizer.states import AggregateState, state_of
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_plain
from slacktide.program.operator import Moment, Operator, Program, Step

_BY_NODE = {rule.node: rule for rule in RULES}


class Derivation:
    """Derives one program; the context that delta rules see.

    Args:
        analysis: of the view's relation.
        changed: names of the sources that have changes in this run.
        rebuilds: build states anew from the sources instead of extending them.
    """

    def __init__(
        self, analysis: Maintainability, *, changed: frozenset[str], rebuilds: bool
    ) -> None:
        self.rebuilds = rebuilds
        self._analysis = analysis
        self._changed = changed
        highest = max((column.id for column in of_type(analysis.root, Column)), default=0)
        self._ids = count(highest + 1)
        self._states: dict[r.Aggregate, AggregateState] = {}
        self._deltas: dict[r.Rel, Operator | None] = {}
        self._moments: dict[tuple[r.Rel, Moment], Operator] = {}
        self._saves: dict[str, o.Save] = {}

    def has_changed(self, source: str) -> bool:
        """Whether a source may have changes in this run."""
        return source in self._changed

    def state(self, rel: r.Aggregate) -> AggregateState:
        """The layout of the state of an aggregate, the same at every call."""
        if rel not in self._states:
            self._states[rel] = state_of(rel, self._fresh, self._analysis.conf)
        return self._states[rel]

    def save(self, chain: str, child: Operator, *, is_base: bool) -> None:
        """Have this run write a state, once."""
        self._saves.setdefault(chain, o.Save(chain, child, is_base))

    def delta(self, rel: r.Rel) -> Operator | None:
        """The change of a relation in this run; None where it cannot have changed."""
        if rel not in self._deltas:
            rule = _BY_NODE.get(type(rel))
            if rule is None and not isinstance(rel, r.Values):
                raise InvariantError(f"no rule gives the change of {rel.tag}")
            self._deltas[rel] = None if rule is None else rule.delta(rel, self)
        return self._deltas[rel]

    def at(self, rel: r.Rel, moment: Moment) -> Operator:
        """A relation at the start or the end of this run."""
        key = (rel, moment)
        if key not in self._moments:
            rule = None if self._needs_batch(rel) else _BY_NODE.get(type(rel))
            self._moments[key] = rule.at(rel, moment, self) if rule else self._batch(rel, moment)
        return self._moments[key]

    def steps(self, last: Step) -> tuple[Step, ...]:
        """The writes of states, those that others read first, then the last step."""
        return (*self._saves.values(), last)

    def _needs_batch(self, rel: r.Rel) -> bool:
        return self._analysis.obstacle(rel) is not None

    def _batch(self, rel: r.Rel, moment: Moment) -> Operator:
        """The relation as batch over the nearest relations below it that are maintained."""
        boundary = self._boundary(rel)
        scans = {
            below.digest: r.Scan(f"input{number}", o.by_id(below.columns))
            for number, below in enumerate(boundary)
        }
        fed = tuple(
            o.Input(f"input{number}", self.at(below, moment))
            for number, below in enumerate(boundary)
        )
        return o.Evaluate(graft(rel, scans), fed)

    def _boundary(self, rel: r.Rel) -> list[r.Rel]:
        """The nearest maintained relations below, those inside scalar subqueries too."""
        found: dict[r.Rel, None] = {}
        stack = list(reads(rel))
        while stack:
            below = stack.pop()
            if self._needs_batch(below):
                stack.extend(reads(below))
            elif not isinstance(below, r.Values):
                found[below] = None
        return list(found)

    def _fresh(self, name: str, data_type: DataType) -> Column:
        return Column(next(self._ids), name, data_type, nullable=False)


def maintain(view: str, analysis: Maintainability, changed: frozenset[str]) -> Program:
    """Give the program that extends the answer and the states by what changed.

    Only for a relation whose `Maintainability.verdict` is empty.
    """
    derivation = Derivation(analysis, changed=changed, rebuilds=False)
    root = analysis.root
    if analysis.obstacle(root) is None:
        change = derivation.delta(root)
        if change is None:  # the optimiser has removed what changed, as behind WHERE false
            change = o.Evaluate(r.Values(root.columns, ()), ())
        return Program(derivation.steps(o.Publish(view, o.Consolidate(change), is_base=False)))
    answer = derivation.at(root, "after")
    return Program(derivation.steps(o.Publish(view, answer, is_base=True)))


def rebuild(view: str, analysis: Maintainability) -> Program:
    """Give the program that computes states and answer from the sources."""
    everything = frozenset(scan.source for scan in of_type(analysis.root, r.Scan))
    derivation = Derivation(analysis, changed=everything, rebuilds=True)
    answer = derivation.at(analysis.root, "after")
    if not is_plain(answer):  # a base is read as it is: a row that came and went is not in it
        answer = o.Consolidate(answer)
    return Program(derivation.steps(o.Publish(view, answer, is_base=True)))


def evaluate(view: str, relation: r.Rel) -> Program:
    """Give the program that computes a relation from snapshots, without states."""
    scans = list(of_type(relation, r.Scan))
    inputs = tuple(
        o.Input(f"input{number}", o.ReadSnapshot(scan.source, scan.fields, "after"))
        for number, scan in enumerate(scans)
    )
    replaced = {
        scan.digest: r.Scan(f"input{number}", o.by_id(scan.columns))
        for number, scan in enumerate(scans)
    }
    return Program((o.Publish(view, o.Evaluate(graft(relation, replaced), inputs), is_base=True),))


def batch(view: str, columns: r.Columns) -> Program:
    """Give the program that runs the query as its author wrote it."""
    return Program((o.Publish(view, o.Batch(view, columns), is_base=True),))
