"""What units of work cost on the user's own Spark, measured in less than a minute.

The planner starts from there, and what runs of views take moves the prices of tasks on: see
`slacktide.engine.planning.knowledge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slacktide.common.chain_ids import state_id
from slacktide.common.clock import Clock, isoformat
from slacktide.optimizer.costs import DEFAULTS, Coefficients, Sample, Vector, fit
from slacktide.spark.measures.probes import Probe, probes, started_for
from slacktide.store import update as u
from slacktide.store.layout import directory_of
from slacktide.store.store import random_token

if TYPE_CHECKING:
    from slacktide.spark.sessions.handles import SparkSession
    from slacktide.store.store import Store

_CHAIN = state_id("calibration")
_OUTSIDE = ("jobs", "plans")


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured.

    Attributes:
        measured: instant in UTC, ISO 8601.
        spark: its version.
        cores: tasks that it runs at once.
        coefficients: seconds of CPU for a unit of each kind of work.
        errors: how well they tell what the probes took: ``runs``, ``median_error``, ``tail_factor``.
    """

    measured: str
    spark: str
    cores: int
    coefficients: Mapping[str, float]
    errors: Mapping[str, float | None]

    def to_dict(self) -> dict[str, Any]:
        """Give the form that the log stores and commands print."""
        return {
            "measured": self.measured,
            "spark": self.spark,
            "cores": self.cores,
            "coefficients": dict(self.coefficients),
            "errors": dict(self.errors),
        }


def calibrate(
    store: Store, spark: SparkSession, clock: Clock, tell: Callable[[str], None]
) -> Calibration:
    """Measure, and note what was found in the log.

    Args:
        store: the workspace's store; files are written in it, and removed.
        spark: an idle session.
        clock: for the time of the calibration.
        tell: takes the name of what is measured next.
    """
    started = started_for(spark)
    folder = directory_of(_CHAIN, random_token(), "base")
    measured = list(probes(spark, store, folder, tell))
    in_tasks = fit([Sample(_work(one), one.cost.cpu_seconds) for one in measured], DEFAULTS)
    found = fit(
        [Sample(_work(one), max(one.java_seconds - one.cost.cpu_seconds, 0.0)) for one in measured],
        in_tasks.coefficients,
        kinds=_OUTSIDE,
    ).coefficients
    if started is not None:
        found = replace(found, sessions=started)
    calibration = Calibration(
        measured=isoformat(clock()),
        spark=spark.version,
        cores=spark.sparkContext.defaultParallelism,
        coefficients=_rounded(found),
        errors=in_tasks.errors(),
    )
    store.commit([u.NoteCalibration(calibration.to_dict())])
    return calibration


def _work(probe: Probe) -> Vector:
    return replace(Vector.of_report(probe.cost.to_dict()), plans=float(probe.texts))


def _rounded(found: Coefficients) -> dict[str, float]:
    """Three figures of each price, and never less than a hundredth of the default: zero would stay zero."""
    least = {kind: price / 100 for kind, price in DEFAULTS.to_dict().items()}
    prices = found.to_dict().items()
    return {kind: float(f"{max(price, least[kind]):.3g}") for kind, price in prices}
