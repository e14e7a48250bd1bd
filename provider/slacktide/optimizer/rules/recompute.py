"""Deltas of windows and limits, by the universal method; a limit keeps the first rows of its input."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.optimizer.recomputing import recompute_at, recompute_delta
from slacktide.optimizer.rule import DeltaRule

RECOMPUTE_TOUCHED_PARTITIONS = DeltaRule(
    name="recompute_touched_partitions",
    node=r.Window,
    identity="Δω(X) = ω(X'│K) − ω(X)│K, K the partitions of ΔX",
    source="ADR 0004: touched keys",
    delta=recompute_delta,
    at=recompute_at,
)
RECOMPUTE_LIMIT = DeltaRule(
    name="recompute_limit",
    node=r.Limit,
    identity="Δλ(X) = λ(F') − λ(X), F' = first(F + ΔX), or first(X') where that has run dry",
    source="ADR 0004: touched keys, of one group; ADR 0007: first rows",
    delta=recompute_delta,
    at=recompute_at,
)
