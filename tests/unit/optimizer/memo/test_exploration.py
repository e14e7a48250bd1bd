"""Rules fire where something they look for is new, in order of importance, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.tree import sources
from slacktide.errors import InvariantError
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import Problem, Switches, expand
from slacktide.optimizer.memo.exploration import Exploration
from slacktide.optimizer.memo.hole import Hole
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has, Leads, Reads
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Tie, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import Tables, Version
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.statistics import Statistics
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs
from tests.harness.planner.summary import PROBLEM, SUMMARY
from tests.harness.planner.tpch_views import TPCH
from tests.unit.optimizer.views import JOINED, ORDERS, equal

pytestmark = pytest.mark.unit
FILTERED = r.Filter(ORDERS, equal(1, 2))
TWICE = r.Filter(FILTERED, equal(1, 2))


def noted(name: str, log: list[str], *pattern: object, **more: object) -> MemoRule:
    return MemoRule(name, "X = X", "a test", pattern, lambda _f, _m: log.append(name), **more)  # type: ignore[arg-type]


def explored(root: r.Rel, *rules: MemoRule, asked: Trait | None = None, **more: object):
    memo = Memo(Tables(sources(root)))
    if asked is not None:
        memo.ask(memo.tvr(root), asked, root.columns)
    memo.tvr(root)
    exploration = Exploration(memo, rules, **more)  # type: ignore[arg-type]
    exploration.run()
    return memo, exploration.trace


def test_a_new_fact_is_matched_by_the_rules_that_look_for_its_class_alone() -> None:
    log: list[str] = []
    rules = [
        noted("joins", log, Form("q", "rel", r.Join)),
        noted("limits", log, Form("q", "rel", r.Limit)),
        noted("all", log, Form("q", "rel", r.Relation)),
        noted("snaps", log, Has("q", "snap", SetSnap)),
    ]
    _, trace = explored(JOINED, *rules)
    assert trace.matched == {"joins": 1, "all": 3}
    assert sorted(log) == ["all", "all", "all", "joins"]


def test_a_match_fires_once() -> None:
    log: list[str] = []
    pattern = (Form("q", "rel", r.Filter), Reads("q", "rel", "x"), Form("x", "low", r.Filter))
    _, trace = explored(TWICE, noted("nested", log, *pattern))
    assert log == ["nested"]
    assert trace.fired == {"nested": 1}


def test_an_edge_is_found_from_below_too() -> None:
    @dataclass(frozen=True, slots=True)
    class Mark(Tie):
        """A tie to itself."""

    log: list[str] = []

    def mark(found: Binding, memo: Memo) -> None:
        memo.tie(found["q"], Mark(), found["q"])

    rules = [
        MemoRule("mark", "R = R", "a test", (Form("q", "rel", r.Scan),), mark),
        noted(
            "above",
            log,
            Form("q", "rel", r.Filter),
            Reads("q", "rel", "x"),
            Leads("x", "tie", Mark, "y"),
        ),
    ]
    explored(FILTERED, *rules)
    assert log == ["above"]


def test_what_is_important_fires_first_and_a_boost_changes_that() -> None:
    def order(**boosts: int) -> list[str]:
        log: list[str] = []
        form = Form("q", "rel", r.Scan)
        rules = [noted("one", log, form, importance=5), noted("two", log, form, importance=6)]
        explored(ORDERS, *rules, boosts=boosts)
        return log

    assert order() == ["two", "one"]
    assert order(one=2) == ["one", "two"]


def test_a_condition_is_asked_when_the_rule_fires() -> None:
    log: list[str] = []
    late = noted(
        "late",
        log,
        Form("q", "rel", r.Scan),
        importance=1,
        skip=lambda _found, memo: len(memo.tvrs()) > 1,
    )

    def grow(_found: Binding, memo: Memo) -> None:
        memo.tvr(FILTERED)

    _, trace = explored(
        ORDERS, late, MemoRule("grow", "R = R", "a test", (Form("q", "rel", r.Scan),), grow)
    )
    assert log == []
    assert trace.skipped == {"late": 1}


def test_the_search_ends_with_what_it_found_when_its_budget_is_spent() -> None:
    whole = expand(PROBLEM)
    assert whole.trace.is_whole
    cut = expand(PROBLEM, switches=Switches(most_fired=12))
    assert not cut.trace.is_whole
    cut.memo.check()
    assert cut.memo.groups.size() < whole.memo.groups.size()


@pytest.mark.parametrize("most", [0, 12, 40])
def test_a_search_whose_budget_is_spent_ends_with_a_plan(most: int) -> None:
    cut = expand(PROBLEM, switches=Switches(most_fired=most))
    assert not cut.trace.is_whole
    costs = MemoCosts(cut.memo, Statistics())
    instants = len(cut.answers)
    space = space_of(cut, range(1, instants + 1), costs.price, costs.carrying, is_forgetful=False)
    choose(space, LastFirst(instants)).plan.check(space)


@pytest.mark.parametrize("asked", [0, 12, 40])
def test_so_does_one_whose_time_is_up(asked: int) -> None:
    left = iter([False] * asked)
    cut = expand(PROBLEM, is_spent=lambda: next(left, True))
    assert not cut.trace.is_whole
    costs = MemoCosts(cut.memo, Statistics())
    instants = len(cut.answers)
    space = space_of(cut, range(1, instants + 1), costs.price, costs.carrying, is_forgetful=False)
    choose(space, LastFirst(instants)).plan.check(space)


def test_a_rule_looks_for_something() -> None:
    with pytest.raises(InvariantError, match="nothing"):
        noted("idle", [])


@dataclass(frozen=True, slots=True)
class Sorted(Trait):
    """A user's trait: the rows of a version in an order."""

    version: Version

    def versions(self) -> tuple[Version, ...]:
        return (self.version,)

    def mapped(self, change) -> Self:
        return type(self)(change(self.version))


def test_users_add_rules_and_traits() -> None:
    """A user's rule gives snapshots a trait of its own, and an alternative by way of it."""

    def sort(found: Binding, memo: Memo) -> None:
        columns = memo.relation(found["q"]).columns
        rows = memo.ask(found["q"], found["snap"], columns)
        memo.fill(
            found["q"], Sorted(found["snap"].version), o.Consolidate(o.Negate(o.Negate(rows)))
        )

    rule = MemoRule(
        "sort_rows", "τ(X) = X", "a user", (Has("q", "snap", SetSnap),), sort, importance=7
    )
    problem = Problem(SUMMARY, PROBLEM.tables, 4)
    found = expand(problem, extra=(rule,))
    found.memo.check()
    assert found.trace.fired["sort_rows"] > 0
    for group in found.answers:
        (version,) = {t.version for _, t in found.memo.linked(group) if isinstance(t, SetSnap)}
        tvr = found.memo.tvr(SUMMARY)
        assert Sorted(version) in found.memo.links(tvr)


def test_users_say_that_relations_are_equal() -> None:
    """A traditional rewrite: two equal filters are one; all that was asked of either is one group."""

    def drop(found: Binding, memo: Memo) -> None:
        if found["rel"].predicate == found["low"].predicate:
            memo.equate(found["q"], found["low"])

    rule = MemoRule(
        "drop_repeated_filter",
        "σp(σp(X)) = σp(X)",
        "a user",
        (Form("q", "rel", r.Filter), Reads("q", "rel", "x"), Form("x", "low", r.Filter)),
        drop,
    )
    plain = expand(Problem(TWICE, ("orders",), 3))
    found = expand(Problem(TWICE, ("orders",), 3), extra=(rule,))
    found.memo.check()
    assert found.memo.tvr(TWICE) == found.memo.tvr(FILTERED)
    assert found.memo.groups.size() < plain.memo.groups.size()


VIEWS = ("q1", "q3", "q4", "q6", "q10", "q12", "q13", "q15", "q16", "q17", "q18", "q22")
Change = SetDelta | ValDelta


def changes(memo: Memo) -> Iterator[tuple[int, Change]]:
    for tvr in memo.tvrs():
        yield from ((tvr, trait) for trait in memo.links(tvr) if isinstance(trait, Change))


def at(change: Change, version: Version) -> Trait:
    if isinstance(change, ValDelta):
        return ValSnap(change.layout, version)
    return SetSnap(version)


def is_difference(flat: Operator, memo: Memo, tvr: int, change: Change) -> bool:
    """Whether an expression takes what there was from what there is."""
    links = memo.links(tvr)
    new, old = (links.get(at(change, version)) for version in (change.end, change.start))
    if not isinstance(flat, o.Add) or holes(flat)[0].group != new:
        return False
    rest = [one for hole in holes(flat)[1:] for one in memo.groups.expressions(hole.group)]
    taken = [one for one in rest if isinstance(one, o.Negate | o.Regroup)]
    return any(holes(one)[0].group == old for one in taken)


def holes(flat: Operator) -> list[Hole]:
    return [part for part in operator_inputs(flat) if isinstance(part, Hole)]


def differences(memo: Memo) -> list[tuple[Operator, ...]]:
    """All ways to each change to which a difference is one."""
    found = []
    for tvr, change in changes(memo):
        ways = memo.groups.expressions(memo.links(tvr)[change])
        if any(is_difference(flat, memo, tvr, change) for flat in ways):
            found.append(ways)
    return found


@pytest.mark.parametrize("query", VIEWS)
def test_pruning_subtracts_only_where_there_is_no_other_way(query: str) -> None:
    problem = TPCH.problem(query, 2)
    pruned, whole = expand(problem), expand(problem, switches=Switches(is_pruned=False))
    assert all(len(ways) == 1 for ways in differences(pruned.memo))
    besides = [ways for ways in differences(whole.memo) if len(ways) > 1]
    assert len(besides) > 3
    assert whole.memo.groups.size() > pruned.memo.groups.size()


def test_pruning_subtracts_where_there_is_no_other_way() -> None:
    """The first rows of an order, of which only the answer as it was and as it is are known."""
    (ways,) = differences(expand(TPCH.problem("q3", 2)).memo)
    assert len(ways) == 1


def is_wide(start: Version, end: Version) -> bool:
    """Whether more than one interval lies between two versions; one that is virtual is within an interval."""
    return any(after - before > 1 for before, after in zip(start, end, strict=True))


def is_sum_of_changes(flat: Operator, memo: Memo) -> bool:
    """Whether an expression adds the change of one interval to that of the next."""
    if not isinstance(flat, o.Add):
        return False
    added = [
        (tvr, trait)
        for hole in holes(flat)
        for tvr, trait in memo.linked(hole.group)
        if isinstance(trait, Change)
    ]
    return any(
        of == whose and one.end == other.start and is_wide(one.start, other.end)
        for of, one in added
        for whose, other in added
    )


def sums_of_changes(memo: Memo) -> int:
    flats = (flat for group in memo.groups for flat in memo.groups.expressions(group))
    return sum(is_sum_of_changes(flat, memo) for flat in flats)


@pytest.mark.parametrize("query", VIEWS)
def test_guided_exploration_merges_no_changes(query: str) -> None:
    problem = TPCH.problem(query, 3)
    copied, guided, free = (
        expand(problem, switches=switches).memo
        for switches in (
            Switches(),
            Switches(is_translated=False),
            Switches(is_translated=False, is_guided=False),
        )
    )
    for memo in (copied, guided):
        assert sums_of_changes(memo) == 0
        assert not any(is_wide(change.start, change.end) for _, change in changes(memo))
    assert sums_of_changes(free) > 4
    assert free.groups.size() > guided.groups.size()


def test_columns_of_views_are_not_made_again() -> None:
    found = expand(Problem(JOINED, ("lines", "orders"), 2))
    known = {c.id for c in JOINED.columns}
    states = [h for h in map(found.memo.groups.hole, found.memo.groups) if h.is_state]
    assert all(known.isdisjoint(c.id for c in hole.columns) for hole in states)
