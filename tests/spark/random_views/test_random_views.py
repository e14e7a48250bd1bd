"""Random views against batch: a slice of `tests/campaigns/random_views.py`, and what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.random_views import summary
from tests.harness.daily import REFRESHES, daily
from tests.harness.random_sql.moves import MOVES
from tests.harness.random_sql.rounds import Player
from tests.harness.random_sql.shrinking import Case, replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 7_000_000
DAILY = 10
VIEWS = 84  # and 17 views over some of them
FOUND = Path(__file__).with_name("found")

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def test_every_answer_equals_batch(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 3, range(SEED, SEED + VIEWS))
    player.load(compare=False)
    player.together(2)
    found = summary({"rounds": [player.round.to_dict()]})
    assert [case.wrong for case in player.failures] == []
    assert found["refused by Spark"] <= 2
    assert found["answers"]["not empty"] >= 0.8
    assert len(found["constructs"]) >= 100


def test_the_same_rows_by_another_way(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 5, range(SEED + 1001, SEED + 1005))
    player.load(compare=False)
    player.moves([name for name in MOVES if name != "lost"])
    player.add(range(SEED + 1005, SEED + 1006))
    player.batches(1)
    assert [case.wrong for case in player.failures] == []


def test_answers_that_are_due_now_and_then(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 8, range(SEED + 2001, SEED + 2001 + DAILY))
    with daily():
        player.load(compare=False)
        player.days(1, REFRESHES)
    assert [case.wrong for case in player.failures] == []
    stored = [view.name for view in player.round.views if "s" in view.methods]
    assert len(stored) >= DAILY // 4


def test_files_that_are_lost_are_made_again(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 6, range(SEED + 1001, SEED + 1003))
    player.load(compare=False)
    player.moves(["lost"])
    assert [case.wrong for case in player.failures] == []


def test_what_was_found_stays_right(spark: SparkSession, tmp_path: Path) -> None:
    wrong = {}
    for path in sorted(FOUND.glob("*.json")):
        (tmp_path / path.stem).mkdir()
        case = Case.from_dict(json.loads(path.read_text()))
        wrong[path.stem] = replay(spark, tmp_path / path.stem, case).wrong
    assert not any(wrong.values()), wrong
