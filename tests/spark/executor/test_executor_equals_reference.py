"""The Spark executor and the reference interpreter run the same programs to the same end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from slacktide.algebra.textual import to_text
from slacktide.optimizer.rule_parts import first
from slacktide.program import lightness
from slacktide.program.reference.bags import Bag
from tests.harness.maintained import VIEW, Maintained
from tests.harness.memory import same_bag
from tests.harness.plans import cases
from tests.harness.workspace_on_spark import SparkWorkspace, types_of

SHARDS = 5
SETTINGS = hypothesis.settings(
    max_examples=15,
    database=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)


def signed(rows) -> Bag:
    return [(row[:-1], row[-1]) for row in rows]


def additive(rows) -> Bag:
    """Partial aggregates, without the row of zeros that SQL gives where nothing is summed up."""
    return [(row, 1) for row in rows if any(value != 0 for value in row)]


def check(maintained: Maintained, workspace: SparkWorkspace, *, on_spark: bool) -> None:
    """Run the next program in both and compare all that they write; or adopt it unseen."""
    plan = maintained.plan()
    if plan.program is None:
        return
    expected = maintained.run(plan)
    if not on_spark:
        workspace.adopt(expected, plan)
        return
    found = workspace.run(plan)
    assert found.chains.keys() == expected.saved.keys()
    for chain, saved in expected.saved.items():
        rows = found.chains[chain]
        if saved.is_state:
            assert same_bag(additive(rows), additive(saved.data)), chain
        else:
            assert same_bag(signed(rows), saved.data), chain
        types = workspace.schema(chain)
        assert types is None or types == types_of(saved.columns, is_bag=not saved.is_state)
    published = expected.published[VIEW]
    assert same_bag(signed(found.answer), published.data), plan.method
    assert same_bag(signed(found.changes), published.changes), plan.method
    types = workspace.schema(f"views/{VIEW}")
    assert types is None or types == types_of(published.columns, is_bag=True)


@SETTINGS
@hypothesis.given(data=st.data())
def executor_equals_reference(spark, root: Path, data: st.DataObject) -> None:
    case = data.draw(cases(batches=2, rows=4, is_exact=True))
    first_too = data.draw(st.integers(0, 3)) == 3
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    workspace = SparkWorkspace(spark, Path(tempfile.mkdtemp(dir=root)), case, view=VIEW)
    for number, batch in enumerate(case.batches):
        maintained.arrive(batch)
        workspace.arrive(batch)
        check(maintained, workspace, on_spark=number > 0 or first_too)


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_executor_equals_reference(
    spark, tmp_path: Path, shard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run of most cases is the reference's: what it stored is what Spark goes on from."""
    if shard % 2:
        monkeypatch.setattr(lightness, "MOST_READ", -1)  # as queries of large data run
        monkeypatch.setattr(first, "FEWEST_KEPT", 1)
    hypothesis.seed(shard)(executor_equals_reference)(spark, tmp_path)
