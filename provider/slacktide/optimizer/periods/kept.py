"""What a view has stored as of one instant, as groups of its memo.

States have the ids that they have today (`slacktide.optimizer.rule_parts.states`), so that a plan goes on from what the
engine has written, whoever planned that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from slacktide.errors import InvariantError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import moved, realised
from slacktide.optimizer.rule_parts.states import bag_chain, chain_of

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
    """

    chain: str
    before: int
    after: int
    change: int | None


def kept_in(
    memo: Memo, chains: Collection[str], conf: Mapping[str, str], end: int
) -> list[Kept] | None:
    """What chains hold as of the first instant, and what leads from there to another one.

    A group may be the state of several relations, as where one is the other in an order, and each of them has
    a chain.

    Returns:
        One for each chain, in their order; None where the memo does not have them all, or no such change.
    """
    found: dict[str, Kept] = {}
    for group in memo.groups:
        for tvr, trait in snaps_at_start(memo, group):
            chain = _chain(memo, tvr, trait, conf)
            if chain in chains and chain not in found:
                found[chain] = _kept(memo, group, tvr, trait, chain, end)
    kept = [found[chain] for chain in chains if chain in found]
    is_whole = len(kept) == len(chains)
    is_led_to = all(one.change is not None or one.after == one.before for one in kept)
    return kept if is_whole and is_led_to else None


def kept_of(memo: Memo, group: int, conf: Mapping[str, str], end: int) -> Kept:
    """What is stored of a group as of the first instant, by the first of its names.

    Raises:
        InvariantError: the group is not the state of a relation.
    """
    found = next(snaps_at_start(memo, group), None)
    if found is None:
        raise InvariantError(f"group {group} is not the state of a relation")
    return _kept(memo, group, *found, _chain(memo, *found, conf), end)


def _kept(memo: Memo, group: int, tvr: int, trait: Snap, chain: str, end: int) -> Kept:
    later = trait.mapped(lambda version: moved(version, end - START))
    columns = memo.groups.hole(group).columns
    after = memo.ask(tvr, later, columns, of_state=isinstance(trait, ValSnap)).group
    return Kept(chain, group, after, change_of(memo, tvr, trait, end))


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
