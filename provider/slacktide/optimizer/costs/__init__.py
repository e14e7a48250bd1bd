"""What a program costs: a vector of work, what a unit of each kind costs, and what past runs teach."""

from __future__ import annotations

from slacktide.optimizer.costs.coefficients import DEFAULTS, Coefficients
from slacktide.optimizer.costs.evidence import Evidence
from slacktide.optimizer.costs.fitting import Fit, Sample, fit
from slacktide.optimizer.costs.past_run import PastRun, Way
from slacktide.optimizer.costs.predicting import predict
from slacktide.optimizer.costs.prediction import Candidate, Prediction, program_key
from slacktide.optimizer.costs.program import ProgramWork, program_work, work_by_node
from slacktide.optimizer.costs.vector import Vector

__all__ = [
    "DEFAULTS",
    "Candidate",
    "Coefficients",
    "Evidence",
    "Fit",
    "PastRun",
    "Prediction",
    "ProgramWork",
    "Sample",
    "Vector",
    "Way",
    "fit",
    "predict",
    "program_key",
    "program_work",
    "work_by_node",
]
