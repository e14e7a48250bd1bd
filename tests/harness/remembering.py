"""A view that may remember a join, and what its runs take with it and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide import store as s
from slacktide.algebra.tree import sources
from slacktide.algebra.view import ReadView
from slacktide.common.tree import of_type
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.ways import remembered_joins
from slacktide.optimizer.ways.savings import pays
from slacktide.program import operator as o
from tests.harness.planner.tpch_views import TPCH
from tests.harness.priced import Priced

if TYPE_CHECKING:
    import pytest


def opened(root: Path, settings: dict[str, Any] | None = None) -> Priced:
    """Q17: what is sold of few parts in small quantities, as measured by all that is sold of them."""
    relation = TPCH.relation("q17")
    read = ReadView(relation=relation, outputs=relation.columns, sources=sources(relation))
    rows = {name: TPCH.rows[name] for name in read.sources}
    return Priced(root, read, rows, settings=settings)


def reads(plan: ViewPlan, source: str) -> bool:
    """Whether a run reads a table."""
    assert plan.program is not None
    return any(read.source == source for read in of_type(plan.program, o.ReadSnapshot))


def reads_join(plan: ViewPlan, chain: str) -> bool:
    """Whether a run reads what it has saved of a join."""
    assert plan.program is not None
    return any(read.chain == chain for read in of_type(plan.program, o.ReadSaved))


def begins(plan: ViewPlan) -> bool:
    """Whether a run starts to remember a join."""
    return bool(plan.predicted.get("remembering", {}).get("starts"))


def refreshed(priced: Priced, *, with_it: float, without: float, lines: int = 6_000) -> ViewPlan:
    """Let lines arrive and refresh, at prices with and without what is remembered."""
    priced.arrive("lineitem", lines)
    plan = priced.ws.plan().views[0]
    paid = with_it if plan.remembers and not begins(plan) else without
    priced.run(lambda _: paid if plan.method == "incremental" else 4 * without)
    return plan


def change(priced: Priced, *, is_large: bool) -> None:
    """Let few lines arrive that lie together, or many that lie anywhere."""
    priced.arrive("lineitem", 600_000 if is_large else 6_000)
    priced.cover("lineitem", "l_partkey", 1.0 if is_large else 1e-4)


def let_starts_cost(patch: pytest.MonkeyPatch, cost_of: Callable[[float, float], float]) -> None:
    """Have it be thought that starting a join costs something else, by what it saves and what it was to cost."""
    patch.setattr(
        remembered_joins,
        "pays",
        lambda saving, cost, times, price: pays(saving, cost_of(saving, cost), times, price),
    )


def remembered(priced: Priced) -> str:
    """The join that runs have started to remember."""
    priced.run(lambda _: 12.0)
    plans = [refreshed(priced, with_it=0.5, without=3.0) for _ in range(8)]
    (joined,) = plans[-1].remembers
    return joined


def lose_what_operators_need(priced: Priced, joined: str) -> None:
    """Drop a state that is not the join."""
    needed = next(c for c in priced.world().chains if c.startswith("states/") and c != joined)
    priced.commit(s.DropChain(needed))
