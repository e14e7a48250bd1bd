"""Where a run turns back: what a step may write, and what all may take, before a full run without states costs less.

Past a limit the run leaves its incremental program and computes the answer in full, once, without states: a wrong
estimate costs what led there, and no more.

* **Rows**, of each of the first `MOST_WATCHED` steps that add to a state, as what a step writes is the first that a run sees of
  how much there is to do. The price of the steps after it is taken for a line through the expected rows and `FAR` times as many;
  the limit is where that meets the price of the dearer full way, as the states have to be built again. A program that is
  chosen though it is dearer, to find out or to keep the states, may cost `TRIED` times what is expected. No limit is below `LEAST` rows.
* **CPU in tasks**, as steps that write little may be dear. A trial may take what the answer alone takes: then it has shown that
  it is not cheaper. A program is on trial whose newest run is not believed any longer; one of which no run is known, and a run
  that begins a join, only where no more is expected of it than of the answer alone. Any other run may take `TRIED` times
  the dearest of the three ways, as most that cost more than full end soon after it. There is no limit where no full run was measured.

Only runs of the policy `auto` over sources that are large enough to be measured have limits at all.

A refresh before the answer is due has no full run to turn back to: it stores nothing, and all is left to the due one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from slacktide.algebra.view import ReadView
from slacktide.optimizer.costs import Coefficients, ProgramWork, work_by_node
from slacktide.optimizer.ways.situation import Situation
from slacktide.optimizer.ways.weighed import Predictions
from slacktide.program import operator as o
from slacktide.program.limits import UNLIMITED, Limits

FAR: Final = 1000.0
"""The factor of the second point of the line."""
LEAST: Final = 100_000
"""Rows that no run turns back for: what is left to do is soon done."""
TRIED: Final = 2.0
"""How many times of what is expected a program may cost that is expected to be dearer than a full run, and how many
times of the dearest way its tasks may take, where a run of it is believed; and how many times of what is expected those of a
refresh may take that stores something early."""
MOST_WATCHED: Final = 2
"""The first steps that write to states, which are watched: each takes an estimate of the whole program."""

WorkOf = Callable[[Mapping[str, float]], ProgramWork]


def limits_of(
    program: o.Program,
    view: ReadView,
    situation: Situation,
    found: Predictions,
    *,
    begins: bool = False,
) -> Limits:
    """Where a run turns back, which may begin a join; nowhere where nobody asks what is cheaper, or all is small."""
    if not _is_watched(situation):
        return UNLIMITED
    work_of = partial(work_by_node, program, situation.statistics, view.relation)
    return break_even(program, work_of, situation.evidence.coefficients, found, begins=begins)


def early_limits_of(situation: Situation, in_tasks: float, margin: float) -> Limits:
    """Where a refresh ends that stores something before the answer is due, and leaves all to the due one.

    Args:
        situation: of the refresh.
        in_tasks: seconds of CPU that its tasks are expected to take.
        margin: seconds by which they may take more before the period costs as much as waiting does.
    """
    if not _is_watched(situation):
        return UNLIMITED
    return Limits(cpu_seconds=round(max(TRIED * in_tasks, in_tasks + margin), 3))


def _is_watched(situation: Situation) -> bool:
    return situation.policy == "auto" and situation.evidence.is_measurable


def break_even(
    program: o.Program,
    work_of: WorkOf,
    rates: Coefficients,
    found: Predictions,
    *,
    begins: bool = False,
) -> Limits:
    """Work out the break-even points of a program.

    Args:
        program: of the run.
        work_of: the work of it, where chains get so many rows and the others as many as expected.
        rates: the price of each kind of work.
        found: what the program, such a run, and building the states anew are expected to cost.
        begins: whether it begins a join, which takes more than other runs on purpose.

    Returns:
        What the run may write to each chain, and take, before it turns back.
    """
    return Limits(_rows(program, work_of, rates, found), _seconds(found, begins=begins))


def _rows(
    program: o.Program, work_of: WorkOf, rates: Coefficients, found: Predictions
) -> dict[str, int]:
    instead = max(found.text.price, found.rebuild.price)
    if found.incremental.price >= found.text.price:
        instead = max(instead, TRIED * found.incremental.price)
    work = work_of({})
    whole = rates.in_tasks(work.total)
    factor = found.incremental.in_tasks / whole if whole else 0.0

    def price_of(work: ProgramWork, place: int) -> float:
        """What the steps after one take, in tasks and outside."""
        rest = work.since(place + 1)
        return factor * rates.in_tasks(rest) + rates.outside(rest)

    limits: dict[str, int] = {}
    watched = [
        (place, step)
        for place, step in enumerate(program.steps)
        if isinstance(step, o.Save) and not step.is_base
    ]
    for place, step in watched[:MOST_WATCHED]:
        rows = max(work.sizes.of(step.child).rows.value, 1.0)
        left = price_of(work, place)
        far = price_of(work_of({step.chain: FAR * rows}), place)
        if far > left:
            share = max(instead - left, 0.0) / (far - left)
            limits[step.chain] = max(round(rows * (1.0 + (FAR - 1.0) * share)), LEAST)
    return limits


def _seconds(found: Predictions, *, begins: bool) -> float | None:
    """What tasks may take; without end where no full run has told what one costs."""
    if "observed" not in (found.text.basis, found.rebuild.basis):
        return None
    extending, alone = found.incremental, found.text.in_tasks
    if begins or extending.basis == "modelled":
        is_trial = extending.in_tasks <= alone
    else:
        is_trial = extending.basis == "doubted"
    if is_trial:
        return round(alone, 3)
    return round(TRIED * max(extending.in_tasks, alone, found.rebuild.in_tasks), 3)
