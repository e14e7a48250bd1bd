"""Where a workspace, its sources, quarantines and sinks lie: nothing that we write lands in a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Final

from slacktide.common.chain_ids import KINDS
from slacktide.errors import InvalidSettingError
from slacktide.store.address import Address, parse_address
from slacktide.store.world import World

_CHAINS: Final = re.compile(rf"(?:{'|'.join(KINDS)})(?:/[^/]+)?")
"""Where pieces of chains land, and the folders that hold these."""


def sink_path(settings: Mapping[str, Any]) -> str | None:
    """Give the path that the settings of a view publish to, or None."""
    sink = settings.get("sink")
    return None if sink is None else str(sink["parquet"])


def sinks_of(world: World) -> dict[str, str]:
    """Give the path that each view publishes to, by its name; views without a sink are left out."""
    found = {name: sink_path(view.settings) for name, view in sorted(world.views.items())}
    return {name: path for name, path in found.items() if path is not None}


def check_apart(
    what: str, path: str, root: str, world: World, *, besides: Mapping[str, str] | None = None
) -> None:
    """Check that a directory in which we are to write shares no files with another one.

    Args:
        what: it is, as "the sink of view revenue".
        path: of it.
        root: address of the workspace.
        world: the log as it is.
        besides: further directories, by what they are.

    Raises:
        InvalidSettingError: it is, holds, or lies in the workspace, a source, a quarantine or a sink.
    """
    own = parse_address(path)
    if not own.path.strip("/") and own.is_local:
        raise InvalidSettingError(f"{what} is the root {path}", hint="name a directory of its own")
    _check_meets_none(what, path, {**dict(_taken(root, world)), **(besides or {})}.items())


def check_sink_place(
    name: str,
    settings: Mapping[str, Any],
    root: str,
    world: World,
    *,
    besides: Mapping[str, str] | None = None,
) -> None:
    """Check that what a view publishes, if it does, shares no files with anything; see `check_apart`."""
    path = sink_path(settings)
    if path is not None:
        check_apart(f"the sink of view {name}", path, root, world, besides=besides)


def check_source_places(name: str, arguments: Mapping[str, Any], root: str, world: World) -> None:
    """Check that nothing that we write may land in a new source; sources may share their files.

    Args:
        name: of the source.
        arguments: of it, checked.
        root: address of the workspace.
        world: the log as it is.

    Raises:
        InvalidSettingError: it holds the workspace or one of its chains, shares files with a sink or a quarantine, or its quarantine
            does with anything.
    """
    what, path = f"source {name}", arguments["path"]
    if _holds(parse_address(path), parse_address(root)):
        raise InvalidSettingError(
            f"{what} is {path}, which holds the workspace {root}: its log would land in it",
            hint="give it a directory of its own",
        )
    inside = parse_address(root).relative(parse_address(path))
    if inside is not None and _CHAINS.fullmatch(inside.strip("/")):
        raise InvalidSettingError(
            f"{what} is {path}, where the workspace keeps what it remembers",
            hint="give it a directory of its own",
        )
    _check_meets_none(what, path, written(world))
    quarantine = arguments.get("quarantine")
    if quarantine is not None:
        check_apart(f"the quarantine of {what}", quarantine, root, world, besides={what: path})


def written(world: World) -> Iterator[tuple[str, str]]:
    """Give every place besides the workspace that we write to: sinks and quarantines, by what they are."""
    for source in world.sources.values():
        if "quarantine" in source.arguments:
            yield f"the quarantine of source {source.name}", source.arguments["quarantine"]
    for view, sink in sinks_of(world).items():
        yield f"the sink of view {view}", sink


def _taken(root: str, world: World) -> Iterator[tuple[str, str]]:
    yield "the workspace", root
    for source in world.sources.values():
        if "path" in source.arguments:
            yield f"source {source.name}", source.arguments["path"]
    yield from written(world)


def _check_meets_none(what: str, path: str, others: Iterable[tuple[str, str]]) -> None:
    own = parse_address(path)
    for other, place in others:
        if other != what and _meet(own, parse_address(place)):
            raise InvalidSettingError(
                f"{what} is {path}, which shares files with {other}, {place}",
                hint="give it a directory of its own",
            )


def _meet(one: Address, other: Address) -> bool:
    return _holds(one, other) or _holds(other, one)


def _holds(one: Address, other: Address) -> bool:
    """Whether a directory is another one, or above it, wherever links lead."""
    pairs = product(_spellings(one), _spellings(other))
    return any(a == b or a.relative(b) is not None for a, b in pairs)


def _spellings(address: Address) -> list[Address]:
    """The address as it is, without links on the way to it, and without being one itself, as sinks are."""
    if not address.is_local:
        return [address]
    parent, name = os.path.split(address.path)
    reached = os.path.join(os.path.realpath(parent), name)  # noqa: PTH118
    real = (reached, os.path.realpath(reached))
    return [address, *(Address(address.scheme, "", path) for path in real)]
