"""Σ|x| of each group beside the doubles that were made of it."""

from __future__ import annotations

from slacktide.algebra.textual import from_text
from slacktide.program.reference.relations import Table, evaluate
from slacktide.spark.verification.magnitudes import magnified

ROWS = [(1, 0.5, -2.0), (1, -0.5, 3.0), (2, 4.0, None), (2, None, 1.0), (None, 7.0, -7.0)]
TABLES = {"t": Table(("k", "x", "y"), ROWS)}
SUMS = """\
filter (#1 > 0)
  project [twice#6 := (#4 + #5), #1, #5]
    aggregate key=[#1] [s#4 := sum(#2), c#5 := avg(#3)]
      scan t [k#1:INT, x#2:DOUBLE, y#3:DOUBLE]
"""


def magnitudes(text: str, key: int = 0) -> dict[object, tuple[object, ...]]:
    """What the magnitudes of a relation are, by the column at a place."""
    found = magnified(from_text(text))
    assert found is not None
    places = {column.id: place for place, column in enumerate(found.relation.columns)}
    sizes = [places[size.id] for size in found.magnitudes if size is not None]
    rows = evaluate(found.relation, TABLES)
    return {row[key]: tuple(row[place] for place in sizes) for row in rows}


def test_each_double_has_the_magnitudes_of_its_group() -> None:
    found = magnified(from_text(SUMS))
    assert found is not None
    twice, key, average = found.magnitudes
    assert key is None
    assert twice is not None
    assert average is not None
    assert magnitudes(SUMS, key=1) == {1: (3.5, 2.5), 2: (5.0, 1.0)}


def test_what_is_not_added_has_none() -> None:
    text = """\
project [ratio#6 := (#4 / #5), #5, #7]
  aggregate key=[#1] [s#4 := sum(#2), m#5 := max(#3), c#7 := corr(#2, #3):DOUBLE]
    scan t [k#1:INT, x#2:DOUBLE, y#3:DOUBLE]
"""
    found = magnified(from_text(text))
    assert found is not None
    assert [size is not None for size in found.magnitudes] == [False, False, True]


def test_without_an_aggregate_there_are_none() -> None:
    assert magnified(from_text("scan t [k#1:INT, x#2:DOUBLE]\n")) is None


def test_exact_aggregates_have_none() -> None:
    exact = "aggregate key=[#1] [n#3 := count(#2)]\n  scan t [k#1:INT, x#2:DOUBLE]\n"
    assert magnified(from_text(exact)) is None


def test_a_regression_has_the_size_of_its_deviations() -> None:
    text = """\
aggregate key=[#1] [s#4 := regr_slope(#2, #3):DOUBLE, i#5 := regr_intercept(#2, #3):DOUBLE, p#6 := regr_sxy(#2, #3):DOUBLE]
  scan t [k#1:INT, x#2:DOUBLE, y#3:DOUBLE]
"""
    assert magnitudes(text)[1] == (0.2, 0.5 + 2.5 * 0.2, 1.0 * 2.5)


def test_what_is_chosen_has_the_size_of_what_it_was_chosen_from() -> None:
    """So Spark writes several DISTINCT aggregates: the others are worked out below, in a group of their own."""
    text = """\
aggregate key=[#4] [s#10 := "first ignore nulls"(#9 where (#6 = 0)):DOUBLE, n#11 := count(#5 where (#6 = 1))]
  aggregate key=[#4, #5, #6] ["sum(t.x)"#9 := sum(#8)]
    expand [k#4:INT, y#5:DOUBLE, gid#6:INT!, x#8:DOUBLE] [#1, CAST(NULL AS DOUBLE), 0, #2] [#1, #3, 1, CAST(NULL AS DOUBLE)]
      scan t [k#1:INT, x#2:DOUBLE, y#3:DOUBLE]
"""
    assert magnitudes(text) == {1: (1.0,), 2: (4.0,), None: (7.0,)}
