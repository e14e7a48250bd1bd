"""Sinks: answers published besides the workspace, for readers without Slacktide.

An answer is published after the commit of the run that made it. What is published follows from the log
alone: every refresh, one with nothing to do too, first or last brings up to date what lags behind. So a
crash between commit and publishing, or a sink that failed, costs nothing but time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from slacktide.common.chain_ids import answer_id
from slacktide.common.clock import Clock, isoformat
from slacktide.engine.definitions.places import sinks_of
from slacktide.engine.reports import Report
from slacktide.errors import SlacktideError
from slacktide.store.address import parse_address
from slacktide.store.garbage import Removed
from slacktide.store.naming import segments
from slacktide.store.pointers import open_publication
from slacktide.store.publication import Edition, Publication
from slacktide.store.store import random_token

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store
    from slacktide.store.world import World

_LATER: Final = "the answer is committed, and the next refresh publishes it"
_logger = logging.getLogger(__name__)


class Sinks:
    """The sinks of one workspace.

    Args:
        store: the workspace's store.
        clock: for the times that are told of an edition.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def after(self, spark: SparkSession, run: Callable[[], Report]) -> Report:
        """Publish what sinks lack after a run, and tell it in its report.

        What earlier runs have committed is owed, whatever this one met.
        """
        try:
            report = run()
        except SlacktideError:
            self._owed(spark)
            raise
        return replace(report, sinks=self._owed(spark))

    def _owed(self, spark: SparkSession) -> dict[str, dict[str, Any]]:
        """Publish, and never hide how the run has ended."""
        try:
            return self.publish(spark)
        except SlacktideError as error:
            _logger.warning("no sink was looked at: %s", error)
            return {}

    def publish(self, spark: SparkSession) -> dict[str, dict[str, Any]]:
        """Publish every answer that is newer than what readers see.

        Returns:
            by view: the path, and the error where it was not published. Views whose readers see their
            answer already are left out.
        """
        done: dict[str, dict[str, Any]] = {}
        world = self._store.world()
        for name, path in sinks_of(world).items():
            try:
                if self._publish(spark, world, name, path):
                    done[name] = {"path": path, "error": None}
            except SlacktideError as error:
                told = type(error)(
                    f"view {name} was not published to {path}: {error.message}",
                    hint="; ".join(filter(None, [error.hint, _LATER])),
                )
                _logger.warning("%s", told)
                done[name] = {"path": path, "error": told.to_dict()}
        return done

    def _publish(self, spark: SparkSession, world: World, name: str, path: str) -> bool:
        from slacktide.engine.answers.reading import read_answer
        from slacktide.spark.publishing import write_answer
        from slacktide.spark.sessions.working import working_session

        publication = self._open(path)
        number = _answer(world, name)
        if number is None or not _is_behind(publication.newest(self._store.identity), number):
            return False
        publication.check(self._store.identity)
        edition = Edition.of(number, self._store.identity, random_token())
        write_answer(
            working_session(spark, {}, self._store.spark_settings),
            name,
            lambda session: read_answer(self._store, world, session, name, None),
            publication.place(edition),
        )
        about = {
            "workspace": self._store.root,
            "view": name,
            "run": _run(world, number),
            "published": isoformat(self._clock()),
        }
        return publication.publish(edition, about)

    def paths(self) -> dict[str, str]:
        """Give the path that each view publishes to, by its name."""
        return sinks_of(self._store.world())

    def behind(self) -> dict[str, str]:
        """Name the views whose readers do not see their answer, or may not, with its path. Needs no JVM."""
        return {name: state["path"] for name, state in self.states().items() if state["behind"]}

    def states(self) -> dict[str, dict[str, Any]]:
        """Say of each sink: its path, the run that readers see, whether that is behind, what is wrong."""
        world = self._store.world()
        return {name: self._state(world, name, path) for name, path in sinks_of(world).items()}

    def _state(self, world: World, name: str, path: str) -> dict[str, Any]:
        newest, wrong = None, None
        try:
            newest = self._open(path).newest(self._store.identity)
        except SlacktideError as error:
            wrong = error.to_dict()
        run = None if newest is None else _run(world, newest.number)
        behind = _is_behind(newest, _answer(world, name))
        return {"path": path, "run": run, "behind": behind, "error": wrong}

    def collect(self, removed: Removed, limit: datetime) -> Removed:
        """Remove what was published once and nobody reads any more, and add it to what was removed."""
        for name, path in self.paths().items():
            try:
                editions, size = self._open(path).collect(self._store.identity, limit)
            except SlacktideError as error:  # the others are collected all the same
                _logger.warning("the sink of view %s is not collected: %s", name, error)
                continue
            removed = replace(
                removed, editions=removed.editions + editions, bytes=removed.bytes + size
            )
        return removed

    def _open(self, path: str) -> Publication:
        return open_publication(parse_address(path), self._store.options)


def _is_behind(newest: Edition | None, number: int | None) -> bool:
    """Whether readers who see an edition, or nothing, lack the answer of an entry, if there is one."""
    return number is not None and (newest is None or newest.number < number)


def _answer(world: World, name: str) -> int | None:
    """The number of the entry that made the answer of a view; None where it has none.

    It is that of the run, as a compaction changes no answer; or of the definition where that is newer:
    only there can a view begin to publish where another one did before.
    """
    chain = world.chains.get(answer_id(name))
    pieces = [] if chain is None else list(segments(chain))
    run = None if not pieces else world.runs.get(int(pieces[-1].run))
    return None if run is None else max(run.number, world.views[name].defined)


def _run(world: World, number: int) -> int | None:
    """The run whose answers the log held at an entry."""
    return max((run.run for run in world.runs.values() if run.number <= number), default=None)
