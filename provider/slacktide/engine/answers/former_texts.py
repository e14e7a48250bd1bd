"""The texts that a view has had, and what the workspace keeps of their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from slacktide.algebra.scalar import Column
from slacktide.algebra.view import ReadView
from slacktide.common.chain_ids import answer_id, changes_id
from slacktide.errors import UnknownObjectError
from slacktide.spark.tasks.task import FormerAnswer
from slacktide.store.record import ViewRecord
from slacktide.store.world import World


@dataclass(frozen=True, slots=True)
class AnsweredText:
    """One text of a view that was answered.

    Attributes:
        view: as it was read.
        since: the first run that answered it.
        answer: the id of the chain of its answers.
        changes: the id of the chain of their changes.
    """

    view: ReadView
    since: int
    answer: str
    changes: str


def texts_of(record: ViewRecord) -> list[AnsweredText]:
    """The texts of a view that were answered and are not forgotten, oldest first."""
    found = [
        AnsweredText(
            ReadView.from_dict(former.definition),
            former.since,
            answer_id(record.name, former.run),
            changes_id(record.name, former.run),
        )
        for former in record.former
    ]
    if record.run is not None:
        view = ReadView.from_dict(record.definition)
        since = record.since or 0
        found.append(AnsweredText(view, since, answer_id(record.name), changes_id(record.name)))
    return found


def text_as_of(record: ViewRecord, run: int | None) -> AnsweredText:
    """The text that a view had answered as of a run; the newest for None.

    Raises:
        UnknownObjectError: none that is kept.
    """
    texts = texts_of(record)
    if not texts:
        raise UnknownObjectError(
            f"view {record.name} has no answer yet", hint="compute it with: slacktide refresh"
        )
    begun = [text for text in texts if run is None or text.since <= run]
    if not begun:
        raise UnknownObjectError(
            f"view {record.name} has no answer as of run {run}",
            hint=f"the oldest answer that is kept is of run {texts[0].since}",
        )
    return begun[-1]


def texts_between(
    world: World, record: ViewRecord, since: int, until: int | None
) -> list[AnsweredText]:
    """The texts whose changes lead from the answer as of one run to that as of another.

    Raises:
        UnknownObjectError: no changes lead there, as they are no longer kept, or as the columns of
            the view are others.
    """
    texts = texts_of(record)
    begun = [text for text in texts if text.since <= since]
    if record.forgotten_run is not None and texts and not begun:
        # The oldest text that is kept may have forgotten its first changes, too.
        raise _forgotten(record.name, max(texts[0].since, _whole_from(world, texts[0])))
    later = [t for t in texts if t.since > since and (until is None or t.since <= until)]
    needed = [*begun[-1:], *later]
    for text in needed:
        whole = _whole_from(world, text)
        if since < whole:
            raise _forgotten(record.name, whole)
    for earlier, text in reversed([*pairwise(needed)]):
        if not same_columns(earlier.view.outputs, text.view.outputs):
            raise UnknownObjectError(
                f"view {record.name} has had other columns since run {text.since}: "
                f"{_named(text.view.outputs)} in the place of {_named(earlier.view.outputs)}",
                hint=f"read the answer as of run {text.since}, and its changes since then",
            )
    return needed


def _whole_from(world: World, text: AnsweredText) -> int:
    """The run after which all changes of a text are kept."""
    chain = world.chains.get(text.changes)
    return 0 if chain is None or chain.base is None else int(chain.base.run)


def _forgotten(view: str, run: int) -> UnknownObjectError:
    return UnknownObjectError(
        f"changes of view {view} up to run {run} are no longer kept",
        hint=f"read the answer as of run {run}, and its changes since then",
    )


def former_answer(world: World, name: str, view: ReadView) -> FormerAnswer | None:
    """The answer that readers of a view have until its new text is answered.

    None where there is none, or where no changes lead from it to a new one, as columns are others.
    """
    record = world.views.get(name)
    if record is None or record.run is not None:
        return None
    texts = texts_of(record)
    if not texts or not same_columns(texts[-1].view.outputs, view.outputs):
        return None
    return FormerAnswer(texts[-1].answer, len(view.outputs))


def same_columns(left: Sequence[Column], right: Sequence[Column]) -> bool:
    """Whether two answers have columns of the same names and types, in the same order."""
    return [(c.name, c.type) for c in left] == [(c.name, c.type) for c in right]


def _named(columns: Sequence[Column]) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in columns)
