"""Questions over relations, and the canonical form."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import canonical, inputs, references, relations, sources, substitute
from slacktide.errors import InvariantError

JOIN = """filter (#3 > query(1):INT)
  join inner on (#1 = #2)
    scan b [k#1:INT]
    scan a [k#2:INT, v#3:INT]
  aggregate key=[] [m#9 := max(#8)]
    scan c [v#8:INT]
"""


def test_inputs_are_those_that_are_read_directly() -> None:
    root = from_text(JOIN)
    assert [rel.tag for rel in inputs(root)] == ["join"]
    assert [rel.tag for rel in inputs(inputs(root)[0])] == ["scan", "scan"]


def test_relations_and_sources_include_those_of_subqueries() -> None:
    tags = [rel.tag for rel in relations(from_text(JOIN))]
    assert sorted(tags) == ["aggregate", "filter", "join", "scan", "scan", "scan"]
    assert tags[-1] == "filter"
    assert sources(from_text(JOIN)) == ("a", "b", "c")


def test_references_and_substitution() -> None:
    root = from_text(JOIN)
    assert isinstance(root, r.Filter)
    assert references(root.predicate) == {3, 8}
    one = s.Literal("1", "INT", nullable=False)
    replaced = substitute(root.predicate, {3: one})
    assert isinstance(replaced, s.Call)
    assert replaced.arguments[0] == one


def same(one: str, other: str) -> bool:
    return canonical(from_text(one)) == canonical(from_text(other))


def test_ids_and_names_of_results_do_not_count() -> None:
    assert same(
        "aggregate key=[#1] [total#7 := sum(#2)]\n  scan t [a#1:INT, b#2:INT]",
        "aggregate key=[#8] [sum_b#3 := sum(#9)]\n  scan t [a#8:INT, b#9:INT]",
    )


@pytest.mark.parametrize(
    "other",
    [
        "aggregate key=[#1] [s#7 := sum(#1)]\n  scan t [a#1:INT, b#2:INT]",
        "aggregate key=[#2] [s#7 := sum(#2)]\n  scan t [a#1:INT, b#2:INT]",
        "aggregate key=[#1] [s#7 := sum(#2)]\n  scan u [a#1:INT, b#2:INT]",
        "aggregate key=[#1] [s#7 := sum(#2)]\n  scan t [a#1:INT, c#2:INT]",
        "aggregate key=[#1] [s#7 := sum(#2)]\n  scan t [a#1:INT, b#2:BIGINT]",
        "aggregate key=[#1] [s#7 := avg(#2)]\n  scan t [a#1:INT, b#2:INT]",
    ],
)
def test_everything_else_counts(other: str) -> None:
    assert not same("aggregate key=[#1] [s#7 := sum(#2)]\n  scan t [a#1:INT, b#2:INT]", other)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("values [a#1:INT] [1, 2]", "2 values for 1 columns"),
        ("join inner\n  scan a [k#1:INT]\n  scan b [k#1:INT]", "a column twice"),
        ("join sideways\n  scan a [k#1:INT]\n  scan b [k#2:INT]", "'sideways'"),
        ("union 2 [k#9:INT]\n  scan a [k#1:INT]\n  scan b []", "0 columns, the union 1"),
    ],
)
def test_bad_trees_are_refused(text: str, fact: str) -> None:
    with pytest.raises(InvariantError, match=fact):
        from_text(text)
