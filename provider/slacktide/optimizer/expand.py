"""The pass that gives every way to maintain a view: its memo over all instants (tempura.md §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from slacktide.algebra.relation import Rel, Values
from slacktide.errors import InvalidSettingError
from slacktide.optimizer.budget import IsSpent, never
from slacktide.optimizer.memo.emptiness import Quiet, prune_empty
from slacktide.optimizer.memo.exploration import MOST_FIRED, Exploration, Trace
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.symmetry import copy_to_instants
from slacktide.optimizer.memo.trait import SetSnap
from slacktide.optimizer.memo.versions import Tables
from slacktide.optimizer.methods import (
    combining,
    computing,
    deriving,
    eager_aggregation,
    higher_order,
    holding,
    outer_joins,
    padded_views,
    regrouping,
    touching,
)
from slacktide.optimizer.rule_parts.shapes import Shapes

Method = Literal[
    "recompute", "derive", "touch", "hold", "higher order", "outer join", "aggregate early"
]
METHODS: Final[frozenset[str]] = frozenset(get_args(Method))


@dataclass(frozen=True, slots=True)
class Switches:
    """How the plan space is explored.

    Attributes:
        is_translated: explore two instants and copy to the others (translational symmetry).
        is_pruned: subtract snapshots only where there is no other way (PNA).
        is_guided: leave changes over more than one interval out (guided exploration).
        most_fired: how many rules may fire.
        boosts: factors for the importance of rules, by name.
    """

    is_translated: bool = True
    is_pruned: bool = True
    is_guided: bool = True
    most_fired: int = MOST_FIRED
    boosts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be planned: Tempura's (T, D, Q) without the costs.

    Attributes:
        relation: of the view, in normal form.
        tables: the sources that change, in a fixed order.
        instants: how many runs there are; the first builds, as there is nothing before it.
        conf: the SQL settings of the view.
        quiet: tables without changes in the interval that ends at an instant.
        append_only: tables whose rows never go, by declaration.
        keys: declared keys of tables: columns that identify a row.
    """

    relation: Rel
    tables: tuple[str, ...]
    instants: int
    conf: Mapping[str, str] = field(default_factory=dict)
    quiet: Quiet = frozenset()
    append_only: frozenset[str] = frozenset()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.instants < 1:
            raise InvalidSettingError(
                f"a plan over {self.instants} instants", hint="give at least 1"
            )


@dataclass(frozen=True, slots=True)
class Expanded:
    """A plan space.

    Attributes:
        memo: all alternatives.
        trace: what the search did.
        answers: the group of the answer at each instant, the first one first.
    """

    memo: Memo
    trace: Trace
    answers: tuple[int, ...]


def expand(
    problem: Problem,
    *,
    methods: frozenset[str] = METHODS,
    switches: Switches = Switches(),
    extra: tuple[MemoRule, ...] = (),
    is_spent: IsSpent = never,
) -> Expanded:
    """Explore the plan space of a view.

    Args:
        problem: what is to be planned.
        methods: which may be used; without `derive` there is full recomputation in any case.
        switches: how to explore.
        extra: rules of the user.
        is_spent: whether the search has taken all the time that it may.
    """
    shapes = Shapes(problem.relation, problem.conf)
    memo = Memo(Tables(problem.tables))
    sampled = min(2, problem.instants) if switches.is_translated else problem.instants
    rules = (*rules_for(problem, shapes, methods, switches, sampled), *extra)
    exploration = Exploration(
        memo, rules, boosts=switches.boosts, most_fired=switches.most_fired, is_spent=is_spent
    )
    _ask(memo, problem.relation, sampled)
    trace = exploration.run()
    if sampled < problem.instants:
        copy_to_instants(memo, problem.instants)
    answers = _ask(memo, problem.relation, problem.instants)
    if problem.quiet:
        prune_empty(memo, problem.quiet)
    return Expanded(memo, trace, tuple(map(memo.groups.find, answers)))


def _ask(memo: Memo, relation: Rel, instants: int) -> list[int]:
    root = memo.tvr(relation)
    used = memo.used(root)
    asked = range(1, instants + 1)
    snaps = (SetSnap(memo.tables.at(instant, used)) for instant in asked)
    return [memo.ask(root, snap, relation.columns).group for snap in snaps]


def rules_for(
    problem: Problem, shapes: Shapes, methods: frozenset[str], switches: Switches, sampled: int
) -> tuple[MemoRule, ...]:
    """The rules of some methods."""
    rules = [
        *computing.rules(shapes, is_later="recompute" in methods or "derive" not in methods),
        *combining.rules(sampled, is_guided=switches.is_guided, is_pruned=switches.is_pruned),
    ]
    if "derive" in methods:
        rules += deriving.rules(shapes, lambda _tvr, _memo: True)
        rules += regrouping.rules(shapes)
    else:
        rules += deriving.rules(shapes, holding.is_kept)
    if "touch" in methods:
        rules += touching.rules(shapes)
    if "hold" in methods:
        rules += holding.rules(shapes, problem.append_only)
    if "higher order" in methods:
        rules += (*higher_order.rules(), *padded_views.rules())
    if "outer join" in methods:
        rules += outer_joins.rules(shapes, problem.keys)
    if "aggregate early" in methods:
        rules += eager_aggregation.rules(shapes, problem.keys, problem.conf)
    return tuple(rules)


def all_rules() -> tuple[MemoRule, ...]:
    """Every rule there is, for those who list them."""
    nothing = Values((), ())
    free = Switches(is_pruned=False, is_guided=False)
    return rules_for(Problem(nothing, (), 2), Shapes(nothing, {}), METHODS, free, 2)
