"""A program that a run may go by, and what it is expected to cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from slacktide.optimizer.costs.past_run import PastRun, Way
from slacktide.optimizer.costs.vector import Vector
from slacktide.program.operator import Program

Basis = Literal["observed", "modelled", "doubted"]


class Candidate(NamedTuple):
    """A program that a run may go by.

    Attributes:
        program: its digest.
        work: by the model, as of now.
        merging: what it takes where rows have gone from mirrors, over what it takes where none have.
        is_guessed: whether nobody knows how much of some table the keys of the changes reach.
    """

    program: str
    work: Vector
    merging: float = 1.0
    is_guessed: bool = False

    @classmethod
    def of(cls, program: Program, work: Vector, *, is_guessed: bool = False) -> Candidate:
        """A program, by its digest."""
        return cls(program_key(program), work, is_guessed=is_guessed)


class Seconds(NamedTuple):
    """Seconds of CPU that a run takes.

    Attributes:
        in_tasks: of its tasks.
        outside: outside of them.
    """

    in_tasks: float
    outside: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a program is expected to cost in a run.

    Attributes:
        way: what it does: extend the answer, build states and answer anew, or the answer alone, by the author's text
            or over signed rows.
        program: its digest, as hexadecimal text.
        work: by the model.
        in_tasks: seconds of CPU of tasks.
        outside: seconds of CPU outside of them.
        basis: ``observed`` where the very program has run before, ``modelled`` where it has not, and
            ``doubted`` where what was believed of it has expired.
        changed: rows of all changes that the run takes in; None where they are not known.
        merges, unmerged, rows: as of `Evidence`.
        told_by: the run of the program that says so, where one does; it is not stored.
    """

    way: Way
    program: str
    work: Vector
    in_tasks: float
    outside: float
    basis: Basis
    changed: int | None = None
    merges: bool = True
    unmerged: int | None = None
    rows: int | None = None
    told_by: PastRun | None = None

    @property
    def price(self) -> float:
        """All seconds of CPU, by which programs are compared."""
        return self.in_tasks + self.outside

    def besides(self, work: Vector, in_tasks: float, outside: float) -> Prediction:
        """The same for a run that does something more.

        Args:
            work: of it, by the model.
            in_tasks: seconds of CPU that it is expected to take in tasks.
            outside: and outside of them.
        """
        return replace(
            self,
            work=self.work.plus(work),
            in_tasks=self.in_tasks + in_tasks,
            outside=self.outside + outside,
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans and reports store; figures are named as those that are measured."""
        return {
            "way": self.way,
            "program": self.program,
            "basis": self.basis,
            "cpu_seconds": round(self.in_tasks, 3),
            "outside_seconds": round(self.outside, 3),
            **({} if self.changed is None else {"changed_rows": self.changed}),
            **({} if self.rows is None else {"source_rows": self.rows}),
            "merges": self.merges,
            **({} if self.unmerged is None else {"unmerged_rows": self.unmerged}),
            **self.work.to_dict(),
        }


def program_key(program: Program) -> str:
    """By what past runs of a program are found: its digest, shortened."""
    return program.digest.hex()[:16]
