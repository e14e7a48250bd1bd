"""The reference against Spark's answers; see `tests.harness.answers`."""

from __future__ import annotations

from pathlib import Path

import pytest

from slacktide.algebra.textual import from_text
from slacktide.errors import DataError
from slacktide.program.reference.relations import Table, evaluate
from tests.harness.answers import COLUMNS, FAILS, FOLDER, ROWS, Answer, read_answers, shown

TABLES = {
    name: Table(tuple(column for column, _ in columns), ROWS[name])
    for name, columns in COLUMNS.items()
}


def found(answer: Answer) -> tuple[str, ...]:
    try:
        return shown(evaluate(from_text(answer.relation), TABLES))
    except DataError:
        return (FAILS,)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.answers")), ids=lambda path: path.stem)
def test_reference_answers_as_spark_does(path: Path) -> None:
    answers = read_answers(path)
    wrong = {a.sql: (found(a), a.rows) for a in answers if found(a) != a.rows}
    assert wrong == {}
