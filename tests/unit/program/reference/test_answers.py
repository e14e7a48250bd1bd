"""The reference against Spark's answers; see `tests.harness.answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.answers import FOLDER, by_reference, read_answers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.answers")), ids=lambda path: path.stem)
def test_reference_answers_as_spark_does(path: Path) -> None:
    found = {a.sql: (by_reference(a), a.rows) for a in read_answers(path)}
    wrong = {sql: answers for sql, answers in found.items() if answers[0] != answers[1]}
    assert wrong == {}
