"""The running example of Tempura: sales, returns, and gross revenue by category (tempura.md §2, A.1)."""

from __future__ import annotations

from slacktide.algebra.textual import from_text
from tests.harness.plans import SourceShape

SALES = SourceShape(
    "sales", (("o_id", "INT", False), ("cat", "STRING", False), ("price", "INT", False))
)
RETURNS = SourceShape("returns", (("o_id", "INT", False), ("cost", "INT", False)))
SUMMARY = from_text(
    """
aggregate key=[cat#6 := #2] [gross#7:BIGINT := sum((CASE WHEN (#5 IS NULL) THEN #3 ELSE (- #5) END))]
  join left on (#1 = #4)
    scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
    scan returns [o_id#4:INT!, cost#5:INT!]
"""
)
OLD_SALES = [(1, "c1", 100), (2, "c2", 150), (3, "c1", 120), (4, "c1", 170)]
NEW_SALES = [(5, "c2", 300), (6, "c1", 150), (7, "c2", 220)]
OLD_RETURNS = [(1, 10)]
NEW_RETURNS = [(2, 20), (6, 15)]
