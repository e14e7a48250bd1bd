"""Reports in XCom, and what a failed driver left behind."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from slacktide.orchestration.reports import (
    XCOM_LIMIT,
    bounded,
    complaint,
    driver_error,
    summary,
    unchanged,
)

VIEW = {
    "method": "incremental",
    "reasons": [{"code": "CHANGE_SMALL", "sentence": "x" * 60}],
    "actual": {"rows_read": 5, "rows_out": 2},
    "predicted": {"rows_read": 6},
    "state_bytes": 12,
    "error": None,
}


def report(count, **given):
    return {
        "run": 3,
        "plan_id": "p",
        "views": {f"view_{n}": {**VIEW, **given} for n in range(count)},
    }


def test_a_small_report_is_handed_on_whole():
    assert bounded(report(3)) == report(3)


@given(st.integers(0, 3000), st.integers(0, 400))
def test_no_report_is_too_large_for_xcom(count, length):
    short = bounded(report(count, predicted={"note": "n" * length}))
    assert len(json.dumps(short).encode()) <= XCOM_LIMIT
    assert (short["run"], short["plan_id"]) == (3, "p")
    assert ("truncated" in short) == (short != report(count, predicted={"note": "n" * length}))


def test_a_large_report_keeps_method_and_reasons_as_long_as_it_can():
    short = bounded(report(250, predicted={"note": "n" * 300}))
    assert short["truncated"]
    assert short["views"]["view_7"] == {
        "method": "incremental",
        "reasons": VIEW["reasons"],
        "error": None,
    }
    longest = bounded(report(3000, error={"message": "m"}))
    assert longest["methods"] == {"incremental": 3000}
    assert "view_1: failed" in complaint(longest)


def test_the_summary_counts_methods_rows_and_failures():
    views = {
        "a": VIEW,
        "b": {**VIEW, "method": "full", "actual": {"rows_read": 100}},
        "c": {**VIEW, "actual": {}, "error": {"code": "DATA"}},
    }
    assert summary({"run": 1, "plan_id": "p", "views": views}) == {
        "run": 1,
        "plan_id": "p",
        "methods": {"full": 1, "incremental": 2},
        "rows_read": 105,
        "failed": ["c"],
    }
    assert summary(unchanged("p"))["rows_read"] is None


def test_a_run_with_a_failed_view_complains_of_it():
    error = {"code": "DATA", "message": "a stray delete", "hint": ""}
    views = {"a": VIEW, "b": {**VIEW, "method": "failed", "error": error}}
    assert complaint({"run": 1, "plan_id": "p", "views": views}) == "b: a stray delete"
    assert complaint(report(2)) == ""
    assert complaint(unchanged("p")) == ""


LOG = """Cannot execute: spark-submit --master local[2] submit.py. Error code is: {code}. Last lines:
26/11/21 19:00:01 WARN Utils: something
{error}
26/11/21 19:00:02 INFO ShutdownHookManager: Shutdown hook called"""
ERROR = json.dumps(
    {"error": {"code": "DATA", "message": "orders has a stray delete", "hint": "skip it"}}
)


def test_an_error_of_the_user_is_final():
    found = driver_error(LOG.format(code=2, error=ERROR))
    assert found.final
    assert found.message == "DATA: orders has a stray delete (skip it)"


def test_any_other_error_may_be_retried():
    for code in (1, 3, 137, -9):
        assert not driver_error(LOG.format(code=code, error=ERROR)).final


def test_without_a_word_of_the_driver_the_first_line_is_shown():
    found = driver_error(LOG.format(code=1, error="Traceback"))
    assert found.message.startswith("spark-submit ended with 1: Cannot execute: spark-submit")
    assert "\n" not in found.message
    assert driver_error("").message == "spark-submit ended with None: spark-submit failed"


def test_in_kubernetes_the_exit_code_of_the_driver_counts():
    for code, pod in ((0, 2), (2, 0)):
        text = LOG.format(code=f"{code}. Kubernetes spark exit code is: {pod}", error=ERROR)
        assert driver_error(text).final


def test_an_error_of_which_airflow_hid_the_end_is_shown_as_far_as_it_goes():
    """It hides what follows the word password, and the end of the document with it."""
    hidden = '{"error": {"code": "QUERY", "message": "no column user_password", ******'
    found = driver_error(LOG.format(code=2, error=hidden))
    assert found.final
    assert "no column user_password" in found.message


def test_broken_json_is_passed_over():
    text = LOG.format(code=2, error=ERROR + '\n{"error": oops')
    assert driver_error(text).message.startswith("DATA")
