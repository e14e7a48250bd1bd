"""Each rule of the memo finds alternatives that nothing else finds, where it is meant to."""

from __future__ import annotations

import pytest

from slacktide.algebra.relation import Rel
from slacktide.algebra.tree import sources
from slacktide.optimizer.expand import METHODS, Problem, all_rules, rules_for
from slacktide.optimizer.memo.exploration import Exploration
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.trait import SetSnap
from slacktide.optimizer.memo.versions import Tables
from slacktide.optimizer.rule_parts.shapes import Shapes
from tests.harness.planner.summary import JOIN, SUMMARY
from tests.harness.planner.watched import FREE
from tests.unit.optimizer.methods.test_higher_order import CHAIN
from tests.unit.optimizer.methods.test_regrouping import NESTED
from tests.unit.optimizer.views import ORDERS, SUMMED, UNITED

pytestmark = pytest.mark.unit
WHERE: dict[str, Rel] = {
    "compute_rows": ORDERS,
    "evaluate_operator": SUMMED,
    "compute_state": SUMMARY,
    "ask_at_all_instants": CHAIN,
    "add_change": ORDERS,
    "extend_state": SUMMED,
    "subtract_snapshots": ORDERS,
    "merge_changes": ORDERS,
    "merge_state_changes": SUMMARY,
    "derive_change": UNITED,
    "derive_change_of_state": SUMMARY,
    "recompute_touched_groups": SUMMED,
    "split_leaf": JOIN,
    "split_operator": JOIN,
    "split_groups": SUMMARY,
    "recombine_rows": JOIN,
    "recombine_states": SUMMARY,
    "join_change_with_view": CHAIN,
    "maintain_outer_joins": JOIN,
    "subtract_states": SUMMARY,
    "merge_groupings": NESTED,
    "regroup_state": NESTED,
    "regroup_change_of_state": NESTED,
    "join_change_with_padded_view": JOIN,
    "aggregate_before_join": CHAIN,
}


def size(rel: Rel, left_out: str = "") -> int:
    """How many expressions are found without a rule, for the snapshot of three instants."""
    tables = sources(rel)
    keys = dict.fromkeys(tables, ("o_id",))
    problem = Problem(rel, tables, 3, append_only=frozenset(tables), keys=keys)
    memo = Memo(Tables(tables))
    rules = rules_for(problem, Shapes(rel, {}), METHODS, FREE, 3)
    kept = [rule for rule in rules if rule.name != left_out]
    assert len(kept) == len(rules) - bool(left_out)
    root = memo.tvr(rel)
    memo.ask(root, SetSnap(memo.tables.at(3, memo.used(root))), rel.columns)
    assert Exploration(memo, kept).run().is_whole
    memo.check()
    return memo.groups.size()


@pytest.mark.parametrize("name", sorted(WHERE))
def test_finds_what_no_other_rule_finds(name: str) -> None:
    assert size(WHERE[name], name) < size(WHERE[name])


def test_all_rules_are_here() -> None:
    assert {rule.name for rule in all_rules()} == set(WHERE)
