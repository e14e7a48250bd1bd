"""Wrong arguments at the public door: one error that names call, argument and way out, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from inspect import Parameter, isroutine, signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from slacktide.common.clock import system_clock
from slacktide.engine.arguments import checked
from slacktide.engine.definitions.drafts import check_settings
from slacktide.engine.workspace import Workspace
from slacktide.errors import (
    InvalidNameError,
    InvalidSettingError,
    InvariantError,
    UnknownObjectError,
)
from slacktide.store import Store

SESSION = object.__new__(SparkSession)  # of a session, these tests use the class alone
SESSION._sc = SimpleNamespace(_jsc=object())  # type: ignore[assignment]
METHODS = {
    name: getattr(Workspace, name)
    for name in dir(Workspace)
    if not name.startswith("_") and isroutine(getattr(Workspace, name))
}
ARGUMENTS = [
    (name, argument)
    for name, method in METHODS.items()
    for argument, one in signature(method).parameters.items()
    if argument != "self" and one.kind is not Parameter.VAR_KEYWORD
]
Call = Callable[[Workspace], Any]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """A workspace with the source `t`, of which two files were accepted."""
    made = Workspace.create(tmp_path / "ws")
    landing = tmp_path / "t"
    landing.mkdir()
    made.add_source("t", kind="files", path=landing, format="csv", schema="a INT")
    for name in ("a", "b"):
        (landing / f"{name}.csv").write_text("1\n", encoding="utf-8")
        made.discover()
    return made


def files(ws: Workspace) -> set[Path]:
    return {path for path in Path(ws.root).rglob("*") if path.is_file()}


def fitting(one: Parameter) -> Any:
    """A value that has the type which a signature names."""
    of_type = {
        "SparkSession": SESSION,
        "bool": False,
        "int": 1,
        "str": "t",
        "str | Plan": "t",
        "Sequence[str]": ["t"],
        "str | PathLike[str]": "t",
    }
    return of_type.get(one.annotation)


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_every_argument_of_another_type_is_refused(ws: Workspace, name: str, argument: str) -> None:
    before = files(ws)
    method = getattr(ws, name)
    shape = signature(method).parameters
    needed = [key for key, one in shape.items() if one.default is one.empty]
    given = {
        key: fitting(shape[key]) for key in needed if shape[key].kind is not Parameter.VAR_KEYWORD
    }
    with pytest.raises(InvalidSettingError) as refused:
        method(**{**given, argument: object()})
    assert refused.value.message.startswith(f"{name}: {argument} is ")
    assert refused.value.hint.startswith(f"give {argument}= ")
    assert files(ws) == before


CASES: dict[str, tuple[Call, str]] = {
    "a view without a text": (lambda ws: ws.add_view(SESSION, "v", None), "add_view: sql is None"),  # type: ignore[arg-type]
    "a view without a session": (lambda ws: ws.read(None, "v"), "read: spark is None"),  # type: ignore[arg-type]
    "an instant as a text": (lambda ws: ws.plan(now="x"), "plan: now is 'x'"),  # type: ignore[arg-type]
    "one name for names": (lambda ws: ws.plan("nope"), "views is 'nope', which is not a list of"),
    "names that are none": (lambda ws: ws.plan([3]), r"views is \[3\]"),  # type: ignore[list-item]
    "a number as a text": (lambda ws: ws.gc(keep_runs="x"), "keep_runs is 'x'"),  # type: ignore[arg-type]
    "a pace as a text": (lambda ws: ws.what_if(pace="x"), "pace is 'x', which is not a number"),  # type: ignore[arg-type]
    "a truth for a number": (lambda ws: ws.skip("t", True), "skip: arrival is True"),
    "a number for a truth": (lambda ws: ws.hold_source("t", held=1), "held is 1"),  # type: ignore[arg-type]
    "a number with a fraction": (lambda ws: ws.history(limit=1.5), "limit is 1.5"),  # type: ignore[arg-type]
    "a limit of nothing": (lambda ws: ws.history(limit=0), "limit is 0"),
    "runs below none": (lambda ws: ws.gc(keep_runs=-1), "keep_runs is -1"),
    "a grace below none": (lambda ws: ws.gc(grace=timedelta(-1)), "grace is -1 day"),
    "an option of no number": (
        lambda ws: ws.add_source(
            "u",
            kind="files",
            path=ws.root,
            format="csv",
            schema="a INT",
            options={"x": float("nan")},
        ),
        "options x is nan",
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_is_wrong_is_named_and_nothing_is_written(ws: Workspace, case: str) -> None:
    call, fact = CASES[case]
    before = files(ws)
    with pytest.raises(InvalidSettingError, match=fact) as refused:
        call(ws)
    assert refused.value.hint
    assert files(ws) == before


def test_what_fits_in_another_form_is_taken(ws: Workspace) -> None:
    assert Workspace.open(Path(ws.root)).root == ws.root
    ws.skip("t", np.int64(1))  # type: ignore[arg-type]
    assert ws.status().sources["t"]["skipped"] == [1]
    assert ws.plan(ws.status().views).views == ()  # type: ignore[arg-type]
    assert ws.what_if(pace=np.float32(2)).pace == 2  # type: ignore[arg-type]


def test_what_python_says_of_a_call_it_goes_on_saying(ws: Workspace) -> None:
    with pytest.raises(TypeError, match=r"stored_plan\(\) missing 1 required positional argument"):
        ws.stored_plan()  # type: ignore[call-arg]


def test_a_signature_that_nothing_is_known_of_is_a_defect() -> None:
    class Door:
        def take(self, one: complex) -> None: ...

    with pytest.raises(InvariantError, match="take does not say what one is"):
        checked(Door)


@pytest.mark.parametrize("root", [None, 3, b"/x", ["/x"]])
def test_a_store_is_at_a_text_or_a_path(root: Any) -> None:
    with pytest.raises(InvalidSettingError, match=r"the address is .*neither a text nor a path"):
        Store.open(root, clock=system_clock)


def test_credentials_are_not_repeated(tmp_path: Path) -> None:
    for options in ("hush", {"secret_access_key": "hush", 3: "x"}):
        with pytest.raises(InvalidSettingError, match=r"storage_options is a (str|dict),") as error:
            Workspace.open(tmp_path, storage_options=options)  # type: ignore[arg-type]
        assert "hush" not in str(error.value)
    with pytest.raises(InvalidSettingError, match="client_options is a str") as error:
        Workspace.open("s3://b/k", storage_options={"client_options": "hush"})
    assert "hush" not in str(error.value)


def test_a_budget_that_is_none_makes_no_workspace(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match="state_budget is 'lots'"):
        Workspace.create(tmp_path / "ws", state_budget="lots")
    assert not (tmp_path / "ws").exists()


def test_a_home_of_nobody_is_no_address() -> None:
    with pytest.raises(InvalidSettingError, match="'~no-such-user/x' is below the home of a user"):
        Workspace.open("~no-such-user/x")


@pytest.mark.parametrize("plan_id", ["../x", "", "a/b", "a\nb"])
def test_what_no_plan_is_called_is_no_plan(ws: Workspace, plan_id: str) -> None:
    with pytest.raises(UnknownObjectError, match="there is no plan"):
        ws.stored_plan(plan_id)


def test_names_of_declarations_are_texts(ws: Workspace) -> None:
    with pytest.raises(InvalidNameError, match="source name 5"):
        ws.plan(declarations={"sources": {5: {"kind": "files", "path": "x"}}})


@pytest.mark.parametrize("due", [object(), float("inf"), {3: 4}, datetime(2026, 1, 1, tzinfo=UTC)])
def test_a_setting_is_what_a_log_can_hold(due: Any) -> None:
    with pytest.raises(InvalidSettingError, match="view v has due = "):
        check_settings("v", {"due": due})
    assert check_settings("v", {"due": {"every": "1h"}}) == {"due": {"every": "1h"}}


@pytest.mark.parametrize(
    "until",
    [
        "2026",
        "2026-02",
        "2026-02-28",
        "2026-02-28T12:00",
        "2026-02-28T12:00:00+01:00",
        "2026-02-28T12:00:00.000001Z",
    ],
)
def test_a_source_is_complete_up_to_a_point(ws: Workspace, until: str) -> None:
    ws.mark_complete("t", until)
    assert ws.status().sources["t"]["complete"] == [until]


@pytest.mark.parametrize("until", ["whenever", "", "26", "2026-13", "2026-02-30", "20 26", "2026-"])
def test_what_is_no_point_marks_nothing(ws: Workspace, until: str) -> None:
    with pytest.raises(InvalidSettingError, match="source t cannot be complete up to") as refused:
        ws.mark_complete("t", until)
    assert "2026-01-31" in refused.value.hint
    assert ws.status().sources["t"]["complete"] == []


def test_half_of_a_sign_is_no_text(ws: Workspace) -> None:
    before = files(ws)
    with pytest.raises(InvalidSettingError, match=r"add_view: sql is .* which is not a text"):
        ws.add_view(SESSION, "v", "SELECT '\ud800' AS x FROM t")
    assert files(ws) == before


def test_a_session_that_was_stopped_is_refused(ws: Workspace) -> None:
    gone = object.__new__(SparkSession)
    gone._sc = SimpleNamespace(_jsc=None)  # type: ignore[assignment]
    with pytest.raises(InvalidSettingError, match=r"spark .* that is at work"):
        ws.refresh(gone)


def test_a_plan_and_views_are_one_too_many(ws: Workspace) -> None:
    with pytest.raises(InvalidSettingError, match="a plan says which views"):
        ws.refresh(SESSION, ws.plan(), views=["v"])
