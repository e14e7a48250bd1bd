"""Drafts of views and functions: read and checked, and nothing written."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from slacktide.algebra.nested import is_storable
from slacktide.algebra.view import ReadView
from slacktide.common.names import check_name, may_name, stands_in
from slacktide.common.quantities import parse_bytes
from slacktide.engine.definitions.expansion import all_texts
from slacktide.engine.definitions.goal_setting import check_goal, rounds_of, weights_of
from slacktide.engine.definitions.sink_setting import check_sink
from slacktide.engine.sources.ddl import parse_ddl
from slacktide.errors import (
    InvalidSettingError,
    ObjectExistsError,
    QueryError,
    UnknownObjectError,
    UnsupportedQueryError,
)
from slacktide.optimizer.programs.upkeep import state_sources, verdict
from slacktide.store import requirement as q
from slacktide.store import update as u
from slacktide.store.entry import can_be_kept
from slacktide.store.record import FunctionRecord, policy_of
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession

POLICIES = ("auto", "incremental", "full")
# Settings without effect, and the values that ask for nothing else; a goal acts by its weights or rounds alone.
KEPT: Mapping[str, Any] = MappingProxyType(
    {"due": "arrival", "goal": {"total": True}, "state_budget": None}
)
USUAL_FUNCTION: Mapping[str, Any] = MappingProxyType({"kind": "python", "deterministic": True})
"""What a function is that is declared by its target and its type alone."""
SETTINGS = ("due", "goal", "state_budget", "policy", "sink", "paused")


@dataclass(frozen=True, slots=True)
class ViewDraft:
    """A view that was read and checked, and is not in the log yet.

    Attributes:
        ground: what must still hold of what it reads when it comes into the log.
    """

    name: str
    sql: str
    settings: Mapping[str, Any]
    view: ReadView
    ground: tuple[q.Requirement, ...] = ()

    @property
    def policy(self) -> str:
        """The policy of the view."""
        return policy_of(self.settings)

    def update(self) -> u.AddView:
        """The update that adds it."""
        return u.AddView(**self._fields())

    def replacement(self) -> u.ReplaceView:
        """The update that puts it in the place of the view of its name."""
        return u.ReplaceView(**self._fields())

    def restatement(self) -> u.RestateView:
        """The update that puts it there where it means what that view means."""
        return u.RestateView(**self._fields())

    @property
    def states(self) -> tuple[str, ...]:
        """The states that it keeps; one that is always computed anew has none."""
        return () if self.policy == "full" else tuple(state_sources(self.view))

    def _fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "sql": self.sql,
            "settings": dict(self.settings),
            "conf": dict(self.view.conf),
            "definition": self.view.to_dict(),
            "reasons": tuple(str(reason) for reason in verdict(self.view)),
            "states": self.states,
        }


def draft_view(
    spark: SparkSession,
    world: World,
    name: str,
    sql: str,
    settings: Mapping[str, Any],
    *,
    beside: Mapping[str, str] | None = None,
    conf: Mapping[str, str] | None = None,
) -> ViewDraft:
    """Read a view's text and check its settings.

    Args:
        spark: a running session.
        world: the log as it is.
        name: of the view.
        sql: its text.
        settings: as the user gives them.
        beside: texts of views that come into the log together with this one.
        conf: SQL settings that change the meaning; those of the session for None.

    Raises:
        InvalidNameError: the name is not allowed.
        InvalidSettingError: a setting is unknown or has no such value.
        QueryError: the text does not parse or resolve.
        UnsupportedQueryError: the policy is ``incremental`` and the view cannot be, or its answer has a
            column that no file can have.
    """
    from slacktide.spark.functions import called

    check_name("view", name)
    checked = check_settings(name, settings)
    every = {**all_texts(world), **(beside or {})}
    texts = {other: text for other, text in every.items() if other != name}
    # Functions that a text may call, or a text that it may read.
    functions = called(world.functions.values(), (sql, *_texts_read(sql, texts)))
    view = _read(spark, world, name, sql, texts, functions, conf)
    draft = ViewDraft(name, sql, checked, view, _ground(world, view, functions))
    reasons = verdict(view)
    if draft.policy == "incremental" and reasons:
        raise UnsupportedQueryError(
            f"view {name} cannot be incremental: " + "; ".join(r.sentence for r in reasons),
            hint="change the query, or set its policy to 'auto'",
        )
    return draft


def _read(
    spark: SparkSession,
    world: World,
    name: str,
    sql: str,
    texts: Mapping[str, str],
    functions: Sequence[FunctionRecord],
    conf: Mapping[str, str] | None,
) -> ReadView:
    """Read a text over the sources and the texts of other views."""
    from slacktide.spark.functions import register_functions
    from slacktide.spark.reader import read_view

    schemas = {source.name: source.schema for source in world.sources.values()}
    try:
        view = read_view(
            spark,
            sql,
            schemas,
            conf=conf,
            views=texts,
            prepare=lambda session: register_functions(session, functions),
        )
    except QueryError as error:
        raise _about(name, sql, world, error) from error
    if not view.sources:
        raise QueryError(
            f"view {name} reads no source",
            hint="a view is kept up to date over sources; add one with 'slacktide source add'",
        )
    _check_storable(name, view)
    return view


def _check_storable(name: str, view: ReadView) -> None:
    for column in view.outputs:
        if not is_storable(column.type):
            raise UnsupportedQueryError(
                f"view {name} has the column {column.name} of type {column.type}, and no file can have "
                "calendar intervals, structs without fields or maps with keys that a collation compares",
                hint="leave it out, or cast it to STRING in the query; an interval may be made with "
                "make_ym_interval or make_dt_interval, of months or of days alone",
            )


def _ground(
    world: World, view: ReadView, functions: Sequence[FunctionRecord]
) -> tuple[q.Requirement, ...]:
    """The definitions over which a text was expanded."""
    below: list[q.Requirement] = [
        q.DefinedBy("source", name, world.sources[name].defined) for name in view.sources
    ]
    below += [
        q.DefinedBy("view", name, world.views[name].defined)
        for name in view.views
        if name in world.views
    ]
    return (*below, *(q.FunctionIs(one) for one in functions))


def notice_of(name: str, settings: Mapping[str, Any]) -> str | None:
    """Say which settings of a view are kept with it and do not steer anything."""
    acted = ("goal",) if weights_of(settings) or rounds_of(settings) else ()
    kept = [key for key in KEPT if key not in acted and settings.get(key) not in (None, KEPT[key])]
    if not kept:
        return None
    return (
        f"view {name}: {', '.join(kept)} kept with the view and without effect; every refresh takes "
        "in what has arrived, with the least work for this run"
    )


def _texts_read(sql: str, texts: Mapping[str, str]) -> list[str]:
    """The texts of views that a text may read, and of those that these may read."""
    found: dict[str, str] = {}
    waiting = [sql]
    while waiting:
        text = waiting.pop()
        named = [name for name in texts if name not in found and may_name(text, name)]
        found.update((name, texts[name]) for name in named)
        waiting.extend(texts[name] for name in named)
    return list(found.values())


def _about(name: str, sql: str, world: World, error: QueryError) -> QueryError:
    """Say of which view an error is, and why another view that it reads is none to be read."""
    for other in world.views.values():
        if other.name != name and stands_in(sql, other.name):
            for reason in ReadView.from_dict(other.definition).reasons:
                if reason.code == "NON_DETERMINISTIC_EXPRESSION":
                    return QueryError(
                        f"view {name} cannot read view {other.name}: {reason.sentence}",
                        hint=f"read what {other.name} reads",
                    )
    return QueryError(f"view {name}: {error.message}", hint=error.hint)


def check_free(world: World, name: str, beside: Iterable[str] = ()) -> None:
    """Refuse the name of a new source or view that is taken, in the way Spark compares names.

    Args:
        world: where it is to come into.
        name: of it.
        beside: names of views that come with it.

    Raises:
        ObjectExistsError: it is.
    """
    coming = (f"view {other}" for other in beside if other.casefold() == name.casefold())
    taken = world.relation(name) or next(coming, None)
    if taken is not None:
        raise ObjectExistsError(
            f"the name {name} is taken by {taken}", hint="choose another name, or drop that first"
        )


def check_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings of a view; give them as they are stored.

    Raises:
        InvalidSettingError: one is unknown or has no such value.
    """
    for key in settings:
        if key not in SETTINGS:
            raise InvalidSettingError(
                f"view {name} has the unknown setting {key!r}",
                hint=f"settings are {', '.join(SETTINGS)}",
            )
        if not can_be_kept(settings[key]):
            raise InvalidSettingError(
                f"view {name} has {key} = {reprlib.repr(settings[key])}, which the log cannot hold",
                hint="give texts, finite numbers, true and false, and lists and mappings of these",
            )
    policy = policy_of(settings)
    if policy not in POLICIES:
        raise InvalidSettingError(
            f"view {name} has the policy {policy!r}", hint=f"policies are {', '.join(POLICIES)}"
        )
    if not isinstance(settings.get("paused", False), bool):
        raise InvalidSettingError(
            f"view {name} has paused = {settings['paused']!r}", hint="it is true or false"
        )
    check_goal(name, settings.get("goal"))
    if settings.get("state_budget") is not None:
        parse_bytes(settings["state_budget"], setting="state_budget")
    checked = dict(settings)
    if settings.get("sink") is not None:
        checked["sink"] = check_sink(name, settings["sink"])
    return checked


def check_function(name: str, returns: str, declaration: Mapping[str, Any]) -> None:
    """Check what is declared of a function besides its target: a typo would be believed.

    Raises:
        InvalidSettingError: something is unknown or has no such value.
    """
    from slacktide.spark.functions import KINDS

    try:
        parse_ddl(f"it {returns}")
    except InvalidSettingError as error:
        raise InvalidSettingError(
            f"function {name} returns {returns!r}, which is no type",
            hint="give a type of Spark, as in double or ARRAY<STRING>",
        ) from error
    for key in declaration:
        if key not in USUAL_FUNCTION:
            raise InvalidSettingError(
                f"function {name} has the unknown setting {key!r}",
                hint=f"besides its target and returns, settings are {', '.join(USUAL_FUNCTION)}",
            )
    declared = {**USUAL_FUNCTION, **declaration}
    if declared["kind"] not in KINDS:
        raise InvalidSettingError(
            f"function {name} has the kind {declared['kind']!r}",
            hint=f"kinds are {', '.join(KINDS)}",
        )
    if not isinstance(declared["deterministic"], bool):
        raise InvalidSettingError(
            f"function {name} has deterministic = {declared['deterministic']!r}",
            hint="it is true or false",
        )


def check_known(kind: str, name: str, names: Mapping[str, Any]) -> None:
    """Check that an object is there.

    Raises:
        UnknownObjectError: it is not.
    """
    if name not in names:
        listed = ", ".join(sorted(names)) or "none"
        raise UnknownObjectError(
            f"there is no {kind} {name!r}", hint=f"the workspace has these: {listed}"
        )


def check_all_known(kind: str, names: Iterable[str], there: Mapping[str, Any]) -> None:
    """Check that a workspace has all objects of some names; see `check_known`."""
    for name in names:
        check_known(kind, name, there)


def refuse_if_read(world: World, kind: str, name: str) -> None:
    """Check that no view reads an object that is to be dropped.

    Raises:
        ObjectExistsError: one does.
    """
    readers = world.readers(name)
    if readers:
        raise ObjectExistsError(
            f"{kind} {name} is read by {', '.join(readers)}",
            hint="drop these views first",
        )


def refuse_if_called(world: World, name: str) -> None:
    """Check that the text of no view may call a function that is to be dropped.

    Raises:
        ObjectExistsError: one may.
    """
    callers = world.callers(name)
    if callers:
        raise ObjectExistsError(
            f"the texts of {', '.join(callers)} may call function {name}",
            hint="drop these views first, or replace them by texts without this name",
        )
