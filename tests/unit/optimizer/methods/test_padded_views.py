"""H-4: join_change_with_padded_view keeps views of both sides of an outer join, in either order of changes."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.program import operator as o
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import as_bag, same_bag
from tests.harness.planner.groups import Batch, Filled
from tests.harness.planner.summary import BATCHES, JOIN, RETURNS, SALES, SUMMARY, TABLES

pytestmark = pytest.mark.unit
METHODS = frozenset({"derive", "higher order"})
WITHOUT = frozenset({"derive"})
MIRRORED = from_text(
    """
aggregate key=[c#9:INT := #2] [t#10:BIGINT := sum(#5)]
  project [#2, #5]
    filter (isnull(#6) or (#6 > 0))
      join right on ((#4 = #1) and (#5 <= #3))
        scan returns [o#4:INT, cost#5:INT, x#6:INT, y#7:INT]
        scan sales [o#1:INT, cat#2:INT, price#3:INT, z#8:INT]
"""
)
DEEP = from_text(
    """
join left on (#4 = #5)
  join inner on (#2 = #3)
    scan r1 [a#1:INT, b#2:INT]
    scan r2 [b#3:INT, c#4:INT]
  join left on (#6 = #7)
    scan r3 [c#5:INT, d#6:INT]
    scan r4 [d#7:INT, e#8:INT]
"""
)
ITSELF = from_text(
    "join left on (#2 = #3)\n  scan t [a#1:INT, b#2:INT]\n  scan t [a#3:INT, b#4:INT]\n"
)


def filled(
    rel: Rel, batches: list[Batch], methods: frozenset[str] = METHODS
) -> tuple[Expanded, Filled]:
    space = expand(Problem(rel, sources(rel), len(batches)), methods=methods)
    space.memo.check()
    return space, Filled(space, sources(rel), shapes_of(rel), batches)


def orders(memo, rel: Rel) -> list[o.Operator]:
    """The changes of a relation by its views, as the rule gave them: one for each order."""
    tvr = memo.tvr(rel)
    found: list[o.Operator] = []
    for trait, group in memo.links(tvr).items():
        if isinstance(trait, SetDelta):
            found += [flat for flat in memo.groups.expressions(group) if isinstance(flat, o.Add)]
    return found


@pytest.mark.parametrize(
    "rel", [SUMMARY, MIRRORED, DEEP, ITSELF], ids=["left", "right", "deep", "self"]
)
@pytest.mark.parametrize("seed", range(8))
def test_equals_recomputation(rel: Rel, seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    shapes = shapes_of(rel)
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    batches: list[Batch] = []
    for _ in range(3):
        batch = {}
        for shape in shapes:
            rows = [shape.row(source.randrange(4**6)) for _ in range(4)]
            changes = next_changes(source, shape, present[shape.name])
            present[shape.name] += rows
            batch[shape.name] = [*changes, *as_bag(rows)]
        batches.append(batch)
    space, found = filled(rel, batches)
    assert found.differing() == []
    assert found.unknown == frozenset()
    assert space.trace.fired["join_change_with_padded_view"] > 0


def test_both_orders_of_the_summary_end_at_265_and_500() -> None:
    """R then S: c2 −170, then c2 +520 and c1 −15. S then R: c2 +520 and c1 +150, then c2 −170 and c1 −165."""
    space = expand(Problem(SUMMARY, TABLES, 2), methods=METHODS)
    found = Filled(space, TABLES, (SALES, RETURNS), BATCHES)
    assert found.differing() == []
    expected = ([("c1", 280), ("c2", 150)], [("c1", 265), ("c2", 500)])
    for group, rows in zip(space.answers, expected, strict=True):
        assert same_bag(found.rows[group], as_bag(rows))
    memo = space.memo
    change = memo.links(memo.tvr(JOIN))[SetDelta((1, 1), (2, 2))]
    steps = []
    for flat in memo.groups.expressions(change):
        assert same_bag(found.run(flat), found.rows[change])
        if isinstance(flat, o.Add):
            steps.append([gross(found.rows[term.group]) for term in flat.children])  # type: ignore[attr-defined]
    ends = [total(terms) for terms in steps]
    assert all(end == {"c1": -15, "c2": 350} for end in ends)
    assert any(by_side(terms, {"c2": 520, "c1": -15}, {"c2": -170}) for terms in steps), steps
    assert any(by_side(terms, {"c2": 520, "c1": 150}, {"c2": -170, "c1": -165}) for terms in steps)


def gross(rows) -> dict[str, int]:
    sums: dict[str, int] = {}
    for (_, category, price, _, cost), count in rows:
        sums[category] = sums.get(category, 0) + count * (price if cost is None else -cost)
    return sums


def total(parts) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part in parts:
        for category, value in part.items():
            sums[category] = sums.get(category, 0) + value
    return {category: value for category, value in sums.items() if value}


def by_side(terms, of_sales: dict[str, int], of_returns: dict[str, int]) -> bool:
    """Whether two of four terms are what one side changes, and the other two what the other does."""
    if len(terms) != 4:
        return False
    halves = [total(terms[:2]), total(terms[2:])]
    return of_sales in halves and of_returns in halves


def test_a_return_without_a_cost_is_a_return() -> None:
    """NULL costs: what stands in M_R with a NULL is a partner, beside rows that have a cost, too (E7)."""
    rel = from_text(
        """
aggregate key=[cat#6:STRING := #2] [gross#7:BIGINT := sum(case(when isnull(#4) then #3 else negative(#5):INT):INT), n#8:BIGINT! := count()]
  join left on (#1 = #4)
    scan sales [o_id#1:INT!, cat#2:STRING, price#3:INT!]
    scan returns [o_id#4:INT!, cost#5:INT]
"""
    )
    batches: list[Batch] = [
        {"sales": as_bag([(1, "a", 100), (2, "a", 50)]), "returns": as_bag([(1, None), (3, None)])},
        {
            "sales": as_bag([(3, "b", 70), (1, "b", 30)]),
            "returns": as_bag([(1, 10), (2, None), (3, 5)]),
        },
        {"sales": [((1, "a", 100), -1)], "returns": [((3, None), -1), ((3, 5), -1), ((1, 10), -1)]},
    ]
    space, found = filled(rel, batches)
    assert found.differing() == []
    rows = [sorted(row for row, _ in found.rows[group]) for group in space.answers]
    assert rows == [
        [("a", 50, 2)],
        [("a", -10, 3), ("b", -15, 4)],
        [("a", None, 1), ("b", 70, 2)],
    ]


def test_views_have_the_columns_that_are_asked_for() -> None:
    memo = expand(Problem(MIRRORED, sources(MIRRORED), 2), methods=METHODS).memo
    narrow = {
        tuple(column.id for column in memo.relation(tvr).columns)
        for tvr in memo.tvrs()
        if isinstance(memo.relation(tvr), r.Project)
        and any(isinstance(trait, SetSnap) for trait in memo.links(tvr))
    }
    assert {(4, 5, 6), (1, 2, 3)} <= narrow


def test_a_table_on_both_sides_is_refused() -> None:
    both = expand(Problem(ITSELF, ("t",), 2), methods=METHODS).memo
    without = expand(Problem(ITSELF, ("t",), 2), methods=WITHOUT).memo
    assert len(orders(both, ITSELF)) == len(orders(without, ITSELF))
