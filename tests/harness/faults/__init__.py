"""Every point at which a refresh may end by every kind of view: killed, retried, verified."""

from tests.harness.faults.kinds import KINDS
from tests.harness.faults.matrix import Bench, Found
from tests.harness.faults.points import Point, counting_spark, points

__all__ = ["KINDS", "Bench", "Found", "Point", "counting_spark", "points"]
