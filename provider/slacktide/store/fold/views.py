"""What the updates of views do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slacktide.common.chain_ids import answer_id, changes_id
from slacktide.errors import InvariantError
from slacktide.store import update as u
from slacktide.store.fold.draft import Draft, Steps, free, known
from slacktide.store.fold.reading import Stated, readable, unread
from slacktide.store.record import FormerText, ViewRecord


def _add_view(draft: Draft, number: int, update: u.AddView) -> None:
    free("view", update.name, draft.seen().relation(update.name))
    _sink_free(draft, update)
    readable(draft, update)
    draft.views[update.name] = _view(number, update)


def _replace_view(draft: Draft, number: int, update: u.ReplaceView) -> None:
    old = known(draft.views, "view", update.name)
    readable(draft, update)
    _sink_free(draft, update)
    draft.views[old.name] = replace(
        _view(number, update),
        paused=bool(update.settings.get("paused", old.paused)),
        former=_retired(draft, old),
        former_versions=old.reached,
        forgotten_run=old.forgotten_run,
    )


def _restate_view(draft: Draft, number: int, update: u.RestateView) -> None:
    old = known(draft.views, "view", update.name)
    readable(draft, update)
    _sink_free(draft, update)
    draft.views[old.name] = replace(
        _view(number, update),
        paused=bool(update.settings.get("paused", old.paused)),
        versions=old.versions,
        run=old.run,
        since=old.since,
        former=old.former,
        former_versions=old.former_versions,
        forgotten_run=old.forgotten_run,
        doubted=old.doubted,
        outlived=old.outlived,
        remembers=old.remembers,
        period=old.period,
        origins=old.origins,
    )


def _view(number: int, update: Stated) -> ViewRecord:
    return ViewRecord(
        paused=bool(update.settings.get("paused", False)),
        name=update.name,
        sql=update.sql,
        settings=update.settings,
        conf=update.conf,
        definition=update.definition,
        reasons=update.reasons,
        token=number,
        states=update.states,
        defined=number,
    )


def _sink_free(draft: Draft, view: Stated) -> None:
    """Two views never publish to one place; that none lies in another is for who commits to require (`NonePlaced`)."""
    sink = view.settings.get("sink")
    for other in draft.views.values():
        if sink is not None and other.name != view.name and other.settings.get("sink") == sink:
            raise InvariantError(f"an update gives view {view.name} the sink of view {other.name}")


def _retired(draft: Draft, view: ViewRecord) -> tuple[FormerText, ...]:
    """Put the answers of a text aside under the last run that made them."""
    answer = draft.chains.pop(answer_id(view.name), None)
    changes = draft.chains.pop(changes_id(view.name), None)
    if answer is None or view.run is None:
        return view.former
    former = FormerText(view.since or 0, view.run, view.definition)
    aside = answer_id(view.name, former.run)
    draft.chains[aside] = replace(answer, id=aside)
    if changes is not None:
        aside = changes_id(view.name, former.run)
        draft.chains[aside] = replace(changes, id=aside)
    return (*view.former, former)


def _forget_former(draft: Draft, _: int, update: u.ForgetFormer) -> None:
    view = known(draft.views, "view", update.view)
    for former in view.former:
        if former.run == update.run:
            _drop_answers(draft, view.name, former)
    kept = tuple(former for former in view.former if former.run != update.run)
    forgotten = max(update.run, view.forgotten_run or 0)
    draft.views[view.name] = replace(view, former=kept, forgotten_run=forgotten)


def _drop_answers(draft: Draft, view: str, former: FormerText) -> None:
    draft.chains.pop(answer_id(view, former.run), None)
    draft.chains.pop(changes_id(view, former.run), None)


def _drop_view(draft: Draft, _: int, update: u.DropView) -> None:
    view = known(draft.views, "view", update.name)
    unread(draft, "view", update.name)
    draft.chains.pop(answer_id(update.name), None)
    for former in view.former:
        _drop_answers(draft, view.name, former)
    del draft.views[update.name]


def _pause(draft: Draft, _: int, update: u.PauseView) -> None:
    view = known(draft.views, "view", update.name)
    draft.views[view.name] = replace(view, paused=update.paused)


def _advance(draft: Draft, number: int, update: u.AdvanceView) -> None:
    view = known(draft.views, "view", update.view)
    draft.views[view.name] = replace(
        view,
        versions=update.versions,
        former_versions={},
        run=update.run,
        since=update.run if view.since is None and view.run is None else view.since,
        remembers=update.remembers,
        token=number,
        doubted="",
        outlived="",
        period=None,
        origins=update.origins,
    )


def _advance_period(draft: Draft, number: int, update: u.AdvancePeriod) -> None:
    view = known(draft.views, "view", update.view)
    draft.views[view.name] = replace(view, period=update.period, token=number)


def _doubt(draft: Draft, number: int, update: u.DoubtAnswer) -> None:
    if bool(update.foreign_key) == bool(update.engine):
        raise InvariantError(f"an update doubts the answer of {update.view} for no reason, or two")
    view = known(draft.views, "view", update.view)
    draft.views[view.name] = replace(
        view,
        versions=None,
        former_versions=view.reached,
        doubted=update.foreign_key,
        outlived=update.engine,
        token=number,
    )


STEPS: Final[Steps] = {
    u.AddView: _add_view,
    u.ReplaceView: _replace_view,
    u.RestateView: _restate_view,
    u.ForgetFormer: _forget_former,
    u.DropView: _drop_view,
    u.PauseView: _pause,
    u.DoubtAnswer: _doubt,
    u.AdvancePeriod: _advance_period,
    u.AdvanceView: _advance,
}
