"""A plan of one run over several views, as it is stored and executed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from slacktide.common.digest import digest_of
from slacktide.errors import InvalidSettingError, NewerFormatError
from slacktide.optimizer.compaction import Compaction
from slacktide.optimizer.plan import ViewPlan

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Registration:
    """A view that the Airflow Variable declares and the run is to create, or to replace.

    Attributes:
        name: of the view.
        sql: its text.
        settings: of it.
        replaces: the digest of what it takes the place of, `declaring.stated`; empty for a new view. Nothing has the
            digest ``true`` of older plans: these replace no view.
    """

    name: str
    sql: str
    settings: Mapping[str, Any]
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Alteration:
    """More columns that the Airflow Variable declares of a source, and the run is to give it."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class Declared:
    """What a run is to create or to change, and in words what differs and stays."""

    register: tuple[Registration, ...] = ()
    notices: tuple[str, ...] = ()
    alter: tuple[Alteration, ...] = ()


NOTHING_DECLARED = Declared()
_TOLD = frozenset({"plan_id", "identity", "content"})
"""What a stored plan tells besides its content."""


def _content(body: Mapping[str, Any], identity: str | None = None) -> str:
    """The digest of a content, as hexadecimal text, and of the id under which it goes if that is another one."""
    sealed = body if identity is None else {**body, "identity": identity}
    return digest_of("plan", json.dumps(sealed, sort_keys=True)).hex()


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run is to do.

    Attributes:
        now: the instant that functions of the clock give in this run, ISO 8601.
        views: one plan per view, in an order in which the run works.
        mirrors: sources whose current rows are written anew, with the version.
        mirror_segments: sources whose mirror gets a segment, with the version to which it leads.
        compactions: chains of which this run merges pieces.
        register: views that the run creates before it computes them.
        versions: the version of each source that the run takes in.
        notices: in words, what is declared otherwise than the workspace has it, and columns that
            files have and nobody declared.
        alter: sources that the run gives more columns before anything else.
        foreign_keys: those that the run checks over what it takes in, by name.
        identity: the id of the plan that this one was made again for, or that was executed
            otherwise than planned; None for a plan of its own.
        workspace: the identity of the workspace that it was made for; empty for none.
    """

    now: str
    views: tuple[ViewPlan, ...]
    mirrors: Mapping[str, int]
    register: tuple[Registration, ...]
    versions: Mapping[str, int]
    notices: tuple[str, ...] = ()
    identity: str | None = None
    mirror_segments: Mapping[str, int] = field(default_factory=dict)
    compactions: tuple[Compaction, ...] = ()
    alter: tuple[Alteration, ...] = ()
    foreign_keys: tuple[str, ...] = ()
    workspace: str = ""

    @property
    def plan_id(self) -> str:
        """The id under which the plan is stored, and committed once."""
        return self.identity or self.content

    @property
    def content(self) -> str:
        """The digest of the content, as hexadecimal text."""
        return _content(self._body())

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute and nothing to create."""
        return not (self.register or self.alter) and all(
            view.method == "unchanged" and view.turn is None for view in self.views
        )

    @property
    def needs_spark(self) -> bool:
        """Whether there is work for Spark; without, a run that is not empty counts refreshes alone."""
        done_by_spark = (
            self.register,
            self.alter,
            self.mirrors,
            self.mirror_segments,
            self.compactions,
            self.foreign_keys,
        )
        return any(done_by_spark) or any(view.program is not None for view in self.views)

    @property
    def summary(self) -> list[str]:
        """Three lines for people, what, how and up to where, then what else the run does, and notices."""
        by_method: dict[str, list[str]] = {}
        for view in self.views:
            by_method.setdefault(view.method, []).append(view.view)
        for registration in self.register:
            by_method.setdefault("new", []).append(registration.name)
        how = "; ".join(f"{method}: {', '.join(names)}" for method, names in by_method.items())
        taken = ", ".join(f"{name} to {version}" for name, version in sorted(self.versions.items()))
        return [
            f"plan {self.plan_id} for {len(self.views) + len(self.register)} views",
            how or "no views",
            f"versions: {taken or 'none'}",
            *self.alterations,
            *self.upkeep,
            *self.notices,
        ]

    @property
    def alterations(self) -> list[str]:
        """A line for each source that gains columns."""
        return [f"source {change.name} gains columns: {change.schema}" for change in self.alter]

    @property
    def upkeep(self) -> list[str]:
        """Lines for mirrors that get a segment, each chain that is compacted, and foreign keys."""
        extended = ", ".join(
            f"{name} to {version}" for name, version in sorted(self.mirror_segments.items())
        )
        return [
            *([f"landed files become a segment of the mirror: {extended}"] if extended else []),
            *(f"compacts {one.chain}: {one.reason.detail}" for one in self.compactions),
            *(
                [f"checks over what came: {'; '.join(self.foreign_keys)}"]
                if self.foreign_keys
                else []
            ),
        ]

    def _body(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "workspace": self.workspace,
            "now": self.now,
            "views": [view.to_dict() for view in self.views],
            "mirrors": dict(self.mirrors),
            "mirror_segments": dict(self.mirror_segments),
            "compactions": [compaction.to_dict() for compaction in self.compactions],
            "register": [
                {
                    "name": item.name,
                    "sql": item.sql,
                    "settings": dict(item.settings),
                    "replaces": item.replaces,
                }
                for item in self.register
            ],
            "versions": dict(self.versions),
            "notices": list(self.notices),
            **({"alter": [asdict(change) for change in self.alter]} if self.alter else {}),
            **({"foreign_keys": list(self.foreign_keys)} if self.foreign_keys else {}),
        }

    def check_made_for(self, identity: str, root: str) -> None:
        """Check that it was made for a workspace, or for none, and computes each view once.

        Args:
            identity: of the workspace.
            root: its address.

        Raises:
            InvalidSettingError: it was made for another one, or by a version that let a view be named twice.
        """
        hint = "make one here with: slacktide plan"
        if self.workspace not in {"", identity}:
            raise InvalidSettingError(
                f"plan {self.plan_id} was made for another workspace than {root}", hint=hint
            )
        times = Counter(view.view for view in self.views)
        if more := [name for name, count in times.items() if count > 1]:
            raise InvalidSettingError(
                f"plan {self.plan_id} names view {more[0]} more than once", hint=hint
            )

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        body = self._body()
        content = _content(body, self.identity)
        told = {"plan_id": self.plan_id, "identity": self.identity, "content": content}
        return {**body, **told}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """Read the stored form.

        Raises:
            NewerFormatError: it was written by another version.
            InvalidSettingError: it was edited since.
        """
        if document.get("format") != FORMAT:
            raise NewerFormatError(
                f"the plan has format {document.get('format')!r}, this version reads {FORMAT}",
                hint="use the version of Slacktide that wrote it, or plan anew",
            )
        body = {key: value for key, value in document.items() if key not in _TOLD}
        identity = document.get("identity")
        content = _content(body, identity)
        if (document.get("content"), document.get("plan_id")) != (content, identity or content):
            raise InvalidSettingError(
                f"plan {document.get('plan_id')} is not as it was made",
                hint="plans are not edited; make another one with: slacktide plan",
            )
        return cls(
            workspace=document["workspace"],
            now=document["now"],
            views=tuple(ViewPlan.from_dict(view) for view in document["views"]),
            mirrors=document["mirrors"],
            register=tuple(Registration(**item) for item in document["register"]),
            versions=document["versions"],
            notices=tuple(document["notices"]),
            identity=identity,
            mirror_segments=document.get("mirror_segments", {}),
            compactions=tuple(map(Compaction.from_dict, document.get("compactions", ()))),
            alter=tuple(Alteration(**change) for change in document.get("alter", ())),
            foreign_keys=tuple(document.get("foreign_keys", ())),
        )
