"""Which expressions never fail, and which are NULL of NULLs."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.algebra.totality import is_strict, is_total

pytestmark = pytest.mark.unit
SCAN = "scan t [a#1:INT, b#2:BIGINT, d#3:DECIMAL(10,2), w#4:DECIMAL(38,2), t#5:STRING, p#6:STRING, x#7:DATE]"
TOTAL = (
    "#1",
    "1",
    "(#1 > 2)",
    "isnull(#5)",
    "coalesce(#1, 0):INT",
    "year(#7):INT",
    "like(#5, '%a_')",
    "case(when (#1 > 0) then #3 else #3):DECIMAL(10,2)",
    '("1.00BD":DECIMAL(3,2)! - #3):DECIMAL(11,2)',
    "(#3 * #3):DECIMAL(21,4)",
    "cast(#1 as BIGINT)",
    "cast(#1 as DECIMAL(10,0))",
    "cast(#3 as DECIMAL(12,3))",
)
PARTIAL = (
    "(#1 + #1):INT",
    "(#3 / #3):DECIMAL(23,13)",
    "(#3 * #3):DECIMAL(20,3)",
    "(#4 + #4):DECIMAL(38,1)",
    "cast(#2 as INT)",
    "cast(#1 as DECIMAL(9,0))",
    "cast(#3 as DECIMAL(10,1))",
    "cast(#3 as INT)",
    "cast(#5 as INT)",
    "try_cast(#5 as INT)",
    "like(#5, #6)",
    "like(#5, 'a\\\\')",
    "(#1 > cast(#2 as INT))",
    "case(when (#1 > 0) then (#1 * #1):INT else 0):INT",
    "my_function(#1):INT",
    "exists(#5, lambda([e#77:INT], (#77:INT > 0)):BOOLEAN):BOOLEAN",
)
STRICT = ("#1", "(#1 + 1):INT", "cast((2 * #1):INT as BIGINT)")
LAX = (
    "1",
    "coalesce(#1, 0):INT",
    "isnull(#1)",
    "case(when isnull(#1) then 0 else #1):INT",
    "(1 + 2):INT",
)


def scalar(text: str) -> s.Scalar:
    rel = from_text(f"project [v#9 := {text}]\n  {SCAN}\n")
    assert isinstance(rel, r.Project)
    return rel.outputs[0].value


@pytest.mark.parametrize("text", TOTAL)
def test_has_a_value_for_every_row(text: str) -> None:
    assert is_total(scalar(text))


@pytest.mark.parametrize("text", PARTIAL)
def test_may_fail_or_is_not_known_not_to(text: str) -> None:
    assert not is_total(scalar(text))


@pytest.mark.parametrize("text", STRICT)
def test_is_null_of_nulls(text: str) -> None:
    assert is_strict(scalar(text))


@pytest.mark.parametrize("text", LAX)
def test_may_have_a_value_of_nulls(text: str) -> None:
    assert not is_strict(scalar(text))


def test_deep_expressions_are_walked() -> None:
    found = scalar("(#1 > 2)")
    for _ in range(10_000):
        found = s.Call("and", (found, scalar("(#1 > 2)")), "BOOLEAN", nullable=True)
    assert is_total(found)
    assert not is_strict(found)
