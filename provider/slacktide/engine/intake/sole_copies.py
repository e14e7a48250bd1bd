"""Whether a source can be told without an arrival, or without its mirror, before either is let go.

A mirror holds rows of which the landed files may have been removed. What it holds of older versions than an arrival that is left
out stays; the files of the others must be there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slacktide.common.chain_ids import mirror_id
from slacktide.engine.intake.pinning import landed_files
from slacktide.engine.sources.pins import check_pins
from slacktide.errors import ArrivalChangedError, SourceError
from slacktide.store import requirement as q
from slacktide.store.world import World

if TYPE_CHECKING:
    from slacktide.store.store import Store


def check_left_out(store: Store, world: World, name: str, version: int) -> list[q.Requirement]:
    """Check that an arrival can be left out; give what must still hold for that.

    Raises:
        SourceError: the mirror holds it, and lacks files to be made without it.
    """
    chain = world.chains.get(mirror_id(name))
    needed: list[q.Requirement] = [
        q.ChainIs(mirror_id(name), None if chain is None else chain.token)
    ]
    if chain is None or chain.versions is None or chain.versions[name] < version:
        return needed
    older = chain.before(name, version)
    told = 0 if older is None or older.versions is None else older.versions[name]
    try:
        _check(store, world, name, told, without=version)
    except ArrivalChangedError as error:
        raise SourceError(
            f"arrival {version} of source {name} cannot be left out: the mirror holds it, and is to be made anew from "
            f"version {told} on: {error.message}",
            hint="bring that file back, or let changes land that take back what the arrival brought; "
            f"'slacktide source reset {name}' begins anew with what is there",
        ) from error
    return needed


def missing_for_mirror(store: Store, world: World, name: str) -> str:
    """Say which landed file a mirror could not be made anew without, or give an empty text."""
    try:
        _check(store, world, name, 0)
    except ArrivalChangedError as error:
        return error.message
    return ""


def _check(store: Store, world: World, name: str, told: int, *, without: int = 0) -> None:
    """Check the files between what is told and what the mirror holds."""
    mirrored = (world.chains[mirror_id(name)].versions or {}).get(name, 0)
    ranges = ((told, without - 1), (without, mirrored)) if without else ((told, mirrored),)
    files = (file for low, high in ranges for file in landed_files(world, name, low, high))
    check_pins(files, storage_options=store.options, source=name)
