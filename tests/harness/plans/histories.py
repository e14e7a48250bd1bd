"""Random histories: what arrives at the sources, batch by batch."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from slacktide.program.reference.bags import Bag
from tests.harness.plans.sources import SourceShape

KINDS = (
    "insert",
    "insert",
    "update",
    "update",
    "delete",
    "none",
    "empty",
    "clear",
    "refill",
    "cancel",
)


@st.composite
def histories(
    draw: Any, sources: tuple[SourceShape, ...], *, batches: int, rows: int
) -> list[dict[str, Bag]]:
    """Batches of signed rows that never delete what is not there.

    A batch has arrivals for one source, both or none; an arrival may be empty, delete everything,
    replace everything, or insert and delete the same row.
    """
    present: dict[str, list[tuple[Any, ...]]] = {source.name: [] for source in sources}
    found = []
    for place in range(draw(st.integers(min(2, batches), batches))):
        numbers = st.lists(st.integers(0, 4**4), min_size=1 if place else 3, max_size=rows)
        batch: dict[str, Bag] = {}
        for source in sources:
            rows_now = present[source.name]
            kind = draw(st.sampled_from(KINDS if place else ("insert",)))
            if kind == "none":
                continue
            fresh = [source.row(number) for number in draw(numbers)] if kind != "empty" else []
            gone: list[tuple[Any, ...]] = []
            if kind in {"clear", "refill"}:
                gone, rows_now[:] = list(rows_now), []
            elif kind in {"delete", "update"}:
                for number in draw(numbers)[: len(rows_now)]:
                    gone.append(rows_now.pop(number % len(rows_now)))
            if kind in {"delete", "clear"}:
                fresh = []
            if kind == "cancel":
                batch[source.name] = [(row, sign) for row in fresh for sign in (1, -1)]
                continue
            rows_now.extend(fresh)
            batch[source.name] = [(row, -1) for row in gone] + [(row, 1) for row in fresh]
        found.append(batch)
    return found
