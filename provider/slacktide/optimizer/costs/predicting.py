"""What a program is expected to cost, by what past runs of its view took; where none is known, by the model (`increments`, `full_runs`)."""

from __future__ import annotations

from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.full_runs import by_full_runs
from slacktide.optimizer.costs.increments import by_increments
from slacktide.optimizer.costs.past_run import Way
from slacktide.optimizer.costs.prediction import Candidate, Prediction


def predict(evidence: Evidence, way: Way, one: Candidate, *like: Candidate) -> Prediction:
    """Predict what a program costs whose work the model knows.

    Args:
        evidence: the past runs of the view, and what holds now.
        way: what the program does.
        one: the program.
        like: of a full way, those that compute the same in another one; one of them that has run tells of this one
            as long as this one has not, or has over other mirrors.
    """
    if way == "incremental":
        past, seconds = by_increments(evidence, one)
    else:
        past, seconds = by_full_runs(evidence, way, one, like)
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
    )
