"""Which joins go by a foreign key, and which do not."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey, referring

LINE = ForeignKey("l", ("o",), "o", ("k",))
PAIR = ForeignKey("l", ("a", "b"), "p", ("a", "b"))
RETURN = ForeignKey("b", ("o",), "o", ("k",))
FOREIGN_KEYS = frozenset({LINE, PAIR, RETURN})

LINES = "scan l [o#1:INT, a#2:INT, b#3:INT]"
ORDERS = "scan o [k#4:INT!, v#5:INT]"
PARTS = "scan p [a#6:INT!, b#7:INT!]"
RETURNS = "scan b [o#8:INT, v#9:INT]"
BOTH = f"union 2 [o#10:INT]\n  project [#1]\n    {LINES}\n  project [#8]\n    {RETURNS}"


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def join(condition: str, left: str, right: str) -> r.Join:
    text = f"join inner on {condition}\n{indented(left)}\n{indented(right)}\n"
    found = from_text(text)
    assert isinstance(found, r.Join)
    return found


FOUND = {
    "a scan": (join("(#1 = #4)", LINES, ORDERS), {LINE}),
    "from the right": (join("(#4 = #1)", ORDERS, LINES), {LINE}),
    "with other conditions": (join("((#1 = #4) and (#2 < #5))", LINES, ORDERS), {LINE}),
    "a filter": (join("(#1 = #4)", LINES, f"filter (#5 > 0)\n  {ORDERS}"), {LINE}),
    "a projection": (join("(#1 = #20)", LINES, f"project [k#20:INT! := #4]\n  {ORDERS}"), {LINE}),
    "a join": (
        join("(#1 = #4)", LINES, f"join inner on (#5 = #9)\n  {ORDERS}\n  {RETURNS}"),
        {LINE},
    ),
    "distinct keys": (
        join("(#20 = #4)", f"aggregate key=[k#20:INT := #1] []\n  {LINES}", ORDERS),
        {LINE},
    ),
    "several sources": (join("(#10 = #4)", BOTH, ORDERS), {LINE, RETURN}),
    "two columns": (join("((#2 = #6) and (#3 = #7))", LINES, PARTS), {PAIR}),
}
NONE = {
    "no equality": join("(#1 < #4)", LINES, ORDERS),
    "NULL that equals NULL": join("(#1 <=> #4)", LINES, ORDERS),
    "an expression": join("((#1 + 1) = #4)", LINES, ORDERS),
    "an expression below": join("(#20 = #4)", f"project [k#20:INT := (#1 + 1)]\n  {LINES}", ORDERS),
    "another column": join("(#2 = #4)", LINES, ORDERS),
    "another source": join("(#5 = #6)", ORDERS, PARTS),
    "half a key": join("(#2 = #6)", LINES, PARTS),
    "columns of a key exchanged": join("((#3 = #6) and (#2 = #7))", LINES, PARTS),
    "an aggregate": join(
        "(#1 = #20)",
        LINES,
        f"aggregate key=[k#20:INT! := #4] [n#21:BIGINT! := count()]\n  {ORDERS}",
    ),
    "an outer join": join("(#1 = #4)", LINES, f"join left on (#5 = #9)\n  {ORDERS}\n  {RETURNS}"),
}


@pytest.mark.parametrize("name", FOUND)
def test_goes_by_a_foreign_key(name: str) -> None:
    rel, foreign_keys = FOUND[name]
    found = referring(rel, FOREIGN_KEYS)
    assert found is not None
    assert found.foreign_keys == foreign_keys
    assert found.anchor.source in {foreign_key.target for foreign_key in foreign_keys}
    assert [column.name for column in found.key] == list(next(iter(foreign_keys)).key)


@pytest.mark.parametrize("name", NONE)
def test_goes_by_none(name: str) -> None:
    assert referring(NONE[name], FOREIGN_KEYS) is None


def test_all_sources_must_refer() -> None:
    rel, _ = FOUND["several sources"]
    assert referring(rel, {LINE}) is None
    assert referring(rel, ()) is None


def test_a_foreign_key_as_text() -> None:
    assert str(PAIR) == "l(a, b) -> p(a, b)"
    assert ForeignKey("e", ("boss",), "e", ("k",)).sources == ("e",)
