"""Past runs and the question which way to go, as the tests of weighing put them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from slacktide.optimizer.costs import Candidate, Evidence, PastRun, Vector
from slacktide.optimizer.costs.evidence import LEAST_ROWS
from slacktide.optimizer.programs.full import MERGING
from slacktide.optimizer.ways.case import Case
from slacktide.optimizer.ways.weighed import Ways, Weighed

WORK = Vector(rows_read=1e6, stages=10)
SIZES = {"incremental": WORK, "rebuild": WORK.times(4), "text": WORK.times(3)}
WAYS = Ways(
    **{way: Candidate(way, work, MERGING) for way, work in SIZES.items()},
    other=Candidate("other", SIZES["text"], MERGING),
)
COSTS = st.floats(0.01, 100)


def past(run: int, way: str, seconds: float, **prices: float) -> PastRun:
    """A run whose price is `seconds` in all, as it has no jobs to pay for."""
    return PastRun(run, way, way, SIZES[way], SIZES[way], seconds, prices)  # type: ignore[arg-type]


def case(*runs: PastRun, share: float = 0.01, missing: str = "") -> Case:
    return Case(WAYS, Evidence(runs, rows=LEAST_ROWS), share, missing)


def at_large(*runs: PastRun) -> Case:
    """A run after a change of which increments are expected to be far dearer than full."""
    dear = Candidate("incremental", WORK.times(60))
    return replace(case(*runs), ways=replace(WAYS, incremental=dear))


def with_rows(given: Case, rows: int | None) -> Case:
    return replace(given, evidence=replace(given.evidence, rows=rows))


def code(found: Weighed) -> str:
    return found.reasons[0].code if found.reasons else ""


def price(found: Weighed, way: str) -> float:
    return next(one.price for one in found.predictions if one.way == way)
