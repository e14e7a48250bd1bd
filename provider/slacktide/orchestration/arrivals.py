"""When a workspace has something to do: one pure decision, used by the sensor and by its trigger.

A look at a workspace gives a `Sight`. It calls for a run when something has landed that no answer
has yet, when something declared is not there yet, when a sink lacks an answer, or when the workspace cannot be
read (the run then shows why), or when a run would change what is declared otherwise. A declaration that was changed since
the last call does so once, whatever it says. A run that changed nothing
leaves the sight as it was; the same sight calls again only after some patience, so that what fails or is
not due yet never makes a busy loop.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from slacktide.common.clock import isoformat, parse_instant
from slacktide.common.digest import digest_of
from slacktide.errors import RetryableError, SlacktideError, UserError, WorkspaceMissingError
from slacktide.orchestration.catalog import configured, open_workspace, resolve
from slacktide.orchestration.variable import DEFAULT_KEY, WorkspaceConfig

_logger = logging.getLogger(__name__)

Memory = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look at a workspace saw.

    Attributes:
        workspace: its name.
        calls: whether there is something to do.
        reason: why, in a few words.
        mark: changes whenever a run brought the workspace, or the world, any further.
        declared: changes whenever what the Variable says of the workspace does.
    """

    workspace: str
    calls: bool
    reason: str
    mark: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from the sights: the workspaces to run now, and what to remember of them."""

    ready: tuple[str, ...]
    reasons: tuple[str, ...]
    memory: dict[str, dict[str, str]]


def decide(
    sights: Iterable[Sight], memory: Memory, *, now: datetime, patience: timedelta
) -> Decision:
    """Say which workspaces to run: those that call, and have changed since they last did, and those declared otherwise.

    Args:
        sights: what was seen, one for each workspace.
        memory: what the decision before gave to remember; empty at first.
        now: the present instant.
        patience: how long an unchanged sight is left alone.
    """
    ready: dict[str, Sight] = {}
    reasons: list[str] = []
    kept = {name: dict(entry) for name, entry in memory.items()}
    at = isoformat(now)
    for sight in sights:
        kept.setdefault(sight.workspace, {"mark": "", "at": at})
        kept[sight.workspace].setdefault("declared", sight.declared)
        why = _why(sight, memory.get(sight.workspace), now, patience)
        if why:
            ready[sight.workspace] = sight
            reasons.append(f"{sight.workspace}: {why}")
    fresh = {n: {"mark": s.mark, "declared": s.declared, "at": at} for n, s in ready.items()}
    return Decision(ready=tuple(ready), reasons=tuple(reasons), memory=kept | fresh)


def _why(sight: Sight, before: Mapping[str, str] | None, now: datetime, patience: timedelta) -> str:
    """Why a workspace is to run; empty where it is not."""
    called = sight.reason if sight.calls else ""
    if before is None:
        return called
    if before.get("declared", sight.declared) != sight.declared:
        return called or "what the Variable says of it was changed"
    is_as_before = before["mark"] == sight.mark and now - parse_instant(before["at"]) < patience
    return "" if is_as_before else called


@dataclass(frozen=True, slots=True)
class Watch:
    """Which workspaces to look at: all of the Variable, some of them, or one by its connection."""

    workspaces: tuple[str, ...] = ()
    slacktide_conn_id: str | None = None
    variable: str = DEFAULT_KEY

    def configs(self) -> list[WorkspaceConfig]:
        """Resolve the names, at every look anew: the Variable may have changed.

        Raises:
            UserError: the Variable is missing or wrong, or does not have one of the names.
        """
        if self.slacktide_conn_id:
            name = self.workspaces[0] if self.workspaces else None
            return [resolve(name, self.slacktide_conn_id)]
        if not self.workspaces:
            return list(configured(self.variable).values())
        return [resolve(name, None, self.variable) for name in self.workspaces]

    def look(self) -> list[Sight]:
        """Look at every workspace whose store answers; writes nothing, needs no JVM.

        Raises:
            UserError: see `configs`; what is wrong with a single workspace is in its sight.
        """
        sights: list[Sight] = []
        for config in self.configs():
            try:
                sights.append(observe(config))
            except RetryableError as error:
                # Whoever waits for data may as well wait for the store, whatever mode it waits in.
                _logger.warning(
                    "the store of %s did not answer, looking again later: %s", config.name, error
                )
        return sights


def observe(config: WorkspaceConfig) -> Sight:
    """Look at one workspace.

    Raises:
        RetryableError: the store failed.
    """
    try:
        workspace = open_workspace(config)
    except WorkspaceMissingError as error:
        if config.declarations:
            return _sight(config, "it does not exist yet", "absent")
        return _broken(config, error)
    except UserError as error:
        return _broken(config, error)
    try:
        status = workspace.status().to_dict()
        pending = {name: count for name, count in workspace.pending().items() if count}
    except UserError as error:
        return _broken(config, error)
    try:
        otherwise = workspace.outstanding(config.declarations)
    except UserError:
        otherwise = []  # the run that a change of the Variable calls for says what is wrong with it
    return judge(config, status, pending, otherwise)


def judge(
    config: WorkspaceConfig,
    status: Mapping[str, Any],
    pending: Mapping[str, int],
    otherwise: Sequence[str] = (),
) -> Sight:
    """Say what a readable workspace calls for, from its status, its pending arrivals and what a run would change in it."""
    missing = [
        f"{part[:-1]} {name}"
        for part in ("sources", "functions", "views")
        for name in sorted(config.declarations.get(part, {}))
        if part in status and name not in status[part]
    ]
    sinks = {n: view["sink"] for n, view in status.get("views", {}).items() if view.get("sink")}
    # What cannot be looked at from here, or written at all, is behind for ever.
    behind = sorted(name for name, sink in sinks.items() if sink["behind"] and not sink["error"])
    standing = (_versions(status.get("sources", {})), _versions(status.get("views", {})))
    reasons = []
    if missing:
        reasons.append(f"{', '.join(missing)} declared and not there yet")
    if otherwise:
        reasons.append(f"{', '.join(otherwise)} declared otherwise")
    if pending and status.get("views"):  # without a view nobody waits for them
        arrived = ", ".join(f"{count} of {name}" for name, count in sorted(pending.items()))
        reasons.append(f"arrived {arrived}")
    if behind:
        reasons.append(f"the sinks of {', '.join(behind)} lack their answers")
    state = f"{standing!r} {sorted(pending.items())!r} {missing!r} {behind!r} {otherwise!r}"
    return _sight(config, "; ".join(reasons), state)


def _versions(objects: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    return sorted(
        (name, repr(record.get("version", record.get("versions"))))
        for name, record in objects.items()
    )


def _broken(config: WorkspaceConfig, error: SlacktideError) -> Sight:
    # The text may say how long a store took: by it each look would see something new.
    return _sight(config, f"{error.code}: {error}", f"broken {error.code}")


def _sight(config: WorkspaceConfig, reason: str, state: str) -> Sight:
    declared = digest_of(json.dumps(asdict(config), sort_keys=True, default=str)).hex()
    mark = digest_of(state, declared).hex()
    return Sight(config.name, bool(reason), reason, mark, declared)
