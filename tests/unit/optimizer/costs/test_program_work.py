"""The work of programs: never negative, no less for more changes, and by the way it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import conjunction
from slacktide.algebra.scalar import Call, Column, Literal, Scalar, reference
from slacktide.algebra.widths import width
from slacktide.common.ranges import LARGE_ROWS
from slacktide.optimizer.costs import DEFAULTS, Vector, program_work
from slacktide.optimizer.costs.operators import query_work
from slacktide.optimizer.costs.program import ProgramWork, operator_works, work_by_node
from slacktide.optimizer.costs.vector import KINDS
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import batch, maintain, rebuild
from slacktide.optimizer.statistics import (
    Cardinality,
    ChangeFacts,
    ColumnFacts,
    Figure,
    Sizes,
    SourceFacts,
    Statistics,
)
from slacktide.program import operator as o
from slacktide.program.lightness import MOST_READ
from slacktide.program.materialising import SENT, SHARE
from tests.unit.optimizer.views import FILTERED, JOINED, PARTITIONED, SUMMED, TOP, UNITED, equal

SHAPES = (FILTERED, JOINED, UNITED, SUMMED, TOP, PARTITIONED)
BIG = {"orders": 1_500_000.0, "lines": 6_000_000.0}
BOTH = frozenset(BIG)


def known(share: float, reach: float = 0.5) -> Statistics:
    return Statistics(
        {
            name: SourceFacts(
                rows=Figure(rows, "observed"),
                bytes=50 * rows,
                changes=(ChangeFacts(Figure(share * rows, "observed"), 50 * share * rows),),
                reach=Figure(reach),
            )
            for name, rows in BIG.items()
        }
    )


def sure(reach: float) -> Statistics:
    """As `known` of few changes, which have told how far they reach."""
    found = known(0.01).sources
    return Statistics(
        {name: replace(one, reach=Figure(reach, "observed")) for name, one in found.items()}
    )


def programs(rel: r.Rel) -> dict[str, o.Program]:
    analysis = Maintainability(rel)
    return {
        "incremental": maintain("v", analysis, BOTH).program,
        "rebuild": rebuild("v", analysis),
        "text": batch("v", rel.columns),
    }


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
@given(shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_more_changes_are_no_less_work_of_any_kind(rel: r.Rel, shares: tuple[float, float]) -> None:
    for program in programs(rel).values():
        few, many = sorted(shares)
        heavy = [program_work(program, known(at), rel, knows_light=False) for at in (few, many)]
        assert_no_less(*heavy)
        less, more = (work_by_node(program, known(share), rel) for share in (few, many))
        assert all(getattr(less.total, kind) >= 0 for kind in KINDS)
        # What a light step takes in tasks it spares outside of them.
        if light_steps(less) == light_steps(more):
            assert_no_less(less.total, more.total)


def light_steps(work: ProgramWork) -> list[bool]:
    return [write.jobs == write.plans for write in work.writes]


def assert_no_less(less: Vector, more: Vector) -> None:
    for kind in KINDS:
        assert 0 <= getattr(less, kind) <= getattr(more, kind) * (1 + 1e-9) + 1e-6, kind
    assert DEFAULTS.in_tasks(less) <= DEFAULTS.in_tasks(more) * (1 + 1e-9)


def test_few_rows_are_interpreted_in_one_job() -> None:
    program = programs(JOINED)["incremental"]
    few, many, guessed = (
        program_work(program, statistics, JOINED)
        for statistics in (sure(0.01), sure(1.0), known(0.01, 0.01))
    )
    assert guessed.rows_read == few.rows_read
    assert guessed.rows_interpreted == 0, "the run counts all that there is where nobody knows"
    assert few.rows_interpreted == few.rows_read <= MOST_READ < many.rows_read
    assert many.rows_interpreted == 0
    assert few.jobs == few.stages == few.plans < many.jobs


def test_a_new_answer_is_compared_with_the_former_one_in_a_job_of_its_own() -> None:
    snapshot = o.ReadSnapshot("orders", JOINED.left.columns, "after")
    orders = SourceFacts(Figure(1000.0, "observed"))
    program = o.Program((o.Publish("v", o.Consolidate(snapshot), is_base=True),))
    found = program_work(program, Statistics({"orders": orders}))
    assert found.jobs == found.stages == found.plans == 2
    assert found.rows_interpreted == found.rows_read == 3000


def test_rows_enter_a_grouping_and_groups_enter_it_again() -> None:
    assert isinstance(SUMMED, r.Aggregate)
    estimates = Cardinality(known(0.01))
    rows, groups = (estimates.of(rel).rows.value for rel in (SUMMED.child, SUMMED))
    assert query_work(SUMMED, estimates, known(0.01)).rows_grouped == rows + groups


def test_all_rows_of_a_window_move_and_enter_it_once() -> None:
    found = query_work(PARTITIONED, Cardinality(known(0.01)), known(0.01))
    assert found.rows_grouped == found.rows_shuffled == 1_500_000


def test_of_a_table_that_a_change_bounds_that_part_is_moved() -> None:
    program = programs(JOINED)["incremental"]
    orders = SourceFacts(Figure(15e6, "observed"), changes=(ChangeFacts(Figure(0.0)),))
    near, half, far = (
        program_work(
            program,
            Statistics({**known(0.2).sources, "orders": replace(orders, reach=Figure(reach))}),
            JOINED,
        )
        for reach in (0.25, 0.5, 1.0)
    )
    first, second = half.minus(near).bytes_shuffled, far.minus(half).bytes_shuffled
    assert 0 < 2 * first == pytest.approx(second)


@pytest.mark.parametrize("rel", SHAPES, ids=lambda rel: rel.tag)
def test_states_are_built_on_top_of_what_the_text_does(rel: r.Rel) -> None:
    found = {way: program_work(p, known(0.01), rel) for way, p in programs(rel).items()}
    whole = {"union": 3_000_000.0}.get(rel.tag, 1_500_000.0)
    assert found["text"].rows_read >= whole
    assert DEFAULTS.in_tasks(found["rebuild"]) >= 0.99 * DEFAULTS.in_tasks(found["text"])
    assert found["rebuild"].plans >= found["text"].plans


def test_a_filter_reads_the_changes_alone() -> None:
    work = program_work(programs(FILTERED)["incremental"], known(0.01), FILTERED)
    assert work.rows_read == pytest.approx(15_000)


def test_keys_that_lie_together_reach_less() -> None:
    program = programs(JOINED)["incremental"]
    near, far = (program_work(program, known(0.01, reach), JOINED) for reach in (0.01, 1.0))
    assert far.rows_read == pytest.approx(7_575_000)
    assert near.rows_read == pytest.approx(150_000)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_where_keys_lie_says_how_much_they_reach(share: float) -> None:
    """The key of one side tells how much is read of the other, whatever was thought of either."""
    program = programs(JOINED)["incremental"]
    told = known(0.01)
    of_orders = replace(told.sources["orders"].changes[0], covered={"c1": Figure(share)})
    orders = replace(told.sources["orders"], changes=(of_orders,))
    changed = 15_000 + 60_000
    plain = program_work(program, told, JOINED).rows_read
    found = program_work(program, Statistics({**told.sources, "orders": orders}), JOINED).rows_read
    assert plain == pytest.approx(changed + 0.5 * 7_500_000)
    page = LARGE_ROWS  # is read at least; and it is asked where the changed orders lie
    lines = min(max(share * 6_000_000, page) + 15_000, 6_000_000)
    assert found == pytest.approx(changed + lines + 0.5 * 1_500_000)


def lines_read(
    change: o.Operator,
    order: str = "c11",
    covered: float | None = 0.9,
    *,
    rows: float = 15_000.0,
    columns: Mapping[str, ColumnFacts] = MappingProxyType({}),
    condition: Scalar | None = JOINED.condition,
) -> float:
    """The lines that are read for what is left of so many changed orders, which lie anywhere."""
    told = known(0.01)
    spans = {} if covered is None else {"c1": Figure(covered)}
    of_orders = ChangeFacts(Figure(rows, "observed"), covered=spans)
    orders = replace(told.sources["orders"], changes=(of_orders,), columns=columns)
    lying = replace(told.sources["lines"], sorted_by=order)
    lines = o.ReadSnapshot("lines", JOINED.right.columns, "after")
    joined = o.JoinBags(change, lines, condition)
    program = o.Program((o.Publish("v", joined, is_base=False),))
    sizes = Sizes(program, Statistics({"orders": orders, "lines": lying}))
    return operator_works(joined, sizes)[lines].rows_read


CHANGED = o.ReadChanges("orders", JOINED.left.columns)


def of_keys(count: int) -> o.Operator:
    """The changed orders of so many of 1.5 million keys."""
    key = reference(JOINED.left.columns[0])
    listed = (Literal(str(value), "INT", False) for value in range(count))
    return o.Select(CHANGED, Call("in", (key, *listed), "BOOLEAN", False))


def test_few_keys_that_a_filter_leaves_reach_little() -> None:
    """Of 15,000 keys that lie anywhere all lines are read, of a hundred two thirds, and of hardly one a page, if anything."""
    assert lines_read(CHANGED) == pytest.approx(0.9 * 6_000_000 + 15_000)
    hundred = lines_read(of_keys(10_000))
    assert 0.5 * 6_000_000 < hundred < 0.7 * 6_000_000
    assert lines_read(of_keys(1)) == pytest.approx(0.01 * LARGE_ROWS + 15_000, rel=0.01)
    assert lines_read(of_keys(10_000), covered=0.01) < 0.02 * hundred, "they lie together"


def test_a_key_by_which_a_table_does_not_lie_spares_nothing() -> None:
    assert lines_read(CHANGED, order="c12") == 6_000_000
    assert lines_read(of_keys(1), order="c12") == pytest.approx(0.01 * 6_000_000 + 15_000, rel=0.01)
    assert lines_read(CHANGED, order="") == lines_read(CHANGED)


def test_a_second_key_tells_nothing_where_nobody_knows_how_the_first_one_lies() -> None:
    both = conjunction([equal(1, 11), equal(2, 13)])
    assert lines_read(CHANGED, covered=None, condition=both) == lines_read(CHANGED, covered=None)
    assert lines_read(CHANGED, condition=both) == lines_read(CHANGED)


@pytest.mark.parametrize("rows", [12.0, 13.0, 24.0, 40.0])
def test_few_changes_are_thinned_as_are_a_few_more(rows: float) -> None:
    """A third of them is left: of twelve it is not known how close together they lie."""
    found = lines_read(of_keys(500_000), covered=0.6, rows=rows)
    assert 0.2 * 0.6 * 6_000_000 < found < 0.4 * 0.6 * 6_000_000


def test_of_few_values_each_reaches_its_part() -> None:
    """Ten rows that are left have eight of twenty tenants, whose rows are read."""
    columns = {
        "c1": ColumnFacts(Figure(20.0, "observed")),
        "c2": ColumnFacts(Figure(1e3, "observed")),
    }
    one = Call(
        "=", (reference(JOINED.left.columns[1]), Literal("7", "INT", False)), "BOOLEAN", True
    )
    ten = lines_read(o.Select(CHANGED, one), covered=1.0, rows=10_000.0, columns=columns)
    assert ten == pytest.approx(0.39 * 6_000_000, rel=0.05)


def test_the_operators_of_a_step_add_up_to_it() -> None:
    program = programs(SUMMED)["rebuild"]
    sizes = Sizes(program, known(0.01))
    parts = [
        sum(w.rows_read for w in operator_works(s.child, sizes).values()) for s in program.steps
    ]
    assert parts[0] == 7_500_000
    assert sum(parts) <= program_work(program, known(0.01)).rows_read


def evaluated(bag: o.Operator) -> o.Operator:
    query = r.Limit(r.Scan("input0", bag.columns), 10)
    return o.Evaluate(query, (o.Input("input0", bag),))


def met(bag: o.Operator) -> o.Operator:
    return o.SemiBags(ORDERS_READ, bag, JOINED.condition, negated=True)


ORDERS_READ = o.ReadSnapshot("orders", JOINED.left.columns, "after")


@pytest.mark.parametrize("reader", [evaluated, met])
def test_a_bag_is_grouped_where_rows_are_asked_for(
    reader: Callable[[o.Operator], o.Operator],
) -> None:
    """Rows of a snapshot are rows; what is stored and what has changed must be counted out."""
    columns = JOINED.right.columns
    rows = o.ReadSnapshot("lines", columns, "after")
    bag = o.Add((rows, o.ReadBag("states/lines", columns)), columns)
    plain, counted = (
        program_work(o.Program((o.Publish("v", reader(of), is_base=True),)), known(0.01))
        for of in (rows, bag)
    )
    assert counted.stages == plain.stages + 1
    assert counted.rows_grouped >= plain.rows_grouped + 6_000_000


def test_what_is_grouped_below_a_bound_is_what_is_read_of_it() -> None:
    change = o.ReadChanges("orders", JOINED.left.columns)
    lines = o.Consolidate(o.ReadSnapshot("lines", JOINED.right.columns, "after"))
    program = o.Program(
        (o.Publish("v", o.JoinBags(change, lines, JOINED.condition), is_base=False),)
    )
    near, far = (program_work(program, known(0.2, reach)) for reach in (0.25, 1.0))
    assert far.rows_grouped == pytest.approx(4 * near.rows_grouped)


def test_a_table_no_larger_than_the_change_is_read_whole() -> None:
    program = programs(JOINED)["incremental"]
    told = known(0.6)
    near = replace(told.sources["orders"].changes[0], covered={"c1": Figure(0.1)})
    orders = replace(told.sources["orders"], changes=(near,))
    found = program_work(program, Statistics({**told.sources, "orders": orders}), JOINED).rows_read
    lines = 0.1 * 6_000_000 + 900_000  # 3.6 million changed lines are too many to ask for orders
    assert found == pytest.approx(900_000 + 3_600_000 + lines + 1_500_000)


def test_what_is_read_twice_is_paid_twice() -> None:
    read = o.ReadSnapshot("lines", JOINED.right.columns, "after")
    both = o.Add((read, o.Negate(read)), read.columns)
    sizes = Sizes(o.Program((o.Publish("v", both, is_base=False),)), known(0.01))
    assert operator_works(both, sizes)[read].rows_read == 12_000_000


@given(st.lists(st.floats(0, 1e9), min_size=len(KINDS), max_size=len(KINDS)))
def test_a_vector_reads_back_in_whole_numbers(amounts: list[float]) -> None:
    work = Vector(*amounts)
    stored = Vector.of_report(work.to_dict())
    assert all(abs(getattr(stored, k) - getattr(work, k)) <= 0.5 for k in KINDS)


def test_a_report_says_what_was_measured() -> None:
    found = Vector.of_report({"rows_read": 5, "jobs": 3, "writes": 2, "files_read": 4})
    assert found == replace(Vector(), rows_read=5.0, files=4.0, jobs=3.0, plans=2.0)


X, Y, Z = (Column(n, name, "BIGINT", nullable=True) for n, name in enumerate("xyz", 1))


def met_by(changed: float) -> Vector:
    """The work of a change of a table, with as many orders, that meets all lines."""
    own = SourceFacts(
        rows=Figure(1_500_000.0, "observed"),
        changes=(ChangeFacts(Figure(changed, "observed"), 50 * changed),),
        reach=Figure(1.0),
        columns={"x": ColumnFacts(Figure(1_500_000.0, "observed"))},
    )
    orders = replace(own, columns={"y": ColumnFacts(Figure(1_500_000.0, "observed"))})
    lines = replace(own, rows=Figure(6_000_000.0, "observed"))
    equal = [
        Call("=", (reference(left), reference(right)), "BOOLEAN", nullable=True)
        for left, right in ((X, Y), (Y, Z))
    ]
    met = o.JoinBags(o.ReadChanges("own", (X,)), o.ReadSnapshot("orders", (Y,), "after"), equal[0])
    joined = o.JoinBags(met, o.ReadSnapshot("lines", (Z,), "after"), equal[1])
    program = o.Program((o.Publish("v", joined, is_base=False),))
    facts = {"own": own, "orders": orders, "lines": lines}
    return program_work(program, Statistics(facts))


def test_what_a_change_has_met_is_sent_to_a_large_table_as_far_as_the_run_sends_it() -> None:
    most = SENT / width((X, Y))
    few, many = met_by(0.9 * most), met_by(1.1 * most)
    assert few.rows_shuffled < 6_000_000 <= many.rows_shuffled
    assert few.jobs == many.jobs, "it is worked out before, and counted, in any case"
    assert met_by(1.1 * SHARE * 6_000_000).plans < few.plans
