"""The Spark executor and the reference interpreter run the same programs to the same end."""

from __future__ import annotations

import hypothesis
import pytest

from slacktide.algebra.textual import to_text
from slacktide.program.reference.operators import Bag
from tests.harness.maintained import VIEW, Maintained
from tests.harness.memory import same_bag
from tests.harness.plans import cases
from tests.harness.workspace_on_spark import SparkWorkspace, types_of

EXAMPLES = 10


def signed(rows) -> Bag:
    return [(row[:-1], row[-1]) for row in rows]


def additive(rows) -> Bag:
    """Partial aggregates, without the row of zeros that SQL gives where nothing is summed up."""
    return [(row, 1) for row in rows if any(value != 0 for value in row)]


def check(maintained: Maintained, workspace: SparkWorkspace) -> None:
    """Run the next program in both, compare all that they write, and keep it."""
    plan = maintained.plan()
    if plan.program is None:
        return
    expected = maintained.run(plan)
    found = workspace.run(plan)
    assert found.chains.keys() == expected.saved.keys()
    for chain, saved in expected.saved.items():
        assert same_bag(additive(found.chains[chain]), additive(saved.data)), chain
        types = workspace.schema(chain)
        assert types is None or types == types_of(saved.columns, is_bag=False)
    published = expected.published[VIEW]
    assert same_bag(signed(found.answer), published.data), plan.method
    assert same_bag(signed(found.changes), published.changes), plan.method
    types = workspace.schema(f"views/{VIEW}")
    assert types is None or types == types_of(published.columns, is_bag=True)


@pytest.mark.spark
@hypothesis.settings(
    max_examples=EXAMPLES,
    derandomize=True,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
@hypothesis.given(case=cases(batches=2, rows=4))
def test_executor_equals_reference(spark, tmp_path_factory: pytest.TempPathFactory, case) -> None:
    hypothesis.note(to_text(case.relation))
    maintained = Maintained(case)
    workspace = SparkWorkspace(spark, tmp_path_factory.mktemp("case"), case, view=VIEW)
    for batch in case.batches:
        maintained.arrive(batch)
        workspace.arrive(batch)
        check(maintained, workspace)
