"""What is forgotten with the rows of a source: all that was made from them, and found of them."""

from __future__ import annotations

from dataclasses import replace

from slacktide.common.chain_ids import is_of_view, is_state, mirror_id
from slacktide.store.fold.draft import Draft


def was_taken_in(draft: Draft, source: str, version: int) -> bool:
    """Whether an answer, a state or the mirror was made from a version.

    What an answer was made of stands in its view: its chain may tell of a history that went away.
    """
    made = [c for c in draft.chains.values() if not is_of_view(c.id)]
    vectors = [*(c.versions for c in made), *(view.versions for view in draft.views.values())]
    vectors += [at for view in draft.views.values() if view.period for at in view.period.reached]
    return any((vector or {}).get(source, 0) >= version for vector in vectors)


def forget_history(draft: Draft, number: int, source: str) -> None:
    """Take away all that a history tells of: its versions begin anew, and compare with none before."""
    forget(draft, number, source)
    forget_foreign_keys(draft, source, 0)
    for view in list(draft.views.values()):
        if source in view.former_versions:
            former = {name: at for name, at in view.former_versions.items() if name != source}
            draft.views[view.name] = replace(view, former_versions=former)


def forget_foreign_keys(draft: Draft, source: str, since: int) -> None:
    """Take away what was found of foreign keys over a version of a source, or a later one."""
    for foreign_key in list(draft.foreign_keys.values()):
        if foreign_key.versions.get(source, -1) >= since:
            del draft.foreign_keys[foreign_key.name]


def forget(draft: Draft, number: int, source: str, since: int = 0) -> None:
    """Take away what was made from a source, and is to be made anew.

    A chain that stayed would look as if it were up to date. What a mirror holds of versions before `since` stays:
    landed files of these may be gone.
    """
    for chain in list(draft.chains.values()):
        if chain.id == mirror_id(source):
            del draft.chains[chain.id]
            if (kept := chain.before(source, since)) is not None:
                draft.chains[chain.id] = replace(kept, token=number)
        elif is_state(chain.id) and source in (chain.versions or ()):
            del draft.chains[chain.id]
    for view in list(draft.views.values()):
        if source in (view.versions or ()):
            draft.views[view.name] = replace(
                view, versions=None, former_versions=view.reached, period=None, token=number
            )
