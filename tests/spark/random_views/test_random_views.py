"""Random views against batch: a slice of `tests/campaigns/random_views.py`, and what it found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns.random_views import summary
from tests.harness.daily import REFRESHES, daily
from tests.harness.eager import are_eager
from tests.harness.random_sql.moves import MOVES
from tests.harness.random_sql.nodes import QUERY, Leaf
from tests.harness.random_sql.removals import LOST, Removal, remembered
from tests.harness.random_sql.rounds import Player
from tests.harness.random_sql.shrinking import Case, replay
from tests.harness.random_sql.streams import stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slacktide.engine.workspace import Workspace

SEED = 7_000_000
DAILY = 6
FIRST, VIEWS = (
    1_000_000,
    24,
)  # and some over these: the first of the campaign, over another stream
FOUND = Path(__file__).with_name("found")

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def test_every_answer_equals_batch(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 3, range(FIRST, FIRST + VIEWS))
    player.load(compare=False)
    player.together(2)
    found = summary({"batches": 2, "rounds": [player.round.to_dict()]})
    assert [case.wrong for case in player.failures] == []
    assert found["views"] >= 29
    assert found["refused by Spark"] == 0
    assert found["answers"]["not empty"] >= 0.8
    assert len(found["constructs"]) >= 70


def test_the_same_rows_by_another_way(spark: SparkSession, tmp_path: Path) -> None:
    player = Player(spark, tmp_path, 5, range(SEED + 1001, SEED + 1003))
    player.load(compare=False)
    player.moves([name for name in MOVES if name != "lost"])
    player.batches_and_views(1, {0: [SEED + 1005]})
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


def test_a_case_is_played_again_as_it_was(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    apply = Removal.apply

    def told(removal: Removal, ws: Workspace) -> None:
        runs = len(ws.status().views["v"]["versions"])
        seen.append((removal.how, are_eager(), "all_facts" in ws.status().views, runs > 0))
        seen.append([chain.id for chain in remembered(ws)] != [])
        apply(removal, ws)

    monkeypatch.setattr(Removal, "apply", told)
    view = Leaf("SELECT k, sum(q) AS s, max(q) AS m FROM facts GROUP BY k", QUERY)
    _, batches = stream(4, 3)
    removals = {3: Removal(LOST)}
    case = Case(view, batches, eager=True, added=2, removals=removals)
    assert replay(spark, tmp_path, case).wrong == ""
    assert seen == [(LOST, True, True, True), True]
    assert not are_eager()


def test_what_was_found_stays_right(spark: SparkSession, tmp_path: Path) -> None:
    wrong = {}
    for path in sorted(FOUND.glob("*.json")):
        (tmp_path / path.stem).mkdir()
        case = Case.from_dict(json.loads(path.read_text()))
        wrong[path.stem] = replay(spark, tmp_path / path.stem, case).wrong
    assert not any(wrong.values()), wrong
