"""The programs of one run, from the relation of a view.

A program extends what exists (`maintain`), builds answer and states anew (`rebuild`), or makes the answer anew from
states of which it extends those that are there already (`resume`). The answer alone is given by what reads snapshots
(`evaluate`) or by the author's text (`batch`).
"""

from __future__ import annotations

from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations, sources
from slacktide.common.tree import graft, of_type
from slacktide.optimizer.programs.bases import publish_whole
from slacktide.optimizer.programs.derivation import NO_PREMISES, Derivation, NotKeptError, Premises
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A program that extends an answer.

    Attributes:
        program: the program.
        foreign_keys: those without which it would be wrong.
        read: the relations that it reads as of a moment.
    """

    program: Program
    foreign_keys: frozenset[ForeignKey]
    read: frozenset[r.Rel] = frozenset()


def maintain(
    view: str,
    analysis: Maintainability,
    changed: frozenset[str],
    premises: Premises = NO_PREMISES,
    *,
    begun: frozenset[r.Rel] = frozenset(),
) -> Maintenance:
    """Give the program that extends the answer and the states by what changed.

    Only for a relation whose `Maintainability.verdict` is empty.

    Args:
        view: name of the view.
        analysis: of its relation.
        changed: the sources that have changed.
        premises: what else the program goes by.
        begun: joins that the run starts to store.
    """
    derivation = Derivation(view, analysis, changed=changed, premises=premises)
    root = analysis.root
    change = derivation.delta(root)
    read = derivation.read
    for rel in sorted(premises.remembered, key=lambda one: one.digest):
        derivation.delta(rel)  # no rule may have asked for it
    for rel in sorted(begun, key=lambda one: one.digest):
        derivation.begin(rel)
    if change is None:  # the optimiser has removed what changed, as behind WHERE false
        change = o.nothing(root.columns)
    publish = o.Publish(view, o.consolidated(change), is_base=False)
    return Maintenance(Program(derivation.steps(publish)), frozenset(derivation.used), read)


def rebuild(
    view: str, analysis: Maintainability, remembered: frozenset[r.Rel] = frozenset()
) -> Program:
    """Give the program that computes states and answer from the sources, and the joins that are remembered besides."""
    derivation, answer = _anew(view, analysis, remembered)
    for rel in sorted(remembered, key=lambda one: one.digest):
        derivation.at(rel, "after")  # no rule may have asked for it
    return Program(derivation.steps(publish_whole(view, answer)))


def resume(
    view: str,
    analysis: Maintainability,
    changed: frozenset[str],
    kept: frozenset[str],
    premises: Premises,
) -> Program | None:
    """Give the program that makes the answer anew from states of which some are kept.

    Args:
        view: name of the view.
        analysis: of its relation.
        changed: the sources that have changed since the kept states were written.
        kept: these states; others are built from the sources.
        premises: what else the program goes by.

    Returns:
        None where a state that is kept stands on one that is not.
    """
    derivation = Derivation(view, analysis, changed=changed, premises=premises, kept=kept)
    try:
        answer = derivation.at(analysis.root, "after")
    except NotKeptError:
        return None
    return Program(derivation.steps(publish_whole(view, answer)))


def scopes(analysis: Maintainability) -> dict[str, tuple[str, ...]]:
    """The states that a maintained view keeps, and the sources that each is made of."""
    derivation, _ = _anew("", analysis)
    return {chain: sources(rel) for chain, rel in derivation.stored.items()}


def stacks(analysis: Maintainability) -> dict[str, frozenset[str]]:
    """The states that a maintained view keeps, and those below each, from which it is made."""
    derivation, _ = _anew("", analysis)
    found: dict[str, frozenset[str]] = {}
    for chain, rel in derivation.stored.items():
        within = frozenset(relations(rel))
        found[chain] = frozenset(one for one in found if derivation.stored[one] in within)
    return found


def _anew(
    view: str, analysis: Maintainability, remembered: frozenset[r.Rel] = frozenset()
) -> tuple[Derivation, Operator]:
    everything = frozenset(scan.source for scan in of_type(analysis.root, r.Scan))
    derivation = Derivation(
        view,
        analysis,
        changed=everything,
        premises=Premises(remembered=remembered),
        kept=frozenset(),
    )
    return derivation, derivation.at(analysis.root, "after")


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
