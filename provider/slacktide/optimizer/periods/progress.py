"""Where a view stands between two of its answers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slacktide.optimizer.memo.emptiness import Quiet
from slacktide.optimizer.plan import Versions
from slacktide.optimizer.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a view stands between two of its answers.

    Attributes:
        weights: of the refreshes of a period: the price of a second of CPU in each; the last is due.
        turn: the place of the refresh at hand among them, from 1.
        period: tells this period of the view from others.
        reached: the versions that the answer is made of, then those of each refresh that has stored something.
        stored: the chains that these have written.
        keeps: the states and joins that the view keeps from answer to answer.
        statistics: what is known, with what came from each of `reached` to the next, then by this refresh, and
            if it is not the due one, what is expected until that.
        off: how many times of what the model says refreshes of lately took that stored something for a period of the view, or went by what
            one stored; None where none is known.
        quiet: the sources to which no file came in such an interval, with the instant at which it ends: facts,
            where figures of files may be missing.
    """

    weights: tuple[Fraction, ...]
    turn: int
    period: str
    reached: tuple[Versions, ...]
    stored: tuple[str, ...]
    keeps: tuple[str, ...]
    statistics: Statistics
    quiet: Quiet = frozenset()
    off: float | None = None

    @property
    def is_due(self) -> bool:
        """Whether the answer is due at this refresh."""
        return self.turn >= len(self.weights)
