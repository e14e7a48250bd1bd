"""The store of a workspace: one log, and the objects it speaks of."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, Final

from slacktide.common.clock import Clock, isoformat
from slacktide.errors import (
    CommitConflictError,
    InvariantError,
    StorageError,
    UnknownObjectError,
    WorkspaceError,
    WorkspaceExistsError,
    WorkspaceMissingError,
)
from slacktide.store.address import check_relative, parse_address
from slacktide.store.checkpoint import EVERY, Checkpoints
from slacktide.store.entry import (
    Entry,
    decode_entry,
    dump_json,
    encode_entry,
    load_document,
)
from slacktide.store.fold import fold
from slacktide.store.log import Log, Written
from slacktide.store.naming import named_since
from slacktide.store.objects import ObjectMeta, Objects, connect
from slacktide.store.reach import spark_settings
from slacktide.store.record import Json, StoredFile
from slacktide.store.requirement import Requirement, obstacle
from slacktide.store.serde import FORMAT
from slacktide.store.update import CreateWorkspace, RecordRun, Update
from slacktide.store.world import World

Tokens = Callable[[], str]
_PLAN_ID: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def random_token() -> str:
    """Make a token that no other writer has."""
    return secrets.token_hex(16)


class Store:
    """A workspace's log and objects; several threads may share one, any number of processes have theirs.

    Attributes:
        options: with which the object stores of workspace, sources and sinks are reached.
    """

    def __init__(
        self,
        objects: Objects,
        clock: Clock,
        tokens: Tokens = random_token,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._objects = objects
        self.options = options
        self._clock = clock
        self._tokens = tokens
        self._log = Log(objects)
        self._checkpoints = Checkpoints(objects)
        self._lock = threading.RLock()
        self._world = World()
        self._mine: dict[str, int] = {}
        self._covered = 0

    @classmethod
    def create(
        cls,
        root: str | PathLike[str],
        *,
        settings: Mapping[str, Json],
        options: Mapping[str, Any] | None = None,
        clock: Clock,
        objects: Objects | None = None,
    ) -> Store:
        """Make a workspace where there is none.

        Raises:
            WorkspaceExistsError: there is one.
            WorkspaceError: the root is no directory, may not be written, or has no conditional writes.
        """
        if objects is None:
            objects = connect(parse_address(root), options, create=True)
        store = cls(objects, clock, options=options)
        token = random_token()
        entry = Entry(token, isoformat(clock()), (CreateWorkspace(settings),))
        data = encode_entry(entry)
        store._log.check_start()
        if not store._log.append(0, data, token):
            raise WorkspaceExistsError(
                f"there is a workspace at {store.root}",
                hint="use it as it is, or give another address",
            )
        store._log.check_conditional_writes(data)
        store._load()
        return store

    @classmethod
    def open(
        cls,
        root: str | PathLike[str],
        *,
        options: Mapping[str, Any] | None = None,
        clock: Clock,
        objects: Objects | None = None,
    ) -> Store:
        """Open a workspace.

        Raises:
            WorkspaceMissingError: there is none.
            NewerFormatError: it was written by a newer version.
            WorkspaceError: it may not be read, or an entry is corrupt.
        """
        store = cls(objects or connect(parse_address(root), options), clock, options=options)
        store._load()
        return store

    @property
    def root(self) -> str:
        """The address, in the spelling of the workspace."""
        return self._objects.address.spelling

    @property
    def spark_settings(self) -> dict[str, str]:
        """Settings with which Spark reaches the object stores of workspace and sources."""
        return spark_settings(self.options)

    @property
    def identity(self) -> str:
        """What no other workspace has: the token of the writer that created it."""
        return self._log.creator

    # ------------------------------------------------------------------ the log

    def world(self) -> World:
        """Give the world as it is now; only entries that are new are read."""
        with self._lock:
            self._advance()
            return self._world

    def commit(
        self,
        updates: Sequence[Update],
        requirements: Sequence[Requirement] = (),
        *,
        token: str | None = None,
    ) -> int:
        """Append one entry with all updates, or nothing; give its number.

        A token that this store has seen in the log is success: the entry is there. Without updates
        nothing is written, and the number is that of the world the requirements held in.

        Raises:
            CommitConflictError: a requirement does not hold in the newest world.
            InvariantError: an update does not fit the world; nothing was written.
            StorageError: it is not known whether the entry is there; repeat with the same token.
        """
        token = token or self._tokens()
        draft = Entry(token, isoformat(self._clock()), tuple(updates), tuple(requirements))
        data = encode_entry(draft)
        # What is folded is what was written, to the letter.
        entry = decode_entry(data, "a new entry")
        with self._lock:
            seen = self._world.number
            self._advance()
            while token not in self._mine:
                if self._attempt(entry, data, seen):
                    break
                if not self._advance():
                    raise StorageError(
                        f"{self.root} says that entry {self._world.number + 1} exists, "
                        "but does not give it",
                        hint="the same call may succeed when repeated",
                    )
            return self._mine.get(token, self._world.number)

    def _attempt(self, entry: Entry, data: bytes, seen: int) -> bool:
        world = self._world
        for requirement in entry.requirements:
            reason = obstacle(world, requirement)
            if reason is not None:
                raise CommitConflictError(
                    f"nothing is committed, as meanwhile {reason}",
                    hint="plan again and repeat",
                )
        if not entry.updates:
            return True
        number = world.number + 1
        try:
            after = fold(world, [(number, entry.updates)])
        except InvariantError as error:
            if world.number == seen:
                raise
            raise CommitConflictError(
                f"another writer's entry came between: {error.message}",
                hint="plan again and repeat",
            ) from error
        if not self._log.append(number, data, entry.writer):
            return False
        self._world = after
        self._mine[entry.writer] = number
        if number // EVERY > self._covered // EVERY:
            self._covered = number
            self._world = self._checkpoints.write(after)
        return True

    def settled(self, limit: datetime) -> Written | None:
        """Find the newest entry that was written at an instant or before it."""
        return self._log.settled(limit, self.world().number)

    def named_since(self, number: int) -> frozenset[str]:
        """Give the files that any world has named, from that of an entry to the newest."""
        return frozenset(named_since(self._log, self._checkpoints.upto(number), number))

    def report(self, run: int) -> Mapping[str, Json]:
        """Give the report of a run in full, however old.

        Raises:
            UnknownObjectError: no run has this number.
        """
        record = self._world.runs.get(run) or self.world().runs.get(run)
        if record is None:
            raise UnknownObjectError(f"there is no run {run}", hint="see: slacktide history")
        if record.report:
            return record.report
        entry = self._log.read(record.number)
        updates = () if entry is None else entry.updates
        found = (u.report for u in updates if isinstance(u, RecordRun) and u.run == run)
        return next(found, record.report)

    def _load(self) -> None:
        with self._lock:
            checkpoint = self._checkpoints.newest(self._log)
            if checkpoint is not None:
                self._world = checkpoint
                self._covered = checkpoint.number
            covered = self._covered
            self._advance()
            # Checkpoints that others failed to write are due at our next commit.
            self._covered = covered
            if self._world.number < 0:
                self._log.check_start()
                raise WorkspaceMissingError(
                    f"there is no workspace at {self.root}", hint="make one with: slacktide init"
                )
            self._log.check_end(self._world.number)

    def _advance(self) -> int:
        """Read the entries that are new; tell how many."""
        before = self._world.number
        entries = list(self._log.since(before + 1))
        if entries:
            self._world = fold(self._world, ((n, entry.updates) for n, entry in entries))
            self._mine.update((entry.writer, n) for n, entry in entries)
            # Whoever wrote a round number writes the checkpoint too.
            rounded = self._world.number - self._world.number % EVERY
            if rounded > before:
                self._covered = max(self._covered, rounded)
        return len(entries)

    # -------------------------------------------------------------- the objects

    def put_plan(self, plan_id: str, document: Mapping[str, Json]) -> None:
        """Keep a plan; the same plan may be put again."""
        self._objects.put(_plan_key(plan_id), dump_json({"format": FORMAT, "plan": document}))

    def get_plan(self, plan_id: str) -> dict[str, Json] | None:
        """Read a plan, or None where there is none.

        Raises:
            WorkspaceError: it is corrupt.
            NewerFormatError: a newer version wrote it.
        """
        if not _PLAN_ID.fullmatch(plan_id):
            return None  # a user may ask for anything
        key = _plan_key(plan_id)
        data = self._objects.get(key)
        return None if data is None else _body(data, "plan", self.path(key))

    def path(self, relative: str) -> str:
        """Give the address of an object, in the spelling of the workspace."""
        return self._objects.address.child(relative).spelling

    def spark_path(self, relative: str) -> str:
        """Give the address of an object, in the spelling of Spark."""
        return self._objects.address.child(relative).spark

    def list_files(self, prefix: str, *, hidden: bool = False) -> list[StoredFile]:
        """List a directory that one writer has just written, or that is to be collected.

        Files whose names begin with "_" or "." are not data and come only where asked for.
        """
        files = (StoredFile(meta.path, meta.size) for meta in self._objects.list(prefix))
        kept = (file for file in files if hidden or not _is_hidden(file.path))
        return sorted(kept, key=lambda file: file.path)

    def list_objects(self, prefix: str) -> Iterator[ObjectMeta]:
        """List everything in a directory that is to be collected, with its modification time."""
        return self._objects.list(prefix)

    def unneeded_checkpoints(self) -> Iterator[ObjectMeta]:
        """List checkpoints, and parts of them, that are of no use any more."""
        needed = self._checkpoints.needed()
        listed = self._objects.list("log/checkpoint") if needed else iter(())
        return (meta for meta in listed if meta.path not in needed)

    def delete(self, relatives: Iterable[str]) -> None:
        """Remove objects; one that is gone already is no error."""
        self._objects.delete([check_relative(relative) for relative in relatives])

    def write_bytes(self, relative: str, data: bytes) -> None:
        """Write an object."""
        self._objects.put(relative, data)

    def read_ends(self, ends: Sequence[tuple[StoredFile, int]]) -> Sequence[bytes | None]:
        """Read some bytes up to the end of each of several files; None for one that is not there."""
        wanted = [(file.path, max(file.size - size, 0), file.size) for file, size in ends]
        return self._objects.get_ranges(wanted)


def _body(data: bytes, name: str, where: str) -> dict[str, Json]:
    body = load_document(data, where).get(name)
    if not isinstance(body, dict):
        raise WorkspaceError(f"{where} is corrupt: it holds no {name}", hint="remove the object")
    return body


def _plan_key(plan_id: str) -> str:
    return check_relative(f"plans/{plan_id}.json")


def _is_hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(("_", "."))
