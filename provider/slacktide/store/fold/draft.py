"""The world while updates change it, and what they ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from slacktide.common.names import check_name
from slacktide.errors import InvariantError
from slacktide.store.world import World

_T = TypeVar("_T")


class Draft:
    """A world under change; its dictionaries are its own until it is finished."""

    def __init__(self, world: World) -> None:
        self.number = world.number
        self.settings = dict(world.settings)
        self.sources = dict(world.sources)
        self.views = dict(world.views)
        self.functions = dict(world.functions)
        self.chains = dict(world.chains)
        self.runs = dict(world.runs)
        self.plans = dict(world.plans)
        self.collected = world.collected
        self.foreign_keys = dict(world.foreign_keys)
        self.calibration = dict(world.calibration)
        self.engine = world.engine
        self.full_reports = [run for run, record in self.runs.items() if record.report]

    def finish(self) -> World:
        proxy = MappingProxyType
        return World(
            number=self.number,
            settings=proxy(self.settings),
            sources=proxy(self.sources),
            views=proxy(self.views),
            functions=proxy(self.functions),
            chains=proxy(self.chains),
            runs=proxy(self.runs),
            plans=proxy(self.plans),
            collected=self.collected,
            foreign_keys=proxy(self.foreign_keys),
            calibration=proxy(self.calibration),
            engine=self.engine,
        )

    def seen(self) -> World:
        """Look at the draft as a world; not to be kept."""
        return World(self.number, self.settings, self.sources, self.views, self.functions)


# What updates of each kind do to a draft, in the entry of a number.
Steps = Mapping[type, Callable[[Draft, int, Any], None]]


def known(mapping: Mapping[str, _T], kind: str, name: str) -> _T:
    """Give what an update is about.

    Raises:
        InvariantError: it is not there.
    """
    try:
        return mapping[name]
    except KeyError:
        raise InvariantError(f"an update is about the {kind} {name}, which is not there") from None


def free(kind: str, name: str, taken: str | None) -> None:
    """Check that a name may be given.

    Raises:
        InvalidNameError: it is none.
        InvariantError: it is taken.
    """
    check_name(kind, name)
    if taken is not None:
        raise InvariantError(f"an update adds the {kind} {name}, but there is {taken}")
