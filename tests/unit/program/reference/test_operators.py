"""Operators of the reference against results worked out by hand.

The numbers are those of Tempura's running example (the paper's figure 1): sales by
category, where a returned order counts as minus its cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.errors import DataError, InvariantError
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag
from slacktide.program.reference.programs import run_program
from slacktide.program.reference.relations import Table, evaluate
from slacktide.program.reference.world import Outcome

CATEGORY = s.Column(1, "category", "STRING", nullable=True)
GROSS = s.Column(2, "gross", "INT", nullable=True)
KEY = s.Column(3, "key", "STRING", nullable=True)
SAME_KEY = o.Pair(s.reference(KEY), s.reference(KEY))
COUNT = s.Column(4, "__n", "BIGINT", nullable=False)
SUM = s.Column(5, "sum", "DECIMAL(38,0)", nullable=False)
ROWS = (CATEGORY, GROSS)
STATE = (KEY, COUNT, SUM)
BEFORE = [("c1", 3, 280), ("c2", 1, 150)]
CHANGE: Bag = [
    (("c2", 300), 1),
    (("c1", -15), 1),
    (("c2", 220), 1),
    (("c2", 150), -1),
    (("c2", -20), 1),
]
SALES = (("o1", "c1", 100), ("o2", "c2", 150), ("o3", "c1", 120), ("o4", "c1", 170))
MORE_SALES = (("o5", "c2", 300), ("o6", "c1", 150), ("o7", "c2", 220))
SUMMARY = """aggregate key=[#2] [gross#9 := sum(if(isnull(#5), #3, negative(#5):INT):INT)]
  join left on (#1 = #4)
    scan sales [id#1:STRING!, category#2:STRING, price#3:INT]
    scan returns [id#4:STRING!, cost#5:INT]
"""


@dataclass
class FixedWorld:
    """A world that holds what a test puts into it."""

    bags: dict[str, Bag] = field(default_factory=dict)
    states: dict[str, Sequence] = field(default_factory=dict)
    rows: list = field(default_factory=list)

    def changes(self, source, columns) -> Bag:
        return self.bags[source]

    def snapshot(self, source, columns, moment) -> Bag:
        return self.bags[f"{source} {moment}"]

    def bag(self, chain, columns) -> Bag:
        return self.bags.get(chain, [])

    def state(self, chain, columns) -> list:
        return list(self.states.get(chain, []))

    def pieces(self, chain, columns, first, *, is_bag) -> list:
        return (self.bag(chain, columns) if is_bag else self.state(chain, columns))[first:]

    def answer(self, view) -> Bag:
        return self.bags.get(f"views/{view}", [])

    def batch(self, view) -> list:
        return self.rows


def run(*steps: o.Step, **world) -> Outcome:
    return run_program(o.Program(steps), FixedWorld(**world))


def given(operator: o.Operator, **world):
    """What one operator gives, in its own form."""
    return run(o.Save("chain", operator, is_base=True), **world).saved["chain"].data


CHANGES = o.ReadChanges("sales", ROWS)
STORED = o.ReadState("state", STATE)
SEGMENT = o.Summarise(
    CHANGES,
    (s.Assignment(KEY, s.reference(CATEGORY)),),
    (
        o.Partial(COUNT, "count", None, None),
        o.Partial(SUM, "sum", s.reference(GROSS), None),
    ),
)
RESULT = o.Finish(
    o.Combine(o.Add((STORED, SEGMENT), STATE), (KEY,)),
    COUNT.id,
    (s.Assignment(s.Column(6, "k", "STRING", nullable=True), s.reference(KEY)),),
    is_global=False,
)


def test_batch_gives_the_summaries_of_the_paper() -> None:
    def summary(sales, returns):
        tables = {
            "sales": Table(("id", "category", "price"), sales),
            "returns": Table(("id", "cost"), returns),
        }
        return dict(evaluate(from_text(SUMMARY), tables))

    assert summary(SALES, [("o1", 10)]) == {"c1": 280, "c2": 150}
    returns = [("o1", 10), ("o2", 20), ("o6", 15)]
    assert summary(SALES + MORE_SALES, returns) == {"c1": 265, "c2": 500}


def test_state_and_segment_merge_into_the_next_summary() -> None:
    world = {"bags": {"sales": CHANGE}, "states": {"state": BEFORE}}
    assert given(SEGMENT, **world) == [("c2", 2, 350), ("c1", 1, -15)]
    merged = given(o.Combine(o.Add((STORED, SEGMENT), STATE), (KEY,)), **world)
    assert merged == [("c1", 4, 265), ("c2", 3, 500)]


def test_only_groups_of_the_change_are_touched() -> None:
    state = [*BEFORE, ("c3", 1, 1), (None, 2, 5)]
    change: Bag = [(("c2", 1), 1), ((None, 1), 1)]
    world = {"bags": {"sales": change}, "states": {"state": state}}
    assert given(o.Touched(STORED, SEGMENT, (SAME_KEY,)), **world) == [("c2", 1, 150), (None, 2, 5)]


def test_a_group_without_rows_is_gone_even_where_its_sum_is_not_zero() -> None:
    change: Bag = [(("c2", 150), -1)]
    assert given(RESULT, bags={"sales": change}, states={"state": BEFORE}) == [(("c1",), 1)]


def test_a_group_whose_sum_is_zero_stays() -> None:
    change: Bag = [(("c2", -150), 1)]
    kept = given(RESULT, bags={"sales": change}, states={"state": BEFORE})
    assert kept == [(("c1",), 1), (("c2",), 1)]


def test_a_group_with_fewer_rows_than_none_is_an_error() -> None:
    change: Bag = [(("c2", 150), -2)]
    with pytest.raises(DataError, match="-1 times"):
        given(RESULT, bags={"sales": change}, states={"state": BEFORE})


def test_an_aggregate_without_keys_has_one_row_over_nothing() -> None:
    columns = (COUNT, SUM)
    merged = o.Combine(o.ReadState("state", columns), ())
    assert given(merged) == [(0, 0)]
    outputs = (s.Assignment(COUNT, s.reference(COUNT)),)
    assert given(o.Finish(merged, COUNT.id, outputs, is_global=True)) == [((0,), 1)]
    assert given(o.Finish(merged, COUNT.id, outputs, is_global=False)) == []


def test_partials_skip_null_and_rows_that_the_filter_refuses() -> None:
    many = s.Call(
        ">",
        (s.reference(GROSS), s.Literal("1", "INT", nullable=False)),
        "BOOLEAN",
        nullable=True,
    )
    partials = (
        o.Partial(COUNT, "count", None, None),
        o.Partial(s.Column(7, "c", "BIGINT", nullable=False), "count", s.reference(GROSS), None),
        o.Partial(SUM, "sum", s.reference(GROSS), many),
    )
    bag: Bag = [(("a", None), 2), (("a", 1), 1), (("a", 4), 3), (("a", 9), -1)]
    assert given(o.Summarise(CHANGES, (), partials), bags={"sales": bag}) == [(5, 3, 3)]


def test_joins_multiply_and_null_never_meets() -> None:
    other = (s.Column(8, "c", "STRING", nullable=True),)
    equal = s.Call("=", (s.reference(CATEGORY), s.reference(other[0])), "BOOLEAN", nullable=True)
    join = o.JoinBags(CHANGES, o.ReadSnapshot("names", other, "before"), equal)
    bags: dict[str, Bag] = {
        "sales": [(("a", 1), -2), ((None, 2), 1)],
        "names before": [(("a",), 3), ((None,), 1)],
    }
    assert given(join, bags=bags) == [(("a", 1, "a"), -6)]


def test_linear_operators_keep_multiplicities() -> None:
    positive = s.Call(
        ">",
        (s.reference(GROSS), s.Literal("0", "INT", nullable=False)),
        "BOOLEAN",
        nullable=True,
    )
    bag: Bag = [(("a", 1), -2), (("a", 0), 5), (("a", None), 1)]
    assert given(o.Select(CHANGES, positive), bags={"sales": bag}) == [(("a", 1), -2)]
    only = o.Map(CHANGES, (s.identity(CATEGORY),))
    assert given(only, bags={"sales": bag}) == [(("a",), -2), (("a",), 5), (("a",), 1)]
    assert given(o.Consolidate(only), bags={"sales": bag}) == [(("a",), 4)]
    assert given(o.Negate(only), bags={"sales": bag[:1]}) == [(("a",), 2)]


def test_consolidation_drops_what_cancels_and_tells_zeros_apart() -> None:
    column = (s.Column(9, "x", "DOUBLE", nullable=True),)
    bag: Bag = [((0.0,), 1), ((-0.0,), 1), ((None,), 2), ((None,), -2)]
    found = given(o.Consolidate(o.ReadChanges("x", column)), bags={"x": bag})
    assert [str(row[0]) for row, _ in found] == ["0.0", "-0.0"]


def test_a_saved_state_is_read_by_a_later_step() -> None:
    outcome = run(
        o.Save("state", SEGMENT, is_base=False),
        o.Save("copy", o.ReadSaved("state", STATE, is_bag=False), is_base=False),
        bags={"sales": CHANGE},
    )
    assert outcome.saved["copy"].data == outcome.saved["state"].data
    assert outcome.saved["state"].is_state
    assert not outcome.saved["state"].is_base


def test_pieces_are_merged_from_one_on() -> None:
    state = [("c1", 4, 1), ("c2", 1, 150), ("c1", 1, 2), ("c2", -1, -150), ("c3", 0, 5)]
    read = o.ReadSegments("state", STATE, 1, is_bag=False)
    merged = run(
        o.Merge("state", o.Nonzero(o.Combine(read, (KEY,)), (KEY,)), 1), states={"state": state}
    ).merged["state"]
    assert merged.data == [("c1", 1, 2), ("c3", 0, 5)]
    assert (merged.first, merged.is_state) == (1, True)


def negative(column: s.Column) -> s.Call:
    return s.Call("negative", (s.reference(column),), column.type, nullable=False)


def no_key() -> s.Call:
    return s.Call("isnull", (s.reference(KEY),), "BOOLEAN", nullable=False)


def test_partial_aggregates_are_told_by_other_keys_and_not_merged() -> None:
    state = [("c1", 3, 280), (None, 1, 150), (None, -1, 10)]
    less = tuple(s.Assignment(column, negative(column)) for column in (COUNT, SUM))
    taken = o.Regroup(STORED, (KEY,), no_key(), (), less)
    assert taken.is_state
    assert given(taken, states={"state": state}) == [(-1, -150), (1, -10)]


@pytest.mark.parametrize(
    ("child", "predicate", "keys", "partials"),
    [
        (CHANGES, None, (), ()),
        (STORED, s.Call("isnull", (s.reference(SUM),), "BOOLEAN", nullable=False), (), ()),
        (STORED, None, (s.Assignment(KEY, s.reference(SUM)),), ()),
        (STORED, None, (), (s.Assignment(SUM, s.reference(KEY)),)),
        (
            STORED,
            None,
            (),
            (s.Assignment(SUM, s.Call("+", (s.reference(SUM),) * 2, SUM.type, nullable=False)),),
        ),
    ],
    ids=["rows", "a choice by a sum", "a sum as a key", "a key as a sum", "a sum of sums"],
)
def test_what_partial_aggregates_are_not_asked(child, predicate, keys, partials) -> None:
    with pytest.raises(InvariantError):
        o.Regroup(child, (KEY,), predicate, keys, partials)


@pytest.mark.parametrize(
    "operator",
    [
        o.ReadSaved("state", STATE, is_bag=False),
        o.Negate(STORED),
        o.Select(STORED, no_key()),
        o.JoinBags(STORED, CHANGES, None),
        o.Combine(CHANGES, ()),
    ],
    ids=["not saved", "bag expected", "HAVING", "join", "partials expected"],
)
def test_a_program_that_cannot_be_right_is_refused(operator: o.Operator) -> None:
    with pytest.raises(InvariantError):
        given(operator, bags={"sales": []})


@pytest.mark.parametrize("is_base", [True, False], ids=["a base", "a segment"])
def test_partial_aggregates_are_no_answer(*, is_base: bool) -> None:
    with pytest.raises(InvariantError):
        run(o.Publish("v", STORED, is_base=is_base), states={"state": BEFORE})


def test_a_batch_evaluates_consolidated_inputs() -> None:
    query = from_text("aggregate key=[] [low#5 := min(#2)]\n  scan in [a#1:STRING, b#2:INT]")
    bag: Bag = [(("a", 1), 1), (("a", 5), 2), (("a", 1), -1)]
    evaluated = o.Evaluate(query, (o.Input("in", CHANGES),))
    assert given(evaluated, bags={"sales": bag}) == [((5,), 1)]
    with pytest.raises(DataError, match="deletes a row that never was"):
        given(evaluated, bags={"sales": [(("a", 1), -1)]})


def test_a_new_base_is_compared_with_the_old_answer() -> None:
    old: Bag = [(("a", 1), 2), (("b", 2), 1)]
    outcome = run(
        o.Publish("v", o.Batch("v", ROWS), is_base=True),
        bags={"views/v": old},
        rows=[("a", 1), ("c", 3)],
    ).published["v"]
    assert outcome.data == [(("a", 1), 1), (("c", 3), 1)]
    assert sorted(outcome.changes) == [(("a", 1), -1), (("b", 2), -1), (("c", 3), 1)]


def test_an_answer_cannot_lose_what_it_does_not_hold() -> None:
    with pytest.raises(DataError, match="the answer of v"):
        run(o.Publish("v", CHANGES, is_base=False), bags={"sales": [(("a", 1), -1)]})
