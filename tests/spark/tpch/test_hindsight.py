"""Three workspaces over the same arrivals: a slice of `tests.campaigns.hindsight`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slacktide.cli.showcase import Showcase
from tests.campaigns.hindsight import SEED, WAYS
from tests.campaigns.side_by_side import SideBySide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def test_each_workspace_goes_its_way_and_an_arrival_lands_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    case = Showcase(tmp_path, 0.01, ("q4", "q6"))
    found = SideBySide(spark, case, WAYS, SEED).round(1, "scattered", 0.001, 0)
    methods = {name: {told["choice"] for told in found[name].values()} for name in WAYS}
    assert methods["incremental"] == {"incremental"}
    assert methods["full"] == {"full"}
    assert sorted(found["order"]) == sorted(WAYS)
    assert all(told["seconds"] > 0 for name in WAYS for told in found[name].values())
    again = SideBySide(spark, case, WAYS, SEED)
    repeated = again.round(1, "scattered", 0.001, 0)
    assert {told["choice"] for told in repeated["chosen"].values()} == {"unchanged"}
    assert not any(again.different().values())
