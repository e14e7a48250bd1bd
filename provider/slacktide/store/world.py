"""The world: everything that the log says up to one entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from slacktide.common.names import may_name
from slacktide.store.arrivals import Totals
from slacktide.store.record import (
    Chain,
    ForeignKeyRecord,
    FunctionRecord,
    Json,
    RunRecord,
    Source,
    ViewRecord,
)


def _nothing() -> MappingProxyType[str, Json]:
    return MappingProxyType({})


def reads(view: ViewRecord) -> frozenset[str]:
    """Names of the sources and views that a view reads, those that these read included."""
    return frozenset(view.definition.get("sources", ())).union(view.definition.get("views", ()))


@dataclass(frozen=True, slots=True)
class World:
    """A folded log; immutable, so that a reader keeps what it has seen.

    Attributes:
        number: the last entry folded; -1 before the first.
        plans: the run that committed each plan.
        collected: the collection point; what runs that began before this entry wrote and no entry
            names may be gone.
        foreign_keys: those that were checked, by name, the broken ones among them.
        calibration: what units of work were measured to cost; empty where nobody has.
        engine: the Spark and Java that make answers; empty where no run has told.
    """

    number: int = -1
    settings: Mapping[str, Json] = field(default_factory=_nothing)
    sources: Mapping[str, Source] = field(default_factory=_nothing)
    views: Mapping[str, ViewRecord] = field(default_factory=_nothing)
    functions: Mapping[str, FunctionRecord] = field(default_factory=_nothing)
    chains: Mapping[str, Chain] = field(default_factory=_nothing)
    runs: Mapping[int, RunRecord] = field(default_factory=lambda: MappingProxyType({}))
    plans: Mapping[str, int] = field(default_factory=_nothing)
    collected: int = 0
    foreign_keys: Mapping[str, ForeignKeyRecord] = field(default_factory=_nothing)
    calibration: Mapping[str, Json] = field(default_factory=_nothing)
    engine: str = ""

    @property
    def next_run(self) -> int:
        """A run number that is not taken."""
        return max(self.runs, default=0) + 1

    @property
    def held_keys(self) -> Mapping[str, ForeignKeyRecord]:
        """The foreign keys that are known to hold, by name."""
        return {name: one for name, one in self.foreign_keys.items() if not one.broken}

    def rows_changed(self, start: Mapping[str, int], end: Mapping[str, int]) -> int | None:
        """The rows of all changes of some sources, from one version of each to another; None where some are not known.

        None, too, where a source is gone: chains of a former text still name its versions.
        """
        total = Totals()
        for name, version in end.items():
            if name not in self.sources:
                return None
            total = total.plus(self.sources[name].totals(start.get(name, 0), version))
        return total.rows

    def relation(self, name: str) -> str | None:
        """Name what takes a name among sources and views, in the way Spark compares names."""
        folded = name.casefold()
        for kind, known in (("source", self.sources), ("view", self.views)):
            for other in known:
                if other.casefold() == folded:
                    return f"{kind} {other}"
        return None

    def readers(self, name: str) -> tuple[str, ...]:
        """Names of the views that read a source or view, directly or through others, sorted."""
        found: set[str] = set()
        while more := {
            view.name
            for view in self.views.values()
            if view.name not in found and not reads(view).isdisjoint({name, *found})
        }:
            found |= more
        return tuple(sorted(found))

    def taken_in(self, source: str) -> dict[str, int]:
        """Up to which version of a source the views that read it have come, by view."""
        return {
            view.name: (view.versions or {}).get(source, 0)
            for view in self.views.values()
            if source in reads(view)
        }

    def callers(self, function: str) -> tuple[str, ...]:
        """Names of the views whose texts may call a function, sorted."""
        return tuple(sorted(v.name for v in self.views.values() if may_name(v.sql, function)))

    def function(self, name: str) -> str | None:
        """Name what takes a name among functions, in the way Spark compares names."""
        folded = name.casefold()
        return next((f"function {f}" for f in self.functions if f.casefold() == folded), None)
