"""The running example of Tempura: sales, returns, and gross revenue by category (tempura.md §2, A.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.common.tree import of_type
from slacktide.optimizer.choice.choosing import Choice, choose
from slacktide.optimizer.choice.objective import weighted
from slacktide.optimizer.expand import Expanded, Problem, expand
from slacktide.optimizer.memo.hole import Hole
from slacktide.optimizer.memo.trait import SetDelta
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.program import operator as o
from slacktide.program.operator import Operator, operator_inputs
from tests.harness.memory import as_bag
from tests.harness.planner.groups import Batch, Filled
from tests.harness.plans import SourceShape

SALES = SourceShape(
    "sales", (("o_id", "INT", False), ("cat", "STRING", False), ("price", "INT", False))
)
RETURNS = SourceShape("returns", (("o_id", "INT", False), ("cost", "INT", False)))
TABLES = ("sales", "returns")
SUMMARY = from_text(
    """
aggregate key=[cat#6 := #2] [gross#7:BIGINT := sum(case(when isnull(#5) then #3 else (0 - #5)):INT)]
  join left on (#1 = #4)
    scan sales [o_id#1:INT!, cat#2:STRING!, price#3:INT!]
    scan returns [o_id#4:INT!, cost#5:INT!]
"""
)
JOIN = next(of_type(SUMMARY, r.Join))
OLD_SALES = [(1, "c1", 100), (2, "c2", 150), (3, "c1", 120), (4, "c1", 170)]
NEW_SALES = [(5, "c2", 300), (6, "c1", 150), (7, "c2", 220)]
OLD_RETURNS = [(1, 10)]
NEW_RETURNS = [(2, 20), (6, 15)]
BATCHES: tuple[Batch, ...] = (
    {"sales": as_bag(OLD_SALES), "returns": as_bag(OLD_RETURNS)},
    {"sales": as_bag(NEW_SALES), "returns": as_bag(NEW_RETURNS)},
)
ONE_MORE_RETURN: tuple[Batch, ...] = (
    BATCHES[0],
    {"sales": as_bag(NEW_SALES), "returns": as_bag([*NEW_RETURNS, (4, 5)])},
)
PROBLEM = Problem(SUMMARY, TABLES, 2, append_only=frozenset(TABLES))
WEIGHTS = ("0.2", 1)


@dataclass
class TupleCosts:
    """Tuples that joins and aggregates consume; a change that meets stored rows consumes the change.

    All else is free, saving and loading too: the table of tempura.md A.1.
    """

    filled: Filled

    def price(self, flat: Operator) -> int:
        """The tuples that an expression consumes."""
        match flat:
            case o.JoinBags():
                changes = [side for side in (flat.left, flat.right) if self._is_change(side)]
                return self._rows(changes if len(changes) == 1 else (flat.left, flat.right))
            case o.Summarise():
                return self._rows([flat.child])
            case o.Evaluate() if isinstance(flat.query, r.Aggregate):
                return self._rows(operator_inputs(flat))
            case o.Evaluate() if isinstance(flat.query, r.Join):
                is_tested = flat.query.kind in {"semi", "anti"}
                return 0 if is_tested else self._rows(operator_inputs(flat))
            case _:
                return 0

    def _rows(self, sides: Iterable[Operator]) -> int:
        total = 0
        for side in sides:
            assert isinstance(side, Hole)
            rows = self.filled.rows[side.group]
            total += len(rows) if side.is_state else sum(abs(count) for _, count in rows)
        return total

    def _is_change(self, side: Operator) -> bool:
        assert isinstance(side, Hole)
        linked = self.filled.memo.linked(side.group)
        return any(isinstance(trait, SetDelta) for _, trait in linked)


def planned(
    methods: Iterable[str], batches: tuple[Batch, ...] = BATCHES
) -> tuple[Choice, Expanded]:
    """The choice for the running example with some methods, and its plan space."""
    expanded = expand(PROBLEM, methods=frozenset(methods))
    filled = Filled(expanded, TABLES, (SALES, RETURNS), batches)
    assert filled.differing() == []
    space = space_of(expanded, [2], TupleCosts(filled).price, lambda _: (0, 0), is_forgetful=False)
    return choose(space, weighted(WEIGHTS)), expanded
