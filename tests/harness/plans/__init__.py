"""Random relations over random sources, and random histories of their changes.

Domains are tiny, so that rows repeat, keys meet, groups empty and NULLs stand everywhere. A row is
drawn as one number, which keeps the generator fast and lets hypothesis shrink well. What a relation gives
never depends on the order of rows: an order that matters is made total.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from slacktide.algebra import relation as r
from tests.harness.plans.builder import Builder
from tests.harness.plans.histories import histories
from tests.harness.plans.sources import DOMAINS, Case, SourceShape, shapes

__all__ = ["DOMAINS", "Builder", "Case", "SourceShape", "cases", "histories", "relations", "shapes"]


@st.composite
def relations(draw: Any, sources: tuple[SourceShape, ...], *, is_exact: bool = False) -> r.Rel:
    """A relation over the sources.

    Args:
        draw: given by hypothesis.
        sources: what it may read.
        is_exact: leave out aggregates that Spark rounds at every row, and lists.
    """
    builder = Builder(draw, sources, is_exact=is_exact)
    return builder.relation(draw(st.sampled_from((1, 2, 2, 3, 3, 4, 5))))


@st.composite
def cases(draw: Any, *, batches: int = 4, rows: int = 5, is_exact: bool = False) -> Case:
    """A whole case."""
    sources = draw(shapes())
    relation = draw(relations(sources, is_exact=is_exact))
    return Case(relation, sources, draw(histories(sources, batches=batches, rows=rows)))
