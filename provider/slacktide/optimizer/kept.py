"""What a view has stored as of one instant, as groups of its memo.

States have the ids that they have today (`slacktide.optimizer.states`), so that a plan goes on from what the
engine has written, whoever planned that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slacktide.algebra.tree import sources
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.states import bag_chain, chain_of

START = 1
Snap = SetSnap | ValSnap


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored from round to round.

    Attributes:
        chain: id of the state.
        before: the group of what is stored at the start.
        after: that of what is to be stored at the end.
        change: that of what leads from one to the other; None where it does not change.
        sources: that it is made of.
    """

    chain: str
    before: int
    after: int
    change: int | None
    sources: tuple[str, ...]


def chains_at_start(memo: Memo, conf: Mapping[str, str]) -> dict[str, int]:
    """The groups of a memo that are a state as of the first instant, by the id that the engine gives it."""
    found: dict[str, int] = {}
    for group in memo.groups:
        for tvr, trait in snaps_at_start(memo, group):
            found.setdefault(_chain(memo, tvr, trait, conf), group)
    return found


def kept_of(memo: Memo, group: int, conf: Mapping[str, str], end: int) -> Kept:
    """What is stored of a group as of the first instant, and what leads from there to another one.

    Raises:
        InvariantError: the group is not the state of a relation.
    """
    found = next(snaps_at_start(memo, group), None)
    if found is None:
        raise InvariantError(f"group {group} is not the state of a relation")
    tvr, trait = found
    later = trait.mapped(lambda version: moved(version, end - START))
    columns = memo.groups.hole(group).columns
    after = memo.ask(tvr, later, columns, of_state=isinstance(trait, ValSnap)).group
    chain = _chain(memo, tvr, trait, conf)
    change = change_of(memo, tvr, trait, end)
    return Kept(chain, group, after, change, sources(memo.relation(tvr)))


def change_of(memo: Memo, tvr: int, trait: Snap, end: int) -> int | None:
    """The group of what leads from the first instant to another; None where nothing does."""
    later = moved(trait.version, end - START)
    if later == trait.version:
        return None
    change: Trait = SetDelta(trait.version, later)
    if isinstance(trait, ValSnap):
        change = ValDelta(trait.layout, trait.version, later)
    return memo.links(tvr).get(change)


def snaps_at_start(memo: Memo, group: int) -> Iterator[tuple[int, Snap]]:
    """The relations that a group is the rows or the state of as of the first instant."""
    for tvr, trait in sorted(memo.linked(group), key=lambda link: (link[0], repr(link[1]))):
        if isinstance(trait, SetSnap | ValSnap) and realised(trait.version) == START:
            yield tvr, trait


def _chain(memo: Memo, tvr: int, trait: Snap, conf: Mapping[str, str]) -> str:
    if isinstance(trait, SetSnap):
        return bag_chain(memo.relation(tvr), conf)
    layout = next(form for form in memo.forms(tvr) if form.digest == trait.layout)
    return chain_of(layout, conf)  # type: ignore[arg-type]  # only aggregates have states
