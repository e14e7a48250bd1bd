"""What a plan says of each view, as data that is stored and executed as stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from slacktide.algebra.tree import CLASSES as ALGEBRA
from slacktide.common import serde
from slacktide.common.reasons import Reason
from slacktide.optimizer.estimates import NOTHING, Estimates
from slacktide.optimizer.turn import Turn
from slacktide.program.limits import UNLIMITED, Limits
from slacktide.program.operator import CLASSES as OPERATORS
from slacktide.program.operator import Program, Save

Method = Literal["incremental", "full", "unchanged", "states-only"]
Versions = Mapping[str, int]
CLASSES = (*ALGEBRA, *OPERATORS)


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """What one run does for one view.

    Attributes:
        view: name of the view.
        method: ``incremental``, ``full`` or ``unchanged``; ``states-only`` where the answer stays and what its due
            run will need is stored.
        reasons: why it is this method and not a better one.
        program: the steps; None when the view is unchanged.
        start: version of each source that the answer is made of. Without an answer, that from which
            kept states are gone on from, which is the end where no such state reads the source;
            empty where everything is made from the sources.
        end: version of each source that the answer will be made of.
        token: log number of the last change of the view's definition or versions before the plan, which
            is stale once there was another; 0 for a view that the run itself adds.
        foreign_keys: those that the program goes by, each as text.
        predicted: what the program is expected to cost, and what the alternatives are; see
            `slacktide.optimizer.ways.weighed.Weighed`. Empty where the planner cannot tell. Besides, where there is
            any: `remembering`, what the run starts or stops to remember, and why (`ways.switch`); `joins`, which it builds
            with the states (`ways.building`); `given_up`, those that it leaves; `signed`, whether it turns back to
            signed rows; `period`, what the whole period is expected to cost.
        remembers: the chains of joins that the view remembers once the run is done; see
            `slacktide.optimizer.ways.remembered_joins`.
        estimates: what each node of the program is expected to give and to take.
        reads: rows that each step is expected to read, by the chain that it extends, where that is no guess.
        guard: what the run may write and take; beyond it the run turns back to a full run without states, or, before the
            answer is due, stores nothing.
        turn: the place of the run between two answers; None of a view whose answer is due at every run.
        origins: by state that the program reads or extends, the run that wrote it whole, where another one may write it
            otherwise: the plan is stale once one has.
    """

    view: str
    method: Method
    reasons: tuple[Reason, ...]
    program: Program | None
    start: Versions
    end: Versions
    token: int
    foreign_keys: tuple[str, ...] = ()
    predicted: Mapping[str, Any] = field(default_factory=dict)
    remembers: tuple[str, ...] = ()
    estimates: Estimates = NOTHING
    reads: Mapping[str, int] = field(default_factory=dict)
    guard: Limits = UNLIMITED
    turn: Turn | None = None
    origins: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_due(self) -> bool:
        """Whether readers are owed the answer of this run; not where they keep the one before."""
        return self.turn is None or self.turn.is_due

    @property
    def stored_early(self) -> tuple[str, ...]:
        """What is there for a later run that is due, once this one is done."""
        return () if self.turn is None else self.turn.keeps

    @property
    def chains_written(self) -> frozenset[str]:
        """The states, joins among them, that it writes whole."""
        steps = () if self.program is None else self.program.steps
        return frozenset(one.chain for one in steps if isinstance(one, Save) and one.is_base)

    @property
    def joins_written(self) -> frozenset[str]:
        """The joins, of those that it remembers, that it writes whole."""
        return self.chains_written & {*self.remembers}

    @property
    def predicted_as_it_is(self) -> Mapping[str, Any]:
        """What is expected, where the run starts or stops to remember nothing after all, and builds no join."""
        left_out = ("remembering", "joins")
        return {name: told for name, told in self.predicted.items() if name not in left_out}

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        guard = self.guard.to_dict()
        return {
            "view": self.view,
            "method": self.method,
            "reasons": [str(reason) for reason in self.reasons],
            "program": None if self.program is None else serde.dump(self.program),
            "start": dict(self.start),
            "end": dict(self.end),
            "token": self.token,
            **({"foreign_keys": list(self.foreign_keys)} if self.foreign_keys else {}),
            "predicted": dict(self.predicted),
            **({"remembers": list(self.remembers)} if self.remembers else {}),
            **({"estimates": self.estimates.to_dict()} if self.estimates.nodes else {}),
            **({"reads": dict(self.reads)} if self.reads else {}),
            **({"guard": guard} if guard else {}),
            **({"turn": self.turn.to_dict()} if self.turn else {}),
            **({"origins": dict(self.origins)} if self.origins else {}),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ViewPlan:
        """Read the stored form.

        Raises:
            NewerFormatError: the plan holds what this version does not know.
        """
        stored = document["program"]
        return cls(
            view=document["view"],
            method=document["method"],
            reasons=tuple(Reason.parse(text) for text in document["reasons"]),
            program=None if stored is None else cast("Program", serde.load(stored, CLASSES)[0]),
            start=document["start"],
            end=document["end"],
            token=document["token"],
            foreign_keys=tuple(document.get("foreign_keys", ())),
            predicted=document.get("predicted", {}),
            remembers=tuple(document.get("remembers", ())),
            estimates=Estimates.from_dict(document.get("estimates", {})),
            reads=document.get("reads", {}),
            guard=Limits.from_dict(document.get("guard", {})),
            turn=Turn.from_dict(document["turn"]) if "turn" in document else None,
            origins=document.get("origins", {}),
        )
