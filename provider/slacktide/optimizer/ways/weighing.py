"""Which way a maintained view is computed in a run: by increments, with its states anew, or without states.

The way that is expected to be cheapest is taken, or one that keeps the states for little more, as soon as a run
has shown what the view's query weighs. Before that, and where a view is too small for measurements to mean
much, a change is taken in by increments up to a share of the sources, unless these have turned out plainly dearer.

* **Never dearer than full.** By the very prices that are stored with the plan, unless to keep the states or to find out; the reason says which.
* **The answer alone is run where no run of it is known** and it may be cheapest, as nobody knows what it costs.
* **A program that has not run is tried, and evidence expires**, as `case` says.
* **States are left when small changes are rare, and built again when lacking them has cost as much as building**, as `keeping` says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slacktide.common.reasons import Reason
from slacktide.optimizer.costs import Prediction
from slacktide.optimizer.ways.case import LARGEST_SHARE, Case
from slacktide.optimizer.ways.keeping import missed_since, saved_by_one, worth_keeping
from slacktide.optimizer.ways.weighed import Predictions, Weighed

CLOSE: Final = 0.8
"""The share of what building costs above which increments are dear enough to see what the answer alone takes."""

PLAINLY: Final = 2.0
"""Increments of a small view count as plainly dearer above so many times full, and `WARMTH` besides."""

WARMTH: Final = 2.0
"""Seconds of CPU that one run takes more than another because Java has just started."""


def weigh(case: Case) -> Weighed:
    """Choose the way of a view that has an answer, and of which a source has changed."""
    found = case.predictions()
    incremental, rebuild, text = found.incremental, found.rebuild, found.text
    if not case.evidence.runs or not case.evidence.is_measurable:
        return _by_share(case, found)
    full = case.cheaper_full(found)
    if incremental.basis == "doubted":
        return _tried(case, found, _compared("INCREMENTS_UNTRIED", incremental, full))
    if incremental.price > full.price:
        return _full_way(case, found, full)
    if not case.missing:
        return _unless_untried(case, found, _compared("CHEAPER_INCREMENTAL", incremental, full))
    missed = missed_since(case, text.price - incremental.price)
    if full is text and missed < rebuild.price - text.price:
        return found.taken("text", _not_yet(missed, rebuild, text, case.later))
    return found.taken("rebuild", Reason("STATE_MISSING", case.missing))


def _full_way(case: Case, found: Predictions, full: Prediction) -> Weighed:
    """The cheaper full way, or what keeps the states, while that costs less than they save.

    The answer alone is taken once in any case, as nobody knows before what it costs.
    """
    cheaper = _compared("CHEAPER_FULL", full, found.incremental)
    is_known = found.text.basis == found.rebuild.basis == "observed"
    if full is found.rebuild or case.missing or not is_known:
        return found.taken(full.way, cheaper)
    by = (found.incremental,) if case.is_kept_by_others else (found.incremental, found.rebuild)
    keeping = min(by, key=lambda one: one.price)
    cost = keeping.price - full.price
    if case.later is not None:
        saved = case.later * saved_by_one(case, full.price)
        told = f"{cost:.2f} s more, {saved:.2f} s saved by the runs to come"
    else:
        saved = worth_keeping(case, full.price)
        told = f"{cost:.2f} s more, {saved:.2f} s that keeping is worth"
    if cost >= saved:
        return found.taken("text", cheaper)
    return found.taken(keeping.way, cheaper, Reason("STATES_PAY", told))


def may_build(case: Case, found: Weighed) -> bool:
    """Whether a run that goes in full may build a join with the states: where it builds these, or nobody else keeps one.

    Nor where it is to find out what it costs without.
    """
    is_known = found.of("text").basis == "observed"
    return found.way == "rebuild" or (is_known and not case.is_shared)


def with_join(found: Weighed, saving: float, cost: float) -> Weighed:
    """The full way that builds the states, where it builds a join with them that increments have lacked.

    Args:
        found: the full way that was to be taken.
        saving: seconds of CPU that a run by increments will take less than a full one.
        cost: seconds of CPU that this run takes more.
    """
    if found.way == "rebuild":
        return found
    told = f"{cost:.2f} s more with a join, by which each run saves {saving:.2f} s"
    others = (reason for reason in found.reasons if reason.code != "STATES_LEFT")
    return replace(found, way="rebuild", reasons=(*others, Reason("STATES_PAY", told)))


def _unless_untried(case: Case, found: Predictions, cheaper: Reason) -> Weighed:
    """Increments, as these are cheaper, or the answer alone where no run of it is known and they are hardly cheaper than building.

    What it costs is then thought to be what building does, which would never be refuted.
    """
    incremental, rebuild = found.incremental, found.rebuild
    alone = (case.ways.text, case.ways.other)
    is_known = any(case.evidence.newest(one.program) is not None for one in alone)
    is_seen = (
        incremental.basis == rebuild.basis == "observed"
    )  # the model alone speaks against nothing
    if is_known or not is_seen or case.is_shared or incremental.price <= CLOSE * rebuild.price:
        return found.taken("incremental", cheaper)
    told = f"{rebuild.price:.2f} s of CPU with states, {incremental.price:.2f} s by increments"
    return found.taken("text", Reason("ANSWER_UNTRIED", told))


def _by_share(case: Case, found: Predictions) -> Weighed:
    """The way of a view that is small: by the share that has changed, unless runs have shown that to be plainly dearer."""
    incremental, rebuild = found.incremental, found.rebuild
    are_seen = incremental.basis == rebuild.basis == "observed"
    if are_seen and not case.missing and incremental.price > PLAINLY * rebuild.price + WARMTH:
        return found.taken("rebuild", _compared("CHEAPER_FULL", rebuild, incremental))
    if case.share > LARGEST_SHARE and not case.missing:
        return found.taken("rebuild", Reason("CHANGE_TOO_LARGE", f"{case.share:.0%}"))
    return _tried(case, found, Reason("CHANGE_SMALL", f"{case.share:.1%}"))


def _tried(case: Case, found: Predictions, *why: Reason) -> Weighed:
    if case.missing:
        return found.taken("rebuild", Reason("STATE_MISSING", case.missing))
    return found.taken("incremental", *why)


def _compared(code: str, taken: Prediction, other: Prediction) -> Reason:
    """Why a way is taken: what it and the other one are expected to cost."""
    how = "by increments" if other.way == "incremental" else "in full"
    return Reason(code, f"{taken.price:.2f} s of CPU against {other.price:.2f} s {how}")


def _not_yet(missed: float, rebuild: Prediction, text: Prediction, later: int | None) -> Reason:
    more = rebuild.price - text.price
    saved = "missed" if later is None else "saved by the runs to come"
    return Reason("STATES_LEFT", f"{missed:.2f} s {saved}, {more:.2f} s to build them")
