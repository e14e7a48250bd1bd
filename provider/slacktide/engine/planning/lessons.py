"""What the report of a run says of a view, read for what it teaches.

Reports are kept as they were written, by earlier builds too: what does not say all in sound figures teaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from slacktide.common.reasons import Reason, code_of
from slacktide.optimizer.costs import Coefficients, PastRun, Sample, Vector
from slacktide.optimizer.costs.increments import fixed_part
from slacktide.optimizer.costs.vector import KINDS

LARGEST_FIGURE = 1e15
"""Seconds, rows or bytes above which a figure is none that a run measured."""

LARGEST_EXPECTED = 1e30
"""And none that was expected of one."""

_STUMBLED = ("CHANGE_FAILS", "PROGRAM_REFUSED")
"""Why a run took the author's text in place of a program that failed."""


def sample_of(told: Any) -> Sample | None:
    """The work of a view and what it took; None where a report does not say both in figures."""
    try:
        actual = told["actual"]
        found = Sample(Vector.of_report(actual), float(actual["cpu_seconds"]))
        is_whole = bool(actual["jobs"]) and not actual.get("partial")
        is_whole = is_whole and _is_sound(found.work, found.seconds)
        # Earlier builds did not count all kinds of work, and expected none of these: neither tells of prices of today.
        is_whole = is_whole and "rows_grouped" in actual
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    return found if is_whole else None


def has_turned_back(told: Any) -> bool:
    """Whether a run left its program for a full one."""
    return isinstance(told, Mapping) and bool(told.get("switched"))


def has_stumbled(told: Any) -> bool:
    """Whether a program failed over a row or to Spark, and the author's text was taken in its place."""
    reasons = told.get("reasons") if isinstance(told, Mapping) else None
    listed = reasons if isinstance(reasons, list | tuple) else ()
    return any(code_of(str(one)) in _STUMBLED for one in listed)


def _sound_count(told: Any) -> int | None:
    return told if isinstance(told, int) and 0 <= told <= LARGEST_FIGURE else None


def _is_sound(work: Vector, *figures: float, most: float = LARGEST_FIGURE) -> bool:
    counts = (getattr(work, kind) for kind in KINDS)
    return all(isfinite(one) and 0 <= one <= most for one in (*counts, *figures))


def _failed_joins(reasons: Iterable[str]) -> Iterator[str]:
    return (Reason.parse(one).detail for one in reasons if code_of(one) == "JOIN_FAILS")


def _savings(remembering: Mapping[str, Any]) -> Mapping[str, float]:
    """What a join that starts to be remembered saves, by its chain, which earlier builds did not tell."""
    if not remembering.get("starts") or "chain" not in remembering:
        return {}
    return {remembering["chain"]: float(remembering["saving"])}


def _joins(told: Mapping[str, Any]) -> Mapping[str, float]:
    """What a run took more for each join that it built: a share of the step that wrote it, as the rest works out what other steps read."""
    shares = told["predicted"].get("joins") or {}
    steps = (step for step in told["actual"].get("steps") or () if step["form"] == "base")
    taken = {step["chain"]: float(step["cpu_seconds"]) for step in steps if step["chain"] in shares}
    return {chain: seconds * float(shares[chain]) for chain, seconds in taken.items()}


def off_by(told: Any, rates: Coefficients) -> float | None:
    """How many times of what the model says a refresh took that stored something for a period, or went by it; None of any other.

    Without what tasks take to start. One that was given up took no less; a due one that turned back tells nothing, as its full run is in it.

    Args:
        told: its report of the view.
        rates: the prices of now.
    """
    try:
        modelled = rates.in_tasks(Vector.of_report(told["predicted"]["period"]["work"]))
        taken = float(told["actual"]["cpu_seconds"])
        found = (taken - fixed_part(taken)) / modelled
        is_its_own = told["method"] == "unchanged" or not has_turned_back(told)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError, ZeroDivisionError):
        return None
    is_sound = isfinite(found) and 0 < found <= LARGEST_FIGURE
    return found if is_sound and is_its_own else None


def past_run(run: int, told: Any) -> PastRun | None:
    """A run of a view; None where its report does not say what was expected, and what it took."""
    taken = sample_of(told)
    if taken is None:
        return None
    try:
        predicted = told["predicted"]
        found = PastRun(
            run=run,
            way=predicted["way"],
            program=predicted["program"],
            expected=Vector.of_report(predicted),
            measured=taken.work,
            in_tasks=taken.seconds,
            prices={one["way"]: float(one["price"]) for one in predicted.get("alternatives", ())},
            # What nobody has counted was told by the bytes of files then, as it is now.
            rows=_sound_count(told.get("rows") or predicted.get("source_rows")),
            changed=_sound_count(predicted.get("changed_rows")),
            # The first run reads rows as they have landed.
            merges=bool(predicted.get("merges", "FIRST_RUN" not in told.get("reasons", ()))),
            unmerged=_sound_count(predicted.get("unmerged_rows")),
            switches="remembering" in predicted,
            turned_back=has_turned_back(told),
            is_first="FIRST_RUN" in told.get("reasons", ()),
            savings=_savings(predicted.get("remembering") or {}),
            joins=_joins(told),
            failed_joins=tuple(_failed_joins(told.get("reasons", ()))),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    # Of joins without keys more may be expected than any run measures, which is no reason to learn nothing of it.
    figures = (*found.prices.values(), *found.savings.values(), *found.joins.values())
    return found if _is_sound(found.expected, *figures, most=LARGEST_EXPECTED) else None
