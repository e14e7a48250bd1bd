"""What a program is expected to cost, by what past runs of its view took; where none is known, by the model.

What runs tell of increments stands in `increments`, of full ways in `full_runs`.
"""

from __future__ import annotations

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.full_runs import by_full_runs
from slacktide.optimizer.costs.increments import by_increments
from slacktide.optimizer.costs.past_run import Way
from slacktide.optimizer.costs.prediction import Candidate, Prediction, Seconds


def predict(evidence: Evidence, way: Way, one: Candidate, *like: Candidate) -> Prediction:
    """Predict what a program costs whose work the model knows.

    Args:
        evidence: the past runs of the view, and what holds now.
        way: what the program does.
        one: the program.
        like: of a full way, those that compute the same in another one; one of them that has run tells of this one
            as long as this one has not, or has over other mirrors.
    """
    is_incremental = way == "incremental"
    known = (
        by_increments(evidence, one) if is_incremental else by_full_runs(evidence, way, one, like)
    )
    past, seconds = known or (None, _modelled(evidence, one))
    return Prediction(
        way,
        one.program,
        one.work,
        seconds.in_tasks,
        seconds.outside,
        "modelled" if past is None else "observed",
        evidence.changed,
        evidence.merges,
        evidence.unmerged,
        evidence.rows,
        past,
    )


def _modelled(evidence: Evidence, one: Candidate) -> Seconds:
    """What the model says, times the weight that the view's other programs have shown."""
    rates = evidence.coefficients
    return Seconds(rates.in_tasks(one.work) * evidence.weight(), rates.outside(one.work))
