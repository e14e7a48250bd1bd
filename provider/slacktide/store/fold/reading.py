"""What a view reads is there when it comes, and stays as long as it reads it."""

from __future__ import annotations

from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.fold.draft import Draft, known
from slacktide.store.world import reads

Stated = u.AddView | u.ReplaceView | u.RestateView


def readable(draft: Draft, view: Stated) -> None:
    """A view comes only while all that it reads is there, whoever drops it meanwhile."""
    for source in view.definition.get("sources", ()):
        known(draft.sources, "source", source)
    for other in view.definition.get("views", ()):
        known(draft.views, "view", other)


def unread(draft: Draft, kind: str, name: str) -> None:
    """What a view reads stays, whoever adds that view meanwhile."""
    for view in draft.views.values():
        if name in reads(view):
            raise InvariantError(f"an update drops {kind} {name}, which view {view.name} reads")
