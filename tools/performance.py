"""The page of performance, drawn from the benches that are committed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slacktide.cli.bench_table import HEADS, Cell, grouped, ratio, rows, sums, total
from tools.bootstrap import ROOT

CAMPAIGNS = ROOT / "tests" / "campaigns"
_UNASKED = (
    "When this was measured, reports did not tell what a refresh asks of Spark without writing it, such as whether "
    "foreign keys go on to hold: that is in Java's CPU and in wall time alone."
)
_DEAR = 0.5
_SHOWN = 3
_HEAD = """# Performance

All 22 TPC-H views in one workspace: what one refresh takes after an arrival, beside a batch run of each
query over plain Parquet tables of the same rows, which writes its answer, too. Both run in one warm session,
in turns. Figures are sums over the arrivals of a nature. *Of batch* is a ratio: below 1 the refresh is cheaper.

*incremental*: the view reads less than half of the rows that batch reads. *touched keys*: it goes by changes, and yet
half of these rows or more are read. *unchanged*: what arrived does not concern it.

Natures: *clustered* arrivals append orders above the greatest key and delete the oldest ones; *scattered*
ones update, insert and delete rows anywhere in every table.

*This page is written by `python -m tools.docs` from the files that its commands wrote.*
"""
_READING = """## Reading the tables

* A refresh has a fixed price: each job, stage and plan costs Java some hundredths of a second, whatever the
  rows. A query that batch answers in half a second of CPU gains nothing at this scale.
* Scattered: when every table changes a little everywhere, each of them leads to a term that reads the others
  nearly whole, some several times, and no range of keys helps.
* What Spark counts as bytes read leaves out vectored reads of Parquet, so that plain tables seem to cost
  next to none. Rows are counted alike on both sides, after row groups and pages were skipped.
"""


def performance_page() -> str:
    """Draw the tables of the benches that are committed, the bad cells too."""
    drawn = ("\n".join(_bench(path)) for path in _benches())
    return "\n".join([_HEAD, *drawn, _READING])


def _benches() -> list[Path]:
    """Those of one nature first, by their names."""
    found = CAMPAIGNS.glob("bench_tpch*.json")
    return sorted(found, key=lambda path: (path.stem == "bench_tpch", path.stem))


def _bench(path: Path) -> Iterator[str]:
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    setting = found["setting"]
    command = (
        f"slacktide bench --scale {setting['scale']:g}"
        + "".join(f" --nature {nature}" for nature in setting["natures"])
        + "".join(f" --share {share:g}" for share in setting["shares"])
        + f" --arrivals {setting['arrivals']} --warming {setting['warming']} --out {path.relative_to(ROOT)}"
    )
    compared = found.get("compared", "a batch run over the workspace's copies of the sources")
    yield f"## {' and '.join(setting['natures']).capitalize()} changes: `{path.name}`"
    yield ""
    yield f"Spark {found['spark']}, {found['cores']} cores, Slacktide {found['slacktide']}. To repeat it:"
    yield from ("", "```sh", command, "```", "")
    if "remark" in found:
        yield from (found["remark"], "")
    yield f"Every answer was compared with {compared}: {_verdict(found['cells'])}."
    yield ""
    yield from _cells(found["cells"])
    yield _kept(found)
    yield ""
    if "notes" in found:
        yield from (*(f"* {note}" for note in found["notes"]), "")


def _verdict(cells: Sequence[Cell]) -> str:
    different = {name for cell in cells for name in cell["different"]}
    return f"{', '.join(sorted(different))} differ" if different else "all are equal"


def _kept(found: Mapping[str, Any]) -> str:
    first, keys = found["first_build"], found.get("references")
    checked = (
        ""
        if keys is None
        else f", and the check of keys and references after it {keys['java_cpu_seconds']:.0f} s"
    )
    return (
        f"The first refresh took {first['java_cpu_seconds']:.0f} s of Java CPU{checked}. Kept: states of "
        f"{found['state_bytes'] / 1e6:.1f} MB and mirrors of {found['mirror_bytes'] / 1e6:.1f} MB, beside plain tables of "
        f"{found['plain_bytes'] / 1e6:.1f} MB."
    )


def _cells(cells: Sequence[Cell]) -> Iterator[str]:
    for (nature, share), alike in grouped(cells).items():
        yield f"### {nature.capitalize()}, {share:.2%} of the rows"
        yield ""
        yield from _table(HEADS, rows(alike))
        yield ""
        yield from (f"* {line}" for line in sums(alike))
        yield ""
        if not any("asked" in cell["slacktide"] for cell in alike):
            yield from (_UNASKED, "")
        yield f"Where rows or CPU are more than {_DEAR:g} of batch's, this is most of what is read:"
        yield ""
        yield from _table(("view", "rows", "CPU", "rows read of", "batch reads"), _dear(alike))
        yield ""


def _dear(cells: Sequence[Cell]) -> Iterator[tuple[object, ...]]:
    """What the views read that cost more than a share of batch's rows or CPU."""
    for name in cells[0]["batch"]["views"]:
        mine, batch = total(cells, "slacktide", name), total(cells, "batch", name)
        if any(mine[key] > _DEAR * batch[key] for key in ("rows_read", "cpu_seconds")):
            yield (
                name,
                ratio(mine, batch, "rows_read"),
                ratio(mine, batch, "cpu_seconds"),
                _inputs(cells, name),
                batch["rows_read"],
            )


def _inputs(cells: Sequence[Cell], name: str) -> str:
    """The tables and states that most rows come from, how often each is read, and their rows."""
    read: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for cell in cells:
        for one in cell["slacktide"]["views"][name].get("operators", ()):
            what = one["operator"]
            what = "states" if what.startswith("states/") else what
            read[what] += one["rows"]
            times[what] += 1
    return ", ".join(
        f"{what} {count:,}" + (f" in {times[what]}" if times[what] > 1 else "")
        for what, count in read.most_common(_SHOWN)
    )


def _table(heads: Sequence[str], lines: Iterator[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    yield from (f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    match value:
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.2f}"
        case _:
            return str(value)
