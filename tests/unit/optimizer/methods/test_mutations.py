"""Every sign that a rule of the memo sets matters: turned on purpose, it gives other rows than batch."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.common.tree import graft
from slacktide.errors import DataError
from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import Trait
from slacktide.program import operator as o
from slacktide.program.operator import Operator
from tests.harness.histories import shapes_of
from tests.harness.planner.grouped import indented
from tests.harness.planner.groups import Batch, Filled, same
from tests.harness.planner.keyed import history
from tests.harness.planner.watched import watched
from tests.harness.plans import SourceShape

pytestmark = pytest.mark.unit
LEFT = "scan l [k#1:INT!, x#2:INT, y#3:INT]"
RIGHT = "scan r [k#4:INT!, x#5:INT, y#6:INT]"
SUMMED = "aggregate key=[x#7:INT := {}] [s#8:BIGINT := sum({})]"
INNER = f"join inner on (#2 = #5)\n    {LEFT}\n    {RIGHT}"
OUTER = f"join left on (#2 = #5)\n    {LEFT}\n    {RIGHT}"
BOTH = f"join full on (#2 = #5)\n    {LEFT}\n    {RIGHT}"
GROUPS = f"aggregate key=[x#7:INT := #2, y#9:INT := #3] [s#8:BIGINT := sum(#1)]\n    {LEFT}"
WHERE: dict[str, str] = {
    "compute_rows": INNER,
    "evaluate_operator": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "compute_state": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "add_change": INNER,
    "extend_state": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "subtract_snapshots": INNER,
    "subtract_states": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "merge_changes": INNER,
    "merge_state_changes": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "derive_change": BOTH,
    "derive_change_of_state": f"{SUMMED.format('#2', '#6')}\n  {OUTER}",
    "regroup_state": f"aggregate key=[x#10:INT := #7] [t#11:BIGINT := sum(#8)]\n  {GROUPS}",
    "regroup_change_of_state": f"aggregate key=[x#10:INT := #7] [t#11:BIGINT := sum(#8)]\n  {GROUPS}",
    "recompute_touched_groups": f"{SUMMED.format('#2', '#3')}\n  {LEFT}",
    "recombine_rows": OUTER,
    "recombine_states": f"{SUMMED.format('#2', '#6')}\n  {OUTER}",
    "join_change_with_view": INNER,
    "join_change_with_padded_view": OUTER,
    "maintain_outer_joins": OUTER,  # of a full join the view is told more than is asked of it later
}
# What these know are relations and questions; no operator is of their making.
SILENT = {
    "ask_at_all_instants",
    "split_leaf",
    "split_operator",
    "split_groups",
    "merge_groupings",
    "aggregate_before_join",
}
# Where rows without a partner are asked for, rows that lose theirs are not seen, whatever their sign.
EQUAL = {"maintain_outer_joins": 1}
INSTANTS, SEEDS, MOST = 3, range(30), 3


def test_every_rule_is_here() -> None:
    assert {rule.name for rule in all_rules()} == {*WHERE, *SILENT}


Made = tuple[int, Trait, Operator]


def mutants(root: Operator) -> list[Operator]:
    """The operators with one sign turned, or one summand of partial aggregates left out."""
    found: list[Operator] = []
    for part in dict.fromkeys(_signed(root)):
        match part:
            case o.Negate():
                found.append(graft(root, {part.digest: part.child}))
            case o.Add():
                found += [
                    graft(root, {part.digest: _turned(part, n)}) for n in range(len(part.children))
                ]
            case o.Regroup() if any(isinstance(item.value, s.Call) for item in part.partials):
                found.append(graft(root, {part.digest: part.child}))
    return found or [_opposite(root)]


def _signed(operator: Operator) -> Iterator[Operator]:
    """An operator and what it stands on, without what only says which rows are concerned."""
    yield operator
    match operator:
        case o.Touched():
            below: tuple[Operator, ...] = (operator.child,)
        case o.SemiBags():
            below = (operator.left,)
        case o.Flips():
            below = (operator.child,)
        case _:
            below = o.operator_inputs(operator)
    for part in below:
        yield from _signed(part)


def _turned(added: o.Add, place: int) -> Operator:
    children = list(added.children)
    if children[place].is_state:
        del children[place]
    else:
        children[place] = o.Negate(children[place])
    return o.Add(tuple(children), added.fields)


def _opposite(root: Operator) -> Operator:
    return o.Add((root, root), root.columns) if root.is_state else o.Negate(root)


def fewest(made: list[Made]) -> list[Made]:
    """The last ones of different relations and kinds, with their groups known in all histories."""
    kinds = {
        (tvr, type(trait), operator.tag): (tvr, trait, operator) for tvr, trait, operator in made
    }
    return list(kinds.values())[-MOST:]


def batches_of(seed: int, shapes: tuple[SourceShape, ...]) -> list[Batch]:
    return [*history(random.Random(seed), shapes, INSTANTS)]  # noqa: S311


@pytest.mark.parametrize("name", sorted(WHERE))
def test_a_turned_sign_is_caught(name: str) -> None:
    rel = from_text(indented(WHERE[name]) + "\n")
    tables = sources(rel)
    keys = dict.fromkeys(tables, ("k",))
    memo, space = watched(rel, name, INSTANTS, append_only=tables, keys=keys)
    assert space.trace.fired[name]
    shapes = shapes_of(rel)
    made = fewest(memo.added.filled)
    left = [(tvr, trait, mutant) for tvr, trait, op in made for mutant in mutants(op)]
    assert left
    for seed in SEEDS:
        filled = Filled(space, tables, shapes, batches_of(seed, shapes))
        left = [each for each in left if not is_caught(memo, filled, *each)]
        if len(left) == EQUAL.get(name, 0):
            break
    survived = [f"{mutant.tag} as {trait}" for _, trait, mutant in left]
    assert len(survived) == EQUAL.get(name, 0), survived


def is_caught(memo: Memo, filled: Filled, tvr: int, trait: Trait, mutant: Operator) -> bool:
    group = memo.links(tvr)[trait]
    try:
        found = filled.run(mutant)
    except DataError:
        return True
    return not same(found, filled.rows[group], memo.groups.hole(group))
