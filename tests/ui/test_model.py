"""What the page is told: freshness, the last answer, what was done and why, rows saved."""

from __future__ import annotations

from slacktide_ui.model import shown


def outcome(method, reasons, read, full, error=None):
    actual = {} if read is None else {"rows_read": read}
    return {"method": method, "reasons": reasons, "actual": actual, "rows": full, "error": error}


def report(run, **views):
    return {
        "run": run,
        "started": f"2026-11-21T12:0{run}:00Z",
        "ended": f"2026-11-21T12:0{run}:09Z",
        "views": views,
    }


ORDERS = {"kind": "files", "version": 4, "rows": 100, "landed": 1, "held": False}
REVENUE = {"versions": {"orders": 2}, "paused": False, "answered": "2026-11-21T12:01:09Z", "run": 1}
STATUS = {"sources": {"orders": ORDERS}, "views": {"revenue": REVENUE}}


def view_of(*reports, **changed):
    status = {**STATUS, "views": {"revenue": {**REVENUE, **changed}}}
    (view,) = shown(status, {"orders": 3}, reports)["views"]
    return view


def test_a_view_lacks_what_was_accepted_since_and_what_has_landed():
    assert view_of()["pending"] == {"orders": 3}
    assert view_of(versions={"orders": 5})["pending"] == {}
    assert view_of(versions={"gone": 1})["pending"] == {}


def test_a_view_that_is_to_be_made_anew_says_so():
    assert view_of()["anew"] is False
    assert view_of(versions={}, anew=True)["anew"] is True


def test_a_source_that_takes_nothing_in_says_why():
    error = {"code": "SOURCE", "message": "there is no directory /in", "hint": "make it"}
    status = {**STATUS, "sources": {"orders": {**ORDERS, "error": error}}}
    (told,) = shown(status, {}, [])["sources"]
    assert told["error"] == error
    assert shown(STATUS, {}, [])["sources"][0]["error"] is None


def test_the_last_thing_done_is_shown_with_its_reason_in_words():
    first = report(1, revenue=outcome("full", ["FIRST_RUN"], 80, 80))
    second = report(2, revenue=outcome("unchanged", ["NO_CHANGE"], None, 80))
    last = view_of(second, first)["last"]
    assert last["method"] == "full"
    assert last["reasons"] == [
        {"code": "FIRST_RUN", "text": "there is no answer yet to go on from"}
    ]
    assert (last["rows_read"], last["rows_full"]) == (80, 80)


def test_a_failure_is_shown_and_the_answer_stays():
    error = {"code": "DATA", "message": "a stray delete", "hint": "skip it"}
    first = report(1, revenue=outcome("full", [], 80, 80))
    second = report(2, revenue=outcome("failed", [], None, 80, error))
    view = view_of(second, first)
    assert view["last"]["error"] == error
    assert (view["run"], view["answered"]) == (1, "2026-11-21T12:01:09Z")


def test_reasons_of_a_newer_version_are_shown_as_they_stand():
    last = view_of(report(1, revenue=outcome("full", ["WEATHER(rain)"], 1, 1)))["last"]
    assert last["reasons"] == [{"code": "WEATHER(rain)", "text": ""}]


def test_the_newest_runs_come_first_and_not_all_of_them():
    reports = [report(n, revenue=outcome("full", [], 1, 1)) for n in range(30, 0, -1)]
    runs = shown(STATUS, {}, reports)["runs"]
    assert [run["run"] for run in runs] == list(range(30, 10, -1))


def test_a_workspace_without_anything_is_shown_too():
    empty = shown({"sources": {}, "views": {}}, {}, [])
    assert (empty["sources"], empty["views"], empty["runs"]) == ([], [], [])
