"""What Spark answered to queries over small tables: data for tests of the reference.

A file of answers holds cases: comments, a query, ``----``, the relation that the reader makes of it,
``----``, the rows as texts, sorted, and a blank line. Where Spark fails there is ``fails`` instead of rows.
``REWRITE=1 pytest -m spark tests/spark/reference`` writes relations and rows anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from slacktide.algebra.textual import from_text
from slacktide.errors import DataError
from slacktide.program.reference.relations import Table, evaluate

FOLDER = Path(__file__).parent.parent / "unit" / "program" / "reference" / "answers"
FAILS = "fails"
_DIGITS = 12

D = Decimal
_NAN, _INF = math.nan, math.inf

COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    "t": (
        ("id", "INT"),
        ("g", "STRING"),
        ("i", "INT"),
        ("b", "BIGINT"),
        ("d", "DECIMAL(7,2)"),
        ("x", "DOUBLE"),
        ("s", "STRING"),
        ("t", "DATE"),
        ("n", "TIMESTAMP_NTZ"),
        ("f", "BOOLEAN"),
        ("a", "ARRAY<INT>"),
        ("st", "STRUCT<p: INT, q: STRING>"),
        ("m", "MAP<STRING, INT>"),
        ("aa", "ARRAY<STRUCT<p: INT, q: STRING>>"),
    ),
    "u": (("k", "INT"), ("w", "INT")),
    "e": (("k", "INT"),),
}

_X, _Y, _NULL_Y = (1, "x"), (1, "y"), (None, "y")
_NOON, _LATER = datetime(1999, 1, 31, 12), datetime(1999, 2, 1, 13, 30)  # noqa: DTZ001

_PLAIN: list[tuple[Any, ...]] = [
    (1, "p", 1, 10, D("1.50"), 0.5, "a", date(1999, 1, 31), _NOON, True),
    (2, "p", 2, 20, D("2.25"), 1.25, "b", date(1999, 2, 1), _LATER, False),
    (3, "p", 2, None, None, None, None, None, None, None),
    (4, "p", 5, -7, D("-0.50"), -3.0, "a", date(1999, 3, 30), _NOON, True),
    (5, "q", None, None, None, None, None, None, None, None),
    (6, "q", None, 3, D("1.00"), _NAN, "b", date(1999, 2, 1), None, None),
    (7, "q", 4, 3, D("1.00"), _INF, "B", date(1999, 2, 2), _LATER, False),
    (8, "r", 3, 9, D("10.10"), -0.0, "c", None, None, True),
    (9, "r", 3, 9, D("10.10"), 0.0, "", None, None, True),
    (10, None, 1, 1, D("0.01"), 2.5, "z", date(1999, 1, 31), _NOON, False),
    (11, None, 1, 2, D("0.01"), -_INF, "y", date(2000, 2, 29), None, None),
    (12, "u", 7, 100, D("3.33"), 1.5, "s", date(1999, 1, 31), _NOON, None),
]
_NESTED: list[tuple[Any, ...]] = [
    ((1, 2, None), _X, {"k": 1}, (_X, None, _Y)),
    ((), _Y, {}, ()),
    (None, None, None, None),
    ((1, 2), _NULL_Y, {"j": None, "k": 2}, (_NULL_Y,)),
    (None, None, None, None),
    ((None,), (None, None), {"k": None}, None),
    ((3,), _X, {"k": 1}, None),
    ((2,), _X, None, (None,)),
    ((2,), _X, None, None),
    ((1,), _Y, {}, ()),
    (None, None, None, None),
    ((7, 7), (7, "z"), {"j": 7}, ((7, "z"), (7, "z"))),
]
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "t": [plain + nested for plain, nested in zip(_PLAIN, _NESTED, strict=True)],
    "u": [(1, 10), (1, 10), (2, 20), (None, 30), (4, None), (9, 40)],
    "e": [],
}

_CASE = re.compile(
    r"(?P<comment>(?:#[^\n]*\n)*)(?P<sql>[^\n#-][^\n]*)\n----\n"
    r"(?P<relation>(?:(?!----)[^\n]+\n)*)(?:----\n(?P<rows>(?:[^\n]+\n)*))?(?:\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One query, the relation that it means, and Spark's rows as texts."""

    comment: str
    sql: str
    relation: str
    rows: tuple[str, ...]

    def text(self) -> str:
        """The case as it stands in a file."""
        rows = "".join(f"{row}\n" for row in self.rows)
        return f"{self.comment}{self.sql}\n----\n{self.relation}----\n{rows}"


def read_answers(path: Path) -> list[Answer]:
    """Read a file of answers, whole."""
    text = path.read_text(encoding="utf-8")
    found, place = [], 0
    while place < len(text):
        match = _CASE.match(text, place)
        assert match, f"{path.name}: no case at {text[place : place + 80]!r}"
        rows = tuple((match["rows"] or "").splitlines())
        found.append(Answer(match["comment"], match["sql"], match["relation"], rows))
        place = match.end()
    return found


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Write a file of answers."""
    path.write_text("\n".join(answer.text() for answer in answers), encoding="utf-8")


def by_reference(answer: Answer) -> tuple[str, ...]:
    """The rows of the reference, for the relation of a case."""
    tables = {
        name: Table(tuple(column for column, _ in columns), ROWS[name])
        for name, columns in COLUMNS.items()
    }
    try:
        return shown(evaluate(from_text(answer.relation), tables))
    except DataError:
        return (FAILS,)


def shown(rows: Iterable[Iterable[Any]]) -> tuple[str, ...]:
    """Rows as texts, sorted; doubles to twelve digits, as their order of addition is free."""
    return tuple(sorted("(" + ", ".join(_shown(value) for value in row) + ")" for row in rows))


def _shown(value: Any) -> str:
    match value:
        case float():
            return repr(float(f"{value:.{_DIGITS}g}"))
        case dict():
            pairs = sorted(f"{_shown(key)}: {_shown(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list() | tuple():
            return "(" + ", ".join(_shown(item) for item in value) + ")"
        case Decimal() | str() | int() | bytes() | None:
            return f"{value}m" if isinstance(value, Decimal) else repr(value)
        case _:
            return str(value)
