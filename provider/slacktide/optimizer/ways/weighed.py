"""The ways of a view in one run, what each is expected to cost, and the one that is taken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Prediction
from slacktide.optimizer.costs.past_run import Way
from slacktide.optimizer.costs.prediction import Candidate


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of one view in one run.

    Attributes:
        incremental: extends the answer and the states.
        rebuild: states and answer from the sources.
        text: the answer alone, by the author's text or over signed rows.
        other: the one of these two that is not taken, which may have run.
    """

    incremental: Candidate
    rebuild: Candidate
    text: Candidate
    other: Candidate


@dataclass(frozen=True, slots=True)
class Weighed:
    """The way that is taken.

    Attributes:
        way: the one.
        reasons: why this way: by prices, by the share that has changed, by the policy, or for what is missing.
        predictions: what each way is expected to cost.
    """

    way: Way
    reasons: tuple[Reason, ...]
    predictions: tuple[Prediction, ...]

    def of(self, way: Way) -> Prediction:
        """What a way is expected to cost."""
        return next(one for one in self.predictions if one.way == way)

    @property
    def full(self) -> float:
        """Seconds of CPU that the cheaper full way is expected to take."""
        return min(one.price for one in self.predictions if one.way != "incremental")

    @property
    def building(self) -> float:
        """Seconds of CPU that building the states is expected to take more than the full way that is taken."""
        return self.of("rebuild").price - self.of(self.way).price

    def going_by(self, known: Prediction) -> Weighed:
        """The same, where a way goes by another program."""
        told = (known if one.way == known.way else one for one in self.predictions)
        return replace(self, predictions=tuple(told))

    def to_dict(self) -> dict[str, Any]:
        """Give the form that plans and reports store: the figures of the way, and all prices."""
        alternatives = [_priced(one) for one in self.predictions]
        return {**self.of(self.way).to_dict(), "alternatives": alternatives}


def _priced(prediction: Prediction) -> dict[str, Any]:
    return {
        "way": prediction.way,
        "price": round(prediction.price, 3),
        "basis": prediction.basis,
    }


@dataclass(frozen=True, slots=True)
class Predictions:
    """What each way is expected to cost."""

    incremental: Prediction
    rebuild: Prediction
    text: Prediction

    def taken(self, way: Way, *reasons: Reason) -> Weighed:
        """The choice of a way, with what all of them are expected to cost."""
        return Weighed(way, reasons, (self.incremental, self.rebuild, self.text))
