"""A shop with one committed run and one pending change, copied for every test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.shop import Shop


@pytest.fixture(scope="session")
def pending(spark, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Run 1 is committed and a change is accepted, planned and stored; never to be worked on."""
    shop = Shop.open_at(tmp_path_factory.mktemp("shop"))
    shop.stock(spark)
    return shop


@pytest.fixture(scope="session")
def expected(spark, pending: Shop, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The twin in which the same plan was refreshed without any disturbance."""
    twin = pending.copy(tmp_path_factory.mktemp("twin"))
    report = twin.workspace.refresh(spark, twin.plan_id)
    assert {view.method for view in report.views.values()} == {"incremental"}
    twin.check()
    assert twin.workspace.verify(spark).equal
    assert twin.answers() != pending.answers()
    return twin


@pytest.fixture
def copies(pending: Shop, tmp_path: Path) -> Callable[[], Shop]:
    """Make as many copies of the pending shop as a test needs."""
    made: list[Shop] = []

    def copy() -> Shop:
        made.append(pending.copy(tmp_path / f"copy {len(made)}"))
        return made[-1]

    return copy


@pytest.fixture
def shop(copies: Callable[[], Shop]) -> Shop:
    """A copy of the pending shop."""
    return copies()
