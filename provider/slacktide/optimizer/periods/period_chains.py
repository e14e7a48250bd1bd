"""Names of what refreshes store before an answer is due: by the period, and by what it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from slacktide.algebra.tree import canonical
from slacktide.common.chain_ids import state_id
from slacktide.common.digest import digest_of
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.versions import realised


@dataclass(frozen=True, slots=True)
class Naming:
    """Names of what the refreshes of one period of a view store.

    A group may be several things to several relations, and more of them once it is known what stayed empty:
    it is stored under one of its names, and found under any.

    Attributes:
        period: tells this period of the view from others.
        stored: the chains that are there.
    """

    period: str
    stored: Collection[str] = ()

    def name(self, memo: Memo, group: int, latest: int) -> str:
        """The chain that is to hold a group which is there by an instant."""
        return min(self._names(memo, group, latest))

    def found(self, memo: Memo, latest: int) -> dict[int, str]:
        """The groups that are stored as of an instant or before, and where."""
        there = frozenset(self.stored)
        if not there:
            return {}
        named = ((g, sorted(there.intersection(self._names(memo, g, latest)))) for g in memo.groups)
        return {group: names[0] for group, names in named if names}

    def _names(self, memo: Memo, group: int, latest: int) -> Iterator[str]:
        for tvr, trait in memo.linked(group):
            if max(map(realised, trait.versions())) <= latest:
                relation = canonical(memo.relation(tvr))
                meaning = digest_of("early", self.period, relation, repr(trait))
                yield state_id(meaning.hex())


NO_NAMES = Naming("")
