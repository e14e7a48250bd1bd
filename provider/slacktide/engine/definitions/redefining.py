"""What a changed definition does to the views above it: they are read again, and mean something else.

A text is expanded over what it reads. Where that changes, every view above is read again, under its
own SQL settings. A view that means what it meant keeps its answer; the others are replaced in the
same commit. Where one of them cannot be read any more, nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slacktide.algebra.tree import canonical
from slacktide.algebra.view import ReadView
from slacktide.common.names import stands_in
from slacktide.engine.definitions.drafts import ViewDraft, draft_view
from slacktide.engine.definitions.forgetting import forget_states, unmoved
from slacktide.engine.definitions.goal_setting import weights_of
from slacktide.errors import QueryError, SetupError, UserError
from slacktide.optimizer.programs.normal import normal
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.record import Source, ViewRecord
from slacktide.store.world import World, reads

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession


@dataclass(frozen=True, slots=True)
class Redefinition:
    """What goes into the log together, and what must still hold for it.

    Attributes:
        replaced: names of the views that mean something else, and are answered anew.
    """

    updates: list[u.Update]
    requirements: list[q.Requirement]
    replaced: tuple[str, ...] = ()


def replaced_view(
    spark: SparkSession, world: World, name: str, sql: str, settings: Mapping[str, Any]
) -> Redefinition:
    """Give a view another text, and read again what reads it.

    Raises:
        QueryError: the text cannot be read, or a view above cannot any more.
        UnsupportedQueryError: a policy excludes what a text has become.
    """
    above = _above(world, name)
    try:
        draft = draft_view(spark, world, name, sql, settings)
    except QueryError as error:
        raise _about(name, sql, above, error) from error
    if above and not draft.view.deterministic:
        raise QueryError(
            f"view {name} is read by {above[0].name}, and its new text is not deterministic: "
            + "; ".join(reason.sentence for reason in draft.view.reasons),
            hint=f"drop {above[0].name} first, or add this text under another name",
        )
    old = world.views[name]
    same = means_the_same(old, draft, is_below_same=True)
    again = _elsewhere(above, old) if same else above
    drafts = [draft, *_again(spark, world, name, again, [draft])]
    return _redefinition(world, name, drafts, {name} if same else set())


def altered_source(
    spark: SparkSession | None, world: World, source: Source, updates: Iterable[u.Update]
) -> Redefinition:
    """Give a source other columns, and read again what reads it.

    Args:
        spark: needed where a view reads the source.
        world: the log as it is.
        source: as it is to be.
        updates: that make it so.

    Raises:
        QueryError: a view above cannot be read any more.
        UnsupportedQueryError: a policy excludes what a text has become.
        SetupError: there is no session, and a view reads the source.
    """
    above = _above(world, source.name)
    drafts: list[ViewDraft] = []
    if above and spark is None:
        raise SetupError(
            f"source {source.name} is read by {above[0].name}, whose text Spark must read again",
            hint="give a Spark session",
        )
    if spark is not None:
        wide = replace(world, sources={**world.sources, source.name: source})
        drafts = _again(spark, wide, source.name, above, [])
    found = _redefinition(world, source.name, drafts, set())
    return replace(found, updates=[*updates, *found.updates])


def _elsewhere(above: Sequence[ViewRecord], old: ViewRecord) -> list[ViewRecord]:
    """The views to which a text that means the same here may mean something else: under other settings, and above these."""
    found: dict[str, ViewRecord] = {}
    for one in above:
        if dict(one.conf) != dict(old.conf) or not reads(one).isdisjoint(found):
            found[one.name] = one
    return [*found.values()]


def _about(name: str, sql: str, above: Sequence[ViewRecord], error: QueryError) -> QueryError:
    """Say so where a text names a view that reads it."""
    circle = next((reader.name for reader in above if stands_in(sql, reader.name)), None)
    if circle is None:
        return error
    return QueryError(
        f"{error.message}; view {circle} reads {name}, and cannot be read by it",
        hint=f"a view may read sources, and views that do not read it; or drop {circle} first",
    )


def means_the_same(record: ViewRecord, draft: ViewDraft, *, is_below_same: bool) -> bool:
    """Whether a text gives the answer that is there: its columns, and its rows for any input.

    Args:
        record: the view as it is.
        draft: the view as it was read now.
        is_below_same: whether all that it reads is as it was; of a text that is not understood,
            nothing else can be told.
    """
    old, new = ReadView.from_dict(record.definition), draft.view
    if _shape(old) != _shape(new) or dict(old.conf) != dict(new.conf):
        return False
    if old.relation is None or new.relation is None:
        is_unread = old.relation is None and new.relation is None
        return is_unread and is_below_same and record.sql == draft.sql and old.views == new.views
    # The columns are part of it, as hidden ones stand in the stored answer.
    return canonical(normal(old.relation)) == canonical(normal(new.relation)) and [
        c.type for c in old.relation.columns
    ] == [c.type for c in new.relation.columns]


def _shape(view: ReadView) -> tuple[object, ...]:
    outputs = [(column.name, column.type, column.nullable) for column in view.outputs]
    return outputs, view.deterministic, view.clock, view.sources


def _above(world: World, name: str) -> list[ViewRecord]:
    """The views that read a source or view, each after those that it reads."""
    waiting = list(world.readers(name))
    found: list[ViewRecord] = []
    while waiting:
        ready = [view for view in waiting if reads(world.views[view]).isdisjoint(waiting)]
        found += [world.views[view] for view in ready]
        waiting = [view for view in waiting if view not in ready]
    return found


def _again(
    spark: SparkSession,
    world: World,
    name: str,
    above: Sequence[ViewRecord],
    drafts: Sequence[ViewDraft],
) -> list[ViewDraft]:
    """Read views again; those that mean what they meant are left out."""
    texts = {draft.name: draft.sql for draft in drafts}
    found: list[ViewDraft] = []
    for record in above:
        try:
            draft = draft_view(
                spark,
                world,
                record.name,
                record.sql,
                _settings(record),
                beside=texts,
                conf={key: str(value) for key, value in record.conf.items()},
            )
        except UserError as error:
            raise type(error)(
                f"{name} is read by view {record.name}, which that would break: {error.message}",
                hint=f"change or drop view {record.name} first",
            ) from error
        if not means_the_same(record, draft, is_below_same=False):
            found.append(draft)
    return found


def _settings(record: ViewRecord) -> dict[str, Any]:
    """The settings as the user gave them; a pause as it is now."""
    settings = dict(record.settings)
    return {**settings, "paused": record.paused} if "paused" in settings else settings


def _redefinition(
    world: World, name: str, drafts: Sequence[ViewDraft], same: set[str]
) -> Redefinition:
    updates: list[u.Update] = [
        draft.restatement() if draft.name in same else draft.replacement() for draft in drafts
    ]
    kept: dict[str, tuple[str, ...]] = {}
    for draft in drafts:
        old = world.views[draft.name]
        ends = not weights_of(draft.settings)
        updates += [u.AdvancePeriod(old.name, None)] if old.period and ends else []
        kept[old.name] = () if draft.name not in same else old.remembers if ends else old.kept
    states = forget_states(world, {one.name: (*one.states, *kept[one.name]) for one in drafts})
    updates += states
    readers = world.readers(name)
    requirements: list[q.Requirement] = [q.ReadersAre(name, readers), *unmoved(world, states)]
    redefined = {draft.name for draft in drafts}
    requirements += [q.ViewIs(view, world.views[view].token) for view in sorted(redefined)]
    # Readers whose meaning stays must not get another text meanwhile.
    requirements += [
        q.DefinedBy("view", reader, world.views[reader].defined)
        for reader in readers
        if reader not in redefined
    ]
    for draft in drafts:
        requirements += [
            item
            for item in draft.ground
            if item not in requirements
            and not (isinstance(item, q.DefinedBy) and item.name in {name, *redefined})
        ]
    replaced = tuple(draft.name for draft in drafts if draft.name not in same)
    return Redefinition(updates, requirements, replaced)
