"""A change meets the relations of a join one by one, those first by which its rows grow least."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.derivation import Premises
from slacktide.optimizer.programs.join_bags import joins
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain
from slacktide.optimizer.statistics import ColumnFacts, Figure, SourceFacts, Statistics
from slacktide.program import operator as o
from slacktide.program.operator import Operator

CHAIN = """join inner on (#4 = #5)
  join inner on (#2 = #3)
    scan a [k#1:INT, b#2:INT]
    scan b [k#3:INT, c#4:INT]
  scan c [k#5:INT, v#6:INT]
"""
STAR = """join inner on ((#3 = #6) and (#7 = #9))
  join inner on (#1 = #8)
    join inner on (#2 = #4)
      scan facts [a#1:INT, b#2:INT, c#3:INT]
      scan many [k#4:INT, v#5:INT]
    scan other [k#8:INT, d#9:INT]
  scan few [k#6:INT, d#7:INT]
"""
FOUR = """join inner on (#6 = #7)
  join inner on (#4 = #5)
    join inner on (#2 = #3)
      scan a [k#1:INT, b#2:INT]
      scan b [k#3:INT, c#4:INT]
    scan c [k#5:INT, d#6:INT]
  scan d [k#7:INT, v#8:INT]
"""
UNKNOWN = Statistics()


def known(**sizes: tuple[float, Mapping[str, float]]) -> Statistics:
    """Tables of so many rows, and how many different values a column of them has."""
    return Statistics(
        {
            name: SourceFacts(
                Figure(rows, "observed"),
                columns={
                    column: ColumnFacts(Figure(count, "observed"))
                    for column, count in distinct.items()
                },
            )
            for name, (rows, distinct) in sizes.items()
        }
    )


def changes(text: str, *changed: str, statistics: Statistics = UNKNOWN) -> list[str]:
    """What the terms of the change of a view read, in the order in which it is met."""
    analysis = Maintainability(from_text(text))
    program = maintain("v", analysis, frozenset(changed), Premises(statistics=statistics)).program
    (step,) = program.steps
    terms = step.child.child if isinstance(step.child, o.Consolidate) else step.child
    assert isinstance(terms, o.Add)
    return [" ".join(met(term)) for term in terms.children]


def met(operator: Operator) -> list[str]:
    match operator:
        case o.ReadChanges():
            return [f"Δ{operator.source}"]
        case o.ReadSnapshot():
            return [operator.source]
        case _:
            return [name for child in o.operator_inputs(operator) for name in met(child)]


def test_the_change_of_the_last_relation_does_not_wait_for_the_join_of_the_others() -> None:
    assert changes(CHAIN, "c") == ["Δc b a"]
    assert changes(CHAIN, "a") == ["Δa b c"]


def test_each_change_has_an_order_of_its_own() -> None:
    assert changes(CHAIN, "a", "b", "c") == ["Δa b a Δb c", "Δc b a"]


@pytest.mark.parametrize(
    ("rows", "alike", "order"),
    [(100.0, 100.0, "Δfew other facts many"), (1e4, 1.0, "Δfew facts other many")],
)
def test_what_multiplies_rows_is_met_later(rows: float, alike: float, order: str) -> None:
    statistics = known(
        facts=(1e4, {"a": rows, "b": 10.0, "c": 100.0}),
        many=(1e5, {"k": 10.0}),
        few=(100.0, {"k": 100.0, "d": alike}),
        other=(rows, {"k": rows, "d": alike}),
    )
    assert changes(STAR, "few", statistics=statistics) == [order]


def test_what_no_equality_connects_is_met_as_it_is_joined() -> None:
    text = CHAIN.replace("(#2 = #3)", "(#2 < #3)")
    assert changes(text, "c") == ["a b Δc"]


@pytest.mark.parametrize(
    ("equality", "may_fail", "order"),
    [
        ("(#2 = #3)", "((#2 + #3) > 0)", "Δd c a b"),
        ("(#4 = #5)", "((#1 + #5) > 0)", "a b c Δd"),
        ("(#6 = #7)", "((#1 + #7) > 0)", "a b c Δd"),
        ("(#6 = #7)", "(#1 > #7)", "Δd c b a"),
    ],
)
def test_a_join_by_a_condition_that_may_fail_is_met_as_it_is(
    equality: str, may_fail: str, order: str
) -> None:
    """Spark asks for it as soon as its columns are there, and in another order of other rows than the query does."""
    text = FOUR.replace(equality, f"({equality} and {may_fail})")
    assert changes(text, "d") == [order]


def test_columns_that_stand_twice_are_met_as_they_are_joined() -> None:
    text = """join inner on (#4 = #9)
  project [c#4:INT := #4]
    join inner on (#2 = #3)
      scan a [k#1:INT, b#2:INT]
      scan b [k#3:INT, c#4:INT]
  scan c [v#1:INT, k#9:INT]
"""
    assert changes(text, "c") == ["a b Δc"]
    assert changes(text.replace("v#1", "v#5"), "c") == ["Δc b a"]


def test_a_join_that_is_stored_is_met_as_a_whole() -> None:
    analysis = Maintainability(from_text(CHAIN))
    (stored,) = (rel for rels in joins(analysis).values() for rel in rels)
    assert isinstance(stored, r.Join)
    program = maintain(
        "v", analysis, frozenset({"c"}), Premises(remembered=frozenset({stored}))
    ).program
    assert list(of_type(program, o.ReadSnapshot)) == []


def test_a_join_whose_relations_are_met_one_by_one_may_still_be_remembered() -> None:
    analysis = Maintainability(from_text(CHAIN))
    (stored,) = (rel for rels in joins(analysis).values() for rel in rels)
    assert stored in maintain("v", analysis, frozenset({"c"})).read
