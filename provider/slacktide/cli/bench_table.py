"""The tables of the bench: each view beside its batch run, and what all of them come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slacktide.cli.screen import say, show_table

_COUNTED = ("rows_read", "bytes_read", "cpu_seconds", "wall_seconds", "jobs", "stages", "writes")
HEADS = (
    "view",
    "method",
    "rows read",
    "of batch",
    "CPU s",
    "of batch",
    "jobs",
    "stages",
    "writes",
)
_HALF = 0.5
_LESS = ((0.1, "a tenth"), (_HALF, "half"))
# Increments that read half of what batch reads, or more, are not called so.
_WIDE = {"incremental": "touched keys"}

Cell = Mapping[str, Any]


def show(found: Mapping[str, Any]) -> None:
    """Print a table for each nature and share, and the sums below it."""
    for (nature, share), cells in grouped(found["cells"]).items():
        say(f"\n{nature}, {share:.2%} of the rows, {len(cells)} arrivals", style="bold")
        show_table(HEADS, [*rows(cells)], right={*HEADS[2:]}, firm={"method"})
        for line in sums(cells):
            say(line)
    first = found["first_build"]
    say(
        f"\nfirst build: {first['java_cpu_seconds']:.1f} s of Java CPU,"
        f" {first['wall_seconds']:.1f} s; kept: states {_megabytes(found['state_bytes'])},"
        f" mirrors {_megabytes(found['mirror_bytes'])}, beside"
        f" {_megabytes(found['plain_bytes'])} of plain tables"
    )


def grouped(cells: Sequence[Cell]) -> dict[tuple[str, float], list[Cell]]:
    """The cells of each nature and share."""
    groups: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell["nature"], cell["share"]), []).append(cell)
    return groups


def rows(cells: Sequence[Cell]) -> Iterator[tuple[object, ...]]:
    """The row of each view: the sums over all arrivals, against those of batch."""
    for name in cells[0]["batch"]["views"]:
        mine, batch = total(cells, "slacktide", name), total(cells, "batch", name)
        methods = {cell["slacktide"]["views"][name]["method"] for cell in cells}
        if mine["rows_read"] >= _HALF * batch["rows_read"]:
            methods = {_WIDE.get(method, method) for method in methods}
        yield (
            name,
            ", ".join(sorted(methods)) + (" DIFFERENT" if _differs(cells, name) else ""),
            mine["rows_read"],
            ratio(mine, batch, "rows_read"),
            mine["cpu_seconds"],
            ratio(mine, batch, "cpu_seconds"),
            mine["jobs"],
            mine["stages"],
            mine["writes"],
        )


def sums(cells: Sequence[Cell]) -> Iterator[str]:
    """What all views come to, in lines."""
    names = [*cells[0]["batch"]["views"]]
    both = [(total(cells, "slacktide", n), total(cells, "batch", n)) for n in names]
    untouched = sum(not m["rows_read"] for m, _ in both)
    for share, told in _LESS:
        few = sum(m["rows_read"] <= share * b["rows_read"] for m, b in both)
        yield (
            f"rows read at most {told} of batch: {few} of {len(names)} views,"
            f" {untouched} of them read none"
        )
    mine, batch = whole(cells, "slacktide"), whole(cells, "batch")
    for key, what in (
        ("rows_read", "rows read"),
        ("bytes_read", "bytes read"),
        ("cpu_seconds", "CPU seconds of tasks"),
        ("jobs", "jobs"),
        ("stages", "stages"),
    ):
        yield f"{what}: {mine[key]:,.0f} against {batch[key]:,.0f}, {ratio(mine, batch, key)}"
    for key, what in (
        ("java_cpu_seconds", "CPU seconds of Java as a whole"),
        ("wall_seconds", "wall seconds"),
    ):
        one = sum(cell["slacktide"][key] for cell in cells)
        other = sum(cell["batch"][key] for cell in cells)
        yield f"{what}: {one:,.0f} against {other:,.0f}, {one / other:.2f}"


def ratio(mine: Mapping[str, float], batch: Mapping[str, float], key: str) -> str:
    """One figure as a share of batch's."""
    return f"{mine[key] / batch[key]:.3f}" if batch[key] else "-"


def total(cells: Sequence[Cell], side: str, name: str) -> dict[str, float]:
    """What a view cost one side, all arrivals together."""
    costs = [cell[side]["views"][name] for cell in cells]
    return {key: sum(cost.get(key, 0) for cost in costs) for key in _COUNTED}


def whole(cells: Sequence[Cell], side: str) -> dict[str, float]:
    """What one side cost, all arrivals together: its views, and what belongs to none of them."""
    costs = [cost for cell in cells for cost in _costs(cell[side])]
    return {key: sum(cost.get(key, 0) for cost in costs) for key in _COUNTED}


def _costs(side: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from side["views"].values()
    yield from side.get("mirrors", {}).values()
    yield from side.get("compactions", {}).values()
    yield side.get("asked", {})


def _differs(cells: Sequence[Cell], name: str) -> bool:
    return any(name in cell["different"] for cell in cells)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"
