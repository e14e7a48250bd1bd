"""A slice of the table of capabilities; all of it is a campaign, which writes the page.

What is recomputed by the groups that changed is played always, of all constructs another twelfth each day.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.common.clock import system_clock
from tests.harness.capabilities import CHANGES, PAGE, played
from tests.harness.constructs import CONSTRUCTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
EVERY = 12
BY_GROUPS = (
    "INTERSECT",
    "EXCEPT ALL",
    "DISTINCT",
    "MIN, MAX",
    "window with PARTITION BY",
    "collation",
)


def test_constructs_are_maintained_as_the_page_says(spark: SparkSession, tmp_path: Path) -> None:
    day = system_clock().toordinal()
    chosen = list(dict.fromkeys([*BY_GROUPS, *[*CONSTRUCTS][day % EVERY :: EVERY]]))
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = {line.split(" | ")[0].removeprefix("| "): line for line in lines}
    for construct, one in played(spark, tmp_path, chosen, [*CHANGES]).items():
        assert ("| full |" in cells[construct]) == bool(one.reasons), construct
        assert cells[construct].endswith(f"| {' '.join(one.reasons)} |")
