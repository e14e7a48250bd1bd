"""Plans may be deeper than Python's stack: nothing that walks them recurses."""

from __future__ import annotations

import json

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text, to_text
from slacktide.algebra.tree import CLASSES, canonical, relations, sources
from slacktide.common.serde import dump, load

DEPTH = 10_000


@pytest.fixture(scope="module")
def deep() -> r.Rel:
    """A scan under ten thousand filters, each of another predicate."""
    rel: r.Rel = r.Scan("t", (s.Column(0, "a", "BIGINT", nullable=False),))
    for number in range(DEPTH):
        limit = s.Literal(str(number), "INT", nullable=False)
        at_least = (s.Reference(0, "BIGINT", nullable=False), limit)
        rel = r.Filter(rel, s.Call(">=", at_least, "BOOLEAN", nullable=False))
    return rel


def test_is_walked(deep: r.Rel) -> None:
    assert sum(1 for _ in relations(deep)) == DEPTH + 1
    assert sources(deep) == ("t",)


def test_is_rewritten(deep: r.Rel) -> None:
    assert canonical(canonical(deep)) == canonical(deep)


def test_is_compared_and_shown(deep: r.Rel) -> None:
    assert isinstance(deep, r.Filter)
    assert deep != deep.child
    assert repr(deep).startswith("<filter ")
    assert len({deep, deep}) == 1


def test_is_stored_and_read_back(deep: r.Rel) -> None:
    document = json.loads(json.dumps(dump(deep)))
    assert load(document, CLASSES) == (deep,)


def test_is_written_as_text_and_read_back(deep: r.Rel) -> None:
    assert from_text(to_text(deep)) == deep


def test_deep_expressions_are_written_as_text_and_read_back() -> None:
    sum_of: s.Scalar = s.Reference(0, "BIGINT", nullable=False)
    for _ in range(DEPTH):
        sum_of = s.Call(
            "+", (s.Literal("1L", "BIGINT", nullable=False), sum_of), "BIGINT", nullable=False
        )
    scan = r.Scan("t", (s.Column(0, "a", "BIGINT", nullable=False),))
    output = s.Assignment(s.Column(1, "b", "BIGINT", nullable=False), sum_of)
    deep = r.Project(scan, (output,))
    assert from_text(to_text(deep)) == deep
    assert load(dump(deep), CLASSES) == (deep,)
