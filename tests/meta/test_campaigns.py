"""What the campaigns found, as it is committed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from slacktide.workloads import tpch

CAMPAIGNS = Path(__file__).parents[1] / "campaigns"


def found(name: str) -> Any:
    return json.loads((CAMPAIGNS / f"{name}.json").read_text(encoding="utf-8"))


def test_all_tpch_views_held_at_full_length() -> None:
    natures = found("tpch_views")["natures"]
    assert set(natures) == set(tpch.NATURES)
    for done in natures.values():
        assert len(done) >= 8
        assert {step["kind"] for step in done} == {"plain", "late", "empty"}
        assert not any(step["different"] for step in done)
        assert "full" not in {method for step in done for method in step["methods"].values()}
        lively = [
            name
            for name in tpch.QUERIES
            if 2 * sum(step["changed"].get(name, False) for step in done) >= len(done)
            and not any(name in step["empty"] for step in done)
        ]
        assert len(lively) >= 20


def test_the_queries_of_tpcds_held_at_full_length() -> None:
    campaign = found("tpcds_views")
    assert {"seed", "duckdb", "python", "spark"} <= set(campaign)
    runs: dict[str, list[dict[str, Any]]] = {}
    for group in campaign["groups"]:
        assert group["refused"] == {}
        assert len(group["steps"]) >= 8
        assert {step["kind"] for step in group["steps"]} == {"plain", "late", "empty"}
        for step in group["steps"]:
            for text, view in step["views"].items():
                runs.setdefault(text, []).append(view)
    queries = {f"q{number}" for number in range(1, 100)}
    assert {re.sub("[ab]$", "", text) for text in runs} == queries

    def without(texts: set[str]) -> int:
        """How many queries are left, as both texts of a query must hold."""
        return len(queries - {re.sub("[ab]$", "", text) for text in texts})

    full = {text for text, seen in runs.items() if {"full", "failed"} & {v["method"] for v in seen}}
    still = {
        text
        for text, seen in runs.items()
        if 2 * sum(view["changed"] for view in seen) < len(seen)
        or any(view["empty"] for view in seen)
    }
    assert without({text for text, seen in runs.items() if not all(v["equal"] for v in seen)}) >= 97
    assert without(full) >= 85
    assert without(still) >= 90
    assert all(v["reasons"] for text in full for v in runs[text] if v["method"] == "full")
