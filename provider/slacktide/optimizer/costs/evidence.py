"""Which past runs of a view tell of its next one.

Of the incremental runs of a program the one counts whose changes were nearest in size and in the work that was expected of them,
both together: as many changes may lie close together, or anywhere, and the model errs in what they reach. Of runs in full the
one does that merged about as many rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import inf, log, sqrt
from typing import Final

from slacktide.optimizer.costs.coefficients import DEFAULTS, Coefficients
from slacktide.optimizer.costs.fitting import FLOOR
from slacktide.optimizer.costs.past_run import PastRun
from slacktide.optimizer.costs.prediction import Candidate
from slacktide.optimizer.costs.vector import Vector

LEAST_ROWS: Final = 250_000
"""Rows of a view's sources below which what a run takes says more of the machine than of the way."""

ALIKE: Final = 2.0
"""From one class of sizes of changes to the next: changes are alike within the root of it."""

FAR_DEARER: Final = 2.0
"""From how many times as dear a newer run counts: of increments as a floor, of full runs in place of the other."""

FEW: Final = 1000
"""Changed rows of mirrors below which nobody sees in a full run how many there were to merge."""

USUAL: Final = 8
"""Newest incremental runs, by which a program is the usual one or is not."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The past runs of a view, and what holds now.

    Attributes:
        runs: oldest first.
        coefficients: the prices.
        rows: of the view's sources; None where they are not known.
        changed: rows of all changes that are to be taken in; None where they are not known.
        merges: whether a full run must merge most rows that it reads with changes that came to them: those of
            mirrors that are not as they were written. What it takes depends on that more than on anything else.
        unmerged: rows of changes that a full run must merge with such mirrors; None where they are not known.
    """

    runs: Sequence[PastRun] = ()
    coefficients: Coefficients = DEFAULTS
    rows: int | None = None
    changed: int | None = None
    merges: bool = True
    unmerged: int | None = None

    @property
    def is_measurable(self) -> bool:
        """Whether the view's sources have so many rows that what its runs take tells of them."""
        return (self.rows or 0) >= LEAST_ROWS

    def newest(self, program: str) -> PastRun | None:
        """The newest run of a program."""
        return next(self._newest_first(program), None)

    def _newest_first(self, program: str) -> Iterator[PastRun]:
        return (past for past in reversed(self.runs) if past.program == program)

    def numbers(self, program: str) -> Sequence[int]:
        """The numbers of the workspace's runs in which a program ran, the newest first."""
        return [past.run for past in self._newest_first(program)]

    def newest_alike(self, program: str) -> PastRun | None:
        """The newest run of a program that merged about as many rows, or none, as it would now; else the most alike.

        A newer run that was far dearer after no more rows had come tells more.
        """
        runs = [*self._newest_first(program)]
        found = min(runs, key=self.unlike, default=None)
        if found is None:
            return None
        most = max(self.unmerged or 0, found.unmerged or 0)
        newer = takewhile(lambda past: past is not found, runs)
        dearer = (
            past
            for past in newer
            if past.merges == self.merges
            and past.without_joins > FAR_DEARER * found.without_joins
            and (past.unmerged or 0) <= most
        )
        return next(dearer, found)

    def unlike(self, past: PastRun) -> tuple[bool, float]:
        """How far what a full run merged is from what it would merge now."""
        differs = past.merges != self.merges
        if self.unmerged is None:
            return differs, 0.0
        if past.unmerged is None:
            return differs, inf
        return differs, _classes(max(past.unmerged, FEW), max(self.unmerged, FEW))

    def nearest(self, one: Candidate) -> PastRun | None:
        """The incremental run after changes most like those that have come: the newest after about as many, that lay alike.

        Runs after nobody knows how many changes come last; where nobody knows how many there are now, the
        newest run of all is given.

        Args:
            one: the program.
        """
        return min(
            self._newest_first(one.program),
            key=lambda past: self._distance(past, one.work),
            default=None,
        )

    def floor_under(self, nearest: PastRun, one: Candidate) -> PastRun | None:
        """The dearest of the runs newer than the nearest that bound the cost from below; None where none does.

        A run does that took more than `FAR_DEARER` times what the nearest took, after no more changes than there are now or
        were then, and with at most `ALIKE` times the work expected: times have changed. It bounds nothing once a still
        newer run, after about as many changes and as much work or more, was far cheaper.

        Args:
            nearest: as of `nearest`.
            one: the program.
        """
        newer = [*takewhile(lambda past: past is not nearest, self._newest_first(one.program))]
        floors = (
            past
            for at, past in enumerate(newer)
            if self._is_floor(past, nearest, one.work)
            and not any(self._lifts(later, past) for later in newer[:at])
        )
        return max(floors, key=lambda past: past.in_tasks, default=None)

    def has_alike(self, one: Candidate) -> bool:
        """Whether a program has run after changes about as large as those that have come, that lay alike.

        After any, where nobody knows how many have come.

        Args:
            one: the program.
        """
        runs = (past for past in self.runs if past.program == one.program)
        return any(self._distance(past, one.work) == 0.0 for past in runs)

    def _is_floor(self, newer: PastRun, nearest: PastRun, work: Vector) -> bool:
        price = self.coefficients.in_tasks
        is_dearer = newer.in_tasks > FAR_DEARER * nearest.in_tasks
        is_no_larger = (newer.changed or 0) <= max(self.changed or 0, nearest.changed or 0)
        most = max(price(work), price(nearest.expected)) * ALIKE
        return is_dearer and is_no_larger and price(newer.expected) <= most

    def _lifts(self, later: PastRun, past: PastRun) -> bool:
        price = self.coefficients.in_tasks
        is_as_large = (later.changed or 0) >= (past.changed or 0) / ALIKE
        is_as_much = price(later.expected) >= price(past.expected) / ALIKE
        return is_as_large and is_as_much and past.in_tasks > FAR_DEARER * later.in_tasks

    def _distance(self, past: PastRun, work: Vector) -> float:
        """How many times `ALIKE` lies between the changes of a run and those that have come, and between their work.

        That is what was expected then and now: as many changes may lie close together, or anywhere.
        """
        if not self.changed:
            return 0.0
        if not past.changed:
            return inf
        price = self.coefficients.in_tasks
        return _classes(past.changed, self.changed) + _classes(price(past.expected), price(work))

    def times(self, program: str) -> int:
        """How often a program has run since the view left its states behind or remembered something else."""
        steady = takewhile(lambda past: past.way != "text", reversed(self.runs))
        return sum(
            past.program == program for past in takewhile(lambda past: not past.switches, steady)
        )

    def dear(self, program: str, share: float) -> Sequence[PastRun]:
        """The runs by a program that took at least a share of what a full run was to take, or were full as it would have.

        After changes at most `ALIKE` times as large as those that have come, since something was remembered or given up,
        oldest first; the view's first run says nothing.
        """
        steady = [*takewhile(lambda past: not past.switches, reversed(self.runs))]
        told = (past for past in reversed(steady) if not past.is_first and self._is_no_larger(past))
        return [past for past in told if self._is_dear(past, program, share)]

    def _is_no_larger(self, past: PastRun) -> bool:
        """Whether a run took in at most `ALIKE` times the changes that have come."""
        return (past.changed or 0) <= ALIKE * (self.changed or inf)

    def is_as_large(self, past: PastRun) -> bool:
        """Whether at most `ALIKE` times the changes have come that a run took in."""
        return (self.changed or 0) <= ALIKE * (past.changed or inf)

    def _is_dear(self, past: PastRun, program: str, share: float) -> bool:
        least = share * past.full_price
        if past.way != "incremental":
            return past.prices.get("incremental", 0.0) >= least > 0.0
        return past.program == program and past.price(self.coefficients) >= least > 0.0

    def is_usual(self, program: str) -> bool:
        """Whether most of the newest incremental runs were of a program."""
        newest = [past.program for past in self.runs if past.way == "incremental"][-USUAL:]
        return 2 * newest.count(program) > len(newest)

    def without(self, run: int) -> Evidence:
        """The same without one run."""
        return replace(self, runs=[past for past in self.runs if past.run != run])

    def last_build_of(self, join: str) -> float | None:
        """Seconds of CPU in tasks that building a join last took besides the states; None where no run is known that did.

        Args:
            join: its chain.
        """
        return next((run.joins[join] for run in reversed(self.runs) if join in run.joins), None)

    def saved_by(self, join: str) -> float | None:
        """Seconds of CPU that a run was expected to take less by a join when it was started last; None where nobody knows.

        Args:
            join: its chain.
        """
        return next((run.savings[join] for run in reversed(self.runs) if join in run.savings), None)

    def weight(self) -> float:
        """How much dearer the work of the view's programs is than its prices; halfway to 1 on a log scale.

        The work that was counted, as how the model errs in the sizes of one program tells nothing of another.
        Halfway, as what they compute is alike in part.
        """
        # What merging rows costs is in no work that is counted.
        whole = [past for past in self.runs if not past.turned_back]
        told = [past for past in whole if past.way == "incremental" or not past.merges]
        newest = {past.program: past for past in told or whole}.values()
        seconds = sum(past.in_tasks for past in newest)
        priced = sum(self.coefficients.in_tasks(past.measured) for past in newest)
        return sqrt(max(seconds, FLOOR) / max(priced, FLOOR)) if newest else 1.0

    @property
    def oldest(self) -> int:
        """The number of the first run that is known."""
        return min((past.run for past in self.runs), default=0)

    def spent_since(self, run: int) -> float:
        """What runs that were not incremental have cost after one."""
        return sum(
            past.price(self.coefficients)
            for past in self.runs
            if past.run > run and past.way != "incremental"
        )


def _classes(one: float, other: float) -> int:
    """How many times `ALIKE` lies between two numbers."""
    return round(abs(log(max(one, FLOOR) / max(other, FLOOR), ALIKE)))
