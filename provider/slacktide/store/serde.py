"""Records as JSON: by the fields of the dataclass, members of a union with their tag.

Tags are names on disk and stay when a class is renamed. What this version does not know - a tag, a
field, a format - was written by a newer one and is refused; what does not fit is corrupt.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from slacktide.errors import InvariantError, NewerFormatError, WorkspaceError
from slacktide.store import requirement as r
from slacktide.store import update as u
from slacktide.store.arrivals import Arrival, Arrivals, from_json

FORMAT: Final = 1
_CORRUPT: Final = "restore the object from a backup; Slacktide never rewrites it"
_Decoder = Callable[[Any, str], Any]


def encode(value: Any) -> Any:
    """Give the JSON form of a record or of a value in one."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, u.AcceptArrivals):
        return {"source": value.source, "arrivals": Arrivals.of(value.arrivals).to_json()}
    if is_dataclass(value):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): encode(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    raise InvariantError(f"a {type(value).__name__} cannot be kept in the log")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InvariantError(f"the key {key!r} cannot be kept in the log")
    return key


class Reader:
    """Reads records of one class back, by the types of its fields."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        hints = get_type_hints(kind)
        self._decoders = {f.name: _decoder(hints[f.name]) for f in fields(kind)}
        self._needed = {
            f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING
        }

    def __call__(self, value: Any, where: str) -> Any:
        """Read one record.

        Raises:
            WorkspaceError: a field is missing or has another type.
            NewerFormatError: there is a field that this version does not know.
        """
        if not isinstance(value, dict):
            raise _corrupt(where, f"a {type(value).__name__} where a record should be")
        unknown = value.keys() - self._decoders.keys()
        if unknown:
            raise newer(where, f"the field {min(unknown)!r}")
        missing = self._needed - value.keys()
        if missing:
            raise _corrupt(where, f"no field {min(missing)!r}")
        decoders = self._decoders
        return self._kind(**{name: decoders[name](item, where) for name, item in value.items()})


class TaggedUnion:
    """Writes and reads the members of one closed union, each with its tag."""

    def __init__(self, tags: Mapping[str, type]) -> None:
        self.tags = tags
        self._names = {kind: tag for tag, kind in tags.items()}
        self._readers = {tag: Reader(kind) for tag, kind in tags.items()}

    def encode(self, record: Any) -> dict[str, Any]:
        """Give the tagged JSON form of a member."""
        return {"tag": self._names[type(record)], **encode(record)}

    def decode(self, value: Any, where: str) -> Any:
        """Read a member.

        Raises:
            WorkspaceError: it is corrupt.
            NewerFormatError: the tag or a field is unknown to this version.
        """
        if not isinstance(value, dict) or not isinstance(value.get("tag"), str):
            raise _corrupt(where, "something without a tag")
        body = dict(value)
        tag = body.pop("tag")
        if tag not in self._readers:
            raise newer(where, f"the tag {tag!r}")
        return self._readers[tag](body, where)


def newer(where: str, what: str) -> NewerFormatError:
    """Make the error for something that a newer version wrote."""
    return NewerFormatError(
        f"{where} holds {what}, which this version does not know",
        hint="upgrade Slacktide to the version that wrote it",
    )


def _corrupt(where: str, what: str) -> WorkspaceError:
    return WorkspaceError(f"{where} is corrupt: it holds {what}", hint=_CORRUPT)


def _decoder(hint: Any) -> _Decoder:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return _as_is
    if hint is Arrivals or arguments == (Arrival,):
        return from_json
    if origin in {Union, types.UnionType}:
        return _either(arguments)
    if origin in {tuple, frozenset}:
        return _many(_decoder(arguments[0]), origin)
    if origin is Mapping:
        return _mapping(_decoder(arguments[1]))
    if isinstance(hint, type) and is_dataclass(hint):
        return Reader(hint)
    return _plain(str if origin is Literal else hint)


def _as_is(value: Any, _: str) -> Any:
    return value


def _plain(kind: type) -> _Decoder:
    def decode(value: Any, where: str) -> Any:
        if type(value) is not kind:
            raise _corrupt(where, f"{value!r} where a {kind.__name__} should be")
        return value

    return decode


def _either(kinds: tuple[Any, ...]) -> _Decoder:
    plain = tuple(kind for kind in kinds if kind in {type(None), int, str, bool})
    others = [_decoder(kind) for kind in kinds if kind not in plain]

    def decode(value: Any, where: str) -> Any:
        if type(value) in plain:
            return value
        if others:
            return others[0](value, where)
        raise _corrupt(where, f"{value!r} where another type should be")

    return decode


def _many(item: _Decoder, make: Callable[[list[Any]], Any]) -> _Decoder:
    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _corrupt(where, f"{value!r} where a list should be")
        return make([item(one, where) for one in value])

    return decode


def _mapping(item: _Decoder) -> _Decoder:
    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, dict):
            raise _corrupt(where, f"{value!r} where an object should be")
        return {key: item(one, where) for key, one in value.items()}

    return decode


UPDATES: Final = TaggedUnion(
    {
        "create-workspace": u.CreateWorkspace,
        "add-source": u.AddSource,
        "drop-source": u.DropSource,
        "accept-arrivals": u.AcceptArrivals,
        "repin-files": u.RepinFiles,
        "note-columns": u.NoteColumns,
        "note-statistics": u.NoteStatistics,
        "note-spans": u.NoteSpans,
        "alter-source": u.AlterSource,
        "skip-arrival": u.SkipArrival,
        "examine-arrivals": u.ExamineArrivals,
        "hold-source": u.HoldSource,
        "mark-complete": u.MarkComplete,
        "reset-source": u.ResetSource,
        "add-function": u.AddFunction,
        "drop-function": u.DropFunction,
        "add-view": u.AddView,
        "replace-view": u.ReplaceView,
        "restate-view": u.RestateView,
        "forget-former": u.ForgetFormer,
        "drop-view": u.DropView,
        "pause-view": u.PauseView,
        "note-foreign-keys": u.NoteForeignKeys,
        "note-calibration": u.NoteCalibration,
        "note-engine": u.NoteEngine,
        "doubt-answer": u.DoubtAnswer,
        "set-chain": u.SetChain,
        "extend-chain": u.ExtendChain,
        "drop-chain": u.DropChain,
        "advance-period": u.AdvancePeriod,
        "advance-view": u.AdvanceView,
        "record-run": u.RecordRun,
        "collect": u.Collect,
    }
)
REQUIREMENTS: Final = TaggedUnion(
    {
        "name-free": r.NameFree,
        "source-is": r.SourceIs,
        "source-arrivals": r.SourceArrivals,
        "skipped-are": r.SkippedAre,
        "view-is": r.ViewIs,
        "defined-by": r.DefinedBy,
        "none-placed": r.NonePlaced,
        "readers-are": r.ReadersAre,
        "chain-is": r.ChainIs,
        "foreign-key-is": r.ForeignKeyIs,
        "engine-is": r.EngineIs,
        "plan-open": r.PlanOpen,
        "run-free": r.RunFree,
        "not-collected": r.NotCollected,
        "function-is": r.FunctionIs,
        "uncalled": r.Uncalled,
    }
)
