"""Rows over which a query fails, in whatever way Spark has for that: their view fails alone."""

from __future__ import annotations

import pytest

from tests.harness.lab import Lab
from tests.harness.summed import SUMS_ALONE as SUMS
from tests.harness.summed import sums

pytestmark = pytest.mark.spark

ROWS_THAT_FAIL = {
    "a date": ("SELECT k, to_date(k, 'yyyy-MM-dd') AS d FROM t WHERE v > 3", "n/a", "2026-01-02"),
    "a key of a map": ("SELECT k, map(nullif(k, 'n/a'), v) AS m FROM t", "n/a", "x"),
}


@pytest.mark.parametrize("kind", ROWS_THAT_FAIL)
def test_a_row_that_fails_in_any_way_fails_its_view_alone(filled: Lab, kind: str) -> None:
    """Spark has a condition for each of them, and a class of SQLSTATE for all."""
    lab = filled
    query, bad, good = ROWS_THAT_FAIL[kind]
    lab.view("parsed", query)
    lab.view("sums", SUMS, sums)
    lab.step()
    lab.land("t", insert=[(bad, 5)])
    report = lab.refresh()
    error = report.views["parsed"].error
    assert error is not None
    assert (error["code"], report.views["sums"].method) == ("DATA", "incremental")
    lab.land("t", delete=[(bad, 5)], insert=[(good, 5)])
    report = lab.step(parsed="full", sums="incremental")
    assert report.views["parsed"].reasons == ("POLICY(incremental)", "CHANGE_FAILS(DATA)")


def test_a_value_that_a_function_cannot_parse_fails_its_view_alone(filled: Lab) -> None:
    """Spark calls it a malformed record, as one of a file that cannot be read."""
    lab = filled
    parsed = "SELECT k, variant_get(parse_json(k), '$.a', 'int') AS a FROM t WHERE v > 3"
    lab.view("parsed", parsed, policy="auto")
    lab.view("sums", SUMS, sums)
    lab.step()
    lab.land("t", insert=[("{", 5)])
    report = lab.refresh()
    error = report.views["parsed"].error
    assert error is not None
    assert (error["code"], report.views["sums"].method) == ("DATA", "incremental")
    lab.land("t", delete=[("{", 5)], insert=[("{}", 5)])
    lab.step(parsed="full", sums="incremental")
