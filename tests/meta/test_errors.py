"""The tree of errors is drawn, complete, and every leaf is raised by something."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest

from slacktide import errors
from slacktide.errors import SlacktideError
from tests.meta.tree import PLUGINS, PROVIDER, sources

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, SlacktideError)
]
BRANCHES = {"SlacktideError", "UserError", "RetryableError"}
DRAWN = re.findall(r"^\s*[│├└─ ]*(\w+Error)\b", errors.__doc__ or "", flags=re.MULTILINE)
CODE = {path: path.read_text(encoding="utf-8") for path in sources(PROVIDER, PLUGINS)}


def parent_in_drawing(name: str) -> str | None:
    """Read the drawn tree: the nearest line above that stands further left."""
    lines = [line for line in (errors.__doc__ or "").splitlines() if re.search(r"\w+Error\b", line)]
    columns = [(re.search(r"\w+Error", line), line) for line in lines]
    places = [(found.start(), found[0]) for found, _ in columns if found]
    at = next(i for i, (_, other) in enumerate(places) if other == name)
    return next((other for column, other in reversed(places[:at]) if column < places[at][0]), None)


def test_drawing_shows_every_class_once() -> None:
    assert sorted(DRAWN) == sorted(kind.__name__ for kind in CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_drawing_shows_the_parent(kind: type[SlacktideError]) -> None:
    parent = parent_in_drawing(kind.__name__)
    assert parent == (None if kind is SlacktideError else kind.__mro__[1].__name__)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_is_used(kind: type[SlacktideError]) -> None:
    if kind.__name__ in BRANCHES or kind.__subclasses__():
        return
    users = [path for path, text in CODE.items() if f"{kind.__name__}(" in text]
    assert [path for path in users if path.name != "errors.py"], f"nothing raises {kind.__name__}"


def test_codes_are_unique() -> None:
    assert [code for code, n in Counter(kind.code for kind in CLASSES).items() if n > 1] == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_tells_the_way_out(kind: type[SlacktideError]) -> None:
    error = kind("the view  'a'\nis gone", hint="add it")
    assert error.to_dict() == {
        "code": kind.code,
        "message": "the view 'a' is gone",
        "hint": "add it",
    }
    assert str(error) == "the view 'a' is gone (add it)"
