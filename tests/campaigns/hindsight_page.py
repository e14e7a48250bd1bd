"""Draws what the campaign of choices in hindsight found, whole groups alone, and writes the page of it.

python -m tests.campaigns.hindsight_page
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from tests.campaigns.hindsight import CALIBRATING, NATURES, SHARES
from tests.campaigns.hindsight_cells import (
    Cell,
    cells,
    increments_beside_full,
    summary,
    totals,
    with_jobs,
)
from tests.campaigns.hindsight_sequences import (
    History,
    by_best_sequence,
    histories,
    times_of_best,
)

ROOT: Final = Path(__file__).parents[2]
FOUND: Final = ROOT / "tests" / "campaigns" / "hindsight.json"
PAGE: Final = ROOT / "provider" / "docs" / "hindsight.md"

_HEAD: Final = """# Choices in hindsight

Does the planner choose right between increments and full? Three workspaces follow the same arrivals at TPC-H scale {scale:g}: in
one the planner chooses, in one each view is maintained by increments whatever that costs, in one each is computed from
its sources. Ten arrivals let the planner see what its runs cost. Then each share of the base comes in each nature
{repetitions} times, in an order that is drawn, and the three refresh in turns.

Spark {spark}, {cores} cores ({machine}), Slacktide {slacktide} ({commits}). To repeat it, into a file of another name, as what the file holds is not run again; four views take an hour and a half:

```sh
python -m tests.campaigns.hindsight --folder FOLDER --out FILE
```

*This page is written by `python -m tests.campaigns.hindsight_page` from `tests/campaigns/hindsight.json`.*
"""
_READING: Final = """## How to read it

What a way costs is the median of its seconds of CPU in tasks. A choice is *wrong* where the way that was taken in most repetitions
costs more than the other one by more than the noise of both; noise is the median difference between one run of a way and
its next. Near the best is what is at most 1.1 times what the better way takes, or 0.1 s more: of the
way that was taken mostly its median in the workspace where it is always taken, and of a cell what the planner's own runs took, by the runs beside
them; what keeps states for later runs is part of that. Where the runs took more than is near, by more than the noise, that is *beyond noise*. Arrivals before which a full run had
left the states behind offer no increments to choose, and count in neither.

Each cell of the table names the way that was taken mostly, i for increments and f for full, and how many times of the better way's CPU the
planner's runs took. Cells that are wrong or not near are bold; · is a view of which no pair was there to compare, as what arrived does not concern it, - one whose
states had been left before each of them.
"""


def page(found: Mapping[str, Any]) -> str:
    """Draw the page of a campaign, of its whole groups."""
    told = whole(found)
    measured = [one for one in told if one["number"] > len(CALIBRATING)]
    played: dict[str, dict[str, None]] = {}
    for one in told:
        played.setdefault(one["group"], {})[one["commit"]] = None
    commits = (f"{_span(group)} on {', then '.join(at)}" for group, at in played.items())
    head = _HEAD.format(**found, commits="; ".join(commits))
    lines = [head, *_figures(measured, found), "", _READING, *_matrix(measured), ""]
    lines += _misses([cell for cell in cells(measured) if cell.choices])
    lines += ["", *_sequences(histories(measured))]
    return "\n".join(lines).rstrip() + "\n"


def whole(found: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The rounds of groups whose answers were compared in the end."""
    return [one for one in found["rounds"] if one["group"] in found["different"]]


def _span(group: str) -> str:
    return f"{group.split()[0]} to {group.split()[-1]}"


def _figures(measured: Sequence[Mapping[str, Any]], found: Mapping[str, Any]) -> Iterator[str]:
    figures, priced = summary(measured), summary(with_jobs(measured))
    different = {
        view for told in found["different"].values() for many in told.values() for view in many
    }
    errors = figures["error of expected CPU"]
    groups = ", ".join(map(_span, found["different"]))
    yield f"* Views: {groups}. Answers that differ from batch in the end: {', '.join(sorted(different)) or 'none'}."
    yield f"* Cells with a choice: {figures['cells']}, of which in {figures['even']} the ways differ by no more than noise."
    yield (
        f"* **Right: {figures['right']:.1%}**. The way that was taken mostly costs near what the best one does in {figures['way near the best']:.1%};"
        f" what the planner's own runs took is near the best in {figures['near the best']:.1%}."
    )
    yield (
        f"* Of the cells that are not near the best, {figures['beyond noise']} are so by more than noise. A planner that takes the better way of each cell each"
        f" time would not be near in {figures['not near by noise alone']:.0f} of all cells, by noise alone: so many, on average, where runs are drawn anew from those of the ways."
    )
    told = {name: f"{seconds:,.0f} s" for name, seconds in totals(cells(measured)).items()}
    yield (
        f"* All in all the planner's runs took {told['chosen']} of CPU, increments always {told['incremental']}, full always {told['full']},"
        f" the way that is better in the median of its cell {told['better']}, and the cheaper of both each time {told['cheaper']}."
    )
    yield (
        f"* Held against the [cheapest sequence of ways](#all-runs-of-a-view), of who had known all arrivals before, they took {times_of_best(histories(measured)):.2f} times as much."
    )
    of_best = [cell for cell in cells(by_best_sequence(measured)) if cell.choices]
    missed = [cell for cell in of_best if not cell.are_runs_near]
    yield (
        f"* That sequence is not near the better way in {len(missed)} of {len(of_best)} cells itself, in {sum(cell.is_beyond_noise for cell in missed)} by more than noise: after a large change"
        " it builds states that the runs to come save more by. A planner whose every run is near pays more in all."
    )
    guard = increments_beside_full(measured)
    yield (
        f"* Its {guard['runs']} runs by increments took {guard['seconds']:,.0f} s, full runs beside them {guard['full']:,.0f} s. {guard['turned']} of them"
        f" [turned back](adr/0012-turning-back.md), at {guard['median']:.1f} times of full at the median and {guard['most']:.1f} at most."
    )
    yield (
        f"* With what jobs, stages and planning take besides, at default prices, which the planner reckons with: right {priced['right']:.1%},"
        f" near the best {priced['near the best']:.1%}."
    )
    if errors["median"] is not None:
        yield (
            f"* CPU as expected before each of the planner's runs against what it took: off by {errors['median']:.0%} at the median, and by a"
            f" factor of {1 + errors['90th percentile']:.2f} at the 90th percentile."
        )


def _matrix(measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found = {(cell.view, cell.nature, cell.share): cell for cell in cells(measured)}
    columns = [*product(NATURES, SHARES)]
    views = list(dict.fromkeys(view for one in measured for view in one["chosen"]))
    yield "| view | " + " | ".join(f"{nature} {share:.2%}" for nature, share in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for view in views:
        yield f"| {view} | " + " | ".join(_shown(found.get((view, *one))) for one in columns) + " |"


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "·"
    if not cell.choices:
        return "-"
    text = f"{cell.choice[0]} {cell.regret:.2f}"
    return text if cell.is_right and cell.are_runs_near else f"**{text}**"


def _misses(found: Sequence[Cell]) -> Iterator[str]:
    missed = [cell for cell in found if not (cell.is_right and cell.are_runs_near)]
    if not missed:
        return
    yield "## What was missed"
    yield ""
    yield "Medians of seconds of CPU: *chosen* is what the planner's runs with a choice took, the ways are the runs beside them."
    yield ""
    yield "| view | nature | share | taken | chosen | increments | full | noise | right | near | beyond noise |"
    yield "|---" * 11 + "|"
    for cell in missed:
        seconds = (f"{one:.2f}" for one in (*cell.taken.values(), cell.noise))
        told = (cell.is_right, cell.are_runs_near, cell.is_beyond_noise)
        verdicts = ("yes" if so else "no" for so in told)
        where = (cell.view, cell.nature, f"{cell.share:.2%}", cell.choice)
        yield f"| {' | '.join((*where, *seconds, *verdicts))} |"


def _sequences(found: Sequence[History]) -> Iterator[str]:
    yield "## All runs of a view"
    yield ""
    yield "A run that keeps states for later ones may be dearer than another way, and pay. So all runs of a view are held against the cheapest sequence of ways,"
    yield "too: increments need states, and a full run leaves none unless it builds them, for *building* more, the median of the planner's own runs. The sequence is"
    yield "put together from runs of the other workspaces, so that the planner's own may take less."
    yield ""
    yield "| view | building | increments | full | best sequence | chosen | of best |"
    yield "|---" * 7 + "|"
    for one in found:
        taken = one.taken
        seconds = (one.building, taken["incremental"], taken["full"], one.best, taken["chosen"])
        told = (*(f"{each:.1f}" for each in seconds), f"{one.times_of_best:.2f}")
        yield f"| {' | '.join((one.view, *told))} |"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(json.loads(FOUND.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
