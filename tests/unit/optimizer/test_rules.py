"""Each delta rule by its name: where it fires, what it gives, and where it stays silent."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.reasons import Reason
from slacktide.common.tree import of_type
from slacktide.optimizer.programs.derivation import Derivation, Premises
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.optimizer.rules import RULES
from slacktide.program import operator as o
from tests.unit.optimizer.views import (
    EXPANDED,
    FILTERED,
    GENERATED,
    JOINED,
    LINES,
    ORDERS,
    PARTITIONED,
    PROJECTED,
    RANKED,
    SUMMED,
    UNITED,
    aggregate,
    column,
    equal,
)

MARKER = column(90, "BOOLEAN", nullable=False)
KNOWN = {
    "go_along_foreign_key": frozenset({ForeignKey("lines", ("c11",), "orders", ("c1",))}),
}
FIRES: dict[str, tuple[r.Rel, type[o.Operator]]] = {
    "read_changes_of_scan": (ORDERS, o.ReadChanges),
    "filter_changes": (FILTERED, o.Select),
    "project_changes": (PROJECTED, o.Map),
    "add_changes_of_union": (UNITED, o.Add),
    "expand_changes": (EXPANDED, o.ExpandBag),
    "generate_from_changes": (GENERATED, o.GenerateBag),
    "forget_order": (r.Sort(FILTERED, ()), o.Select),
    "go_along_foreign_key": (JOINED, o.Add),
    "split_delta_of_join": (JOINED, o.Add),
    "retest_touched_rows": (r.Join(ORDERS, LINES, "anti", equal(1, 11)), o.Add),
    "pad_lonely_rows": (r.Join(ORDERS, LINES, "full", equal(1, 11)), o.Add),
    "mark_met_rows": (r.Join(ORDERS, LINES, "existence", equal(1, 11), MARKER), o.Add),
    "maintain_aggregate": (SUMMED, o.Consolidate),
    "recompute_touched_groups": (aggregate(ORDERS, "min", column(1), "INT"), o.Add),
    "recompute_touched_partitions": (PARTITIONED, o.Add),
    "recompute_limit": (r.Limit(ORDERS, 3), o.Add),
}


@pytest.mark.parametrize(
    ("relation", "additive"),
    [
        (SUMMED, True),
        (aggregate(ORDERS, "min", column(1), "INT"), False),
        (aggregate(LINES, "sum", column(13, "DOUBLE"), "DOUBLE", key=11), False),
        (aggregate(ORDERS, "avg", column(3, "DECIMAL(38,18)"), "DECIMAL(38,22)"), False),
    ],
)
def test_what_adds_up_exactly(relation: r.Aggregate, additive: bool) -> None:
    assert is_additive(relation) == additive
    assert Maintainability(relation).verdict() == ()


MANY_ROWS = s.Subquery(r.Project(LINES, (s.identity(LINES.columns[0]),)), "INT", True)


def derive(
    rel: r.Rel, *changed: str, known: frozenset[ForeignKey] = frozenset()
) -> o.Operator | None:
    derivation = Derivation(
        "v",
        Maintainability(rel),
        changed=frozenset(changed),
        premises=Premises(known),
    )
    return derivation.delta(rel)


def test_every_rule_is_here() -> None:
    assert [rule.name for rule in RULES] == list(FIRES)


@pytest.mark.parametrize("name", FIRES)
def test_it_is_the_rule_that_is_taken(name: str) -> None:
    relation, _ = FIRES[name]
    derivation = Derivation(
        "v",
        Maintainability(relation),
        changed=frozenset({"orders", "lines"}),
        premises=Premises(KNOWN.get(name, frozenset())),
    )
    rule = derivation.rule_of(relation)
    assert rule is not None
    assert rule.name == name


@pytest.mark.parametrize("name", FIRES)
def test_it_fires_on_what_changed(name: str) -> None:
    relation, kind = FIRES[name]
    known = KNOWN.get(name, frozenset())
    change = derive(relation, "orders", "lines", known=known)
    assert isinstance(change, kind)
    assert any(of_type(change, o.ByBalance)) == bool(known)
    assert [c.id for c in change.columns] == [c.id for c in relation.columns]


@pytest.mark.parametrize("name", FIRES)
def test_it_is_silent_where_nothing_changed(name: str) -> None:
    assert derive(FIRES[name][0], "another", known=KNOWN.get(name, frozenset())) is None


def test_a_join_has_a_term_per_changed_side() -> None:
    both = derive(JOINED, "orders", "lines")
    assert isinstance(both, o.Add)
    reads = [(read.source, read.moment) for read in of_type(both, o.ReadSnapshot)]
    assert sorted(reads) == [("lines", "after"), ("orders", "before")]
    left = derive(JOINED, "orders")
    assert isinstance(left, o.Add)
    assert len(left.children) == 1


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (RANKED, Reason("OPERATOR_NOT_INCREMENTAL", "window without PARTITION BY")),
        (
            r.Sort(ORDERS, (s.SortKey(MANY_ROWS, True, True),)),
            Reason("OPERATOR_NOT_INCREMENTAL", "scalar subquery"),
        ),
    ],
)
def test_what_no_rule_covers_has_a_reason(relation: r.Rel, reason: Reason) -> None:
    assert Maintainability(relation).verdict() == (reason,)


def test_a_group_key_must_tell_rows_apart() -> None:
    scan = r.Scan("tags", (column(1, "MAP<STRING, INT>"),))
    grouped = r.Aggregate(scan, (s.identity(scan.columns[0]),), ())
    assert Maintainability(grouped).verdict() == (Reason("UNGROUPABLE_TYPE", "MAP<STRING, INT>"),)


def test_what_no_file_can_have_is_not_remembered() -> None:
    terms = r.Scan("terms", (column(1, "INTERVAL"), column(2, "INT")))
    other = r.Scan("others", (column(3, "INTERVAL"),))
    passed = r.Project(terms, tuple(map(s.identity, terms.columns)))
    equal = s.Call("=", tuple(map(s.reference, terms.columns[:1] + other.columns)), "BOOLEAN", True)
    by_number = r.Sort(passed, (s.SortKey(s.reference(terms.columns[1]), True, True),))
    remembered: list[r.Rel] = [
        r.Aggregate(passed, (s.identity(terms.columns[0]),), ()),
        r.Limit(passed, 3),
        r.Limit(r.Project(by_number, (s.identity(terms.columns[1]),)), 3),
        r.Join(passed, other, "semi", equal),
    ]
    for relation in remembered:
        assert Maintainability(relation).verdict() == (Reason("UNSTORABLE_TYPE", "INTERVAL"),)
    grouped = r.Aggregate(passed, (s.identity(terms.columns[1]),), ())
    passing: list[r.Rel] = [passed, grouped, r.Join(passed, other, "inner", equal)]
    for relation in passing:
        assert Maintainability(relation).verdict() == ()


def test_a_state_is_known_by_what_it_means() -> None:
    from slacktide.optimizer.rule_parts.states import chain_of

    renamed = r.Scan("orders", tuple(column(c.id + 50, c.type) for c in ORDERS.columns))
    same = r.Scan(
        "orders", tuple(s.Column(c.id + 50, c.name, c.type, c.nullable) for c in ORDERS.columns)
    )

    def total(scan: r.Scan) -> r.Aggregate:
        call = s.AggregateCall("count", (), False, None, "BIGINT", False)
        key = s.Assignment(column(70), s.reference(scan.columns[1]))
        return r.Aggregate(scan, (key,), (s.Measure(column(71, "BIGINT"), call),))

    assert chain_of(total(ORDERS)) == chain_of(total(same))
    assert chain_of(total(ORDERS)) != chain_of(total(renamed))  # other columns of the source
