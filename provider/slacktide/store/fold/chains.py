"""What the updates of chains do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slacktide.store import update as u
from slacktide.store.fold.draft import Draft, Steps, known
from slacktide.store.record import Chain


def _set_chain(draft: Draft, number: int, update: u.SetChain) -> None:
    draft.chains[update.chain.id] = replace(update.chain, token=number)


def _extend_chain(draft: Draft, number: int, update: u.ExtendChain) -> None:
    chain: Chain = known(draft.chains, "chain", update.id)
    segments = (*chain.segments, update.segment)
    draft.chains[chain.id] = replace(chain, segments=segments, token=number)


def _drop_chain(draft: Draft, _: int, update: u.DropChain) -> None:
    known(draft.chains, "chain", update.id)
    del draft.chains[update.id]


STEPS: Final[Steps] = {
    u.SetChain: _set_chain,
    u.ExtendChain: _extend_chain,
    u.DropChain: _drop_chain,
}
