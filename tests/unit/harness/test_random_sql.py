"""The generator of views, the streams of changes, and how a case shrinks: no Spark is needed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.campaigns.random_views import as_text, signature, summary
from tests.harness.lab import canonical
from tests.harness.random_sql import constructs, random_view, random_view_over, sql
from tests.harness.random_sql.changes import applied, from_json, inverse, no_rows, to_json
from tests.harness.random_sql.collations import FIRST, IMAGES, is_collated
from tests.harness.random_sql.expressions import Column, Pen, selective
from tests.harness.random_sql.moves import commuting
from tests.harness.random_sql.nodes import smaller, walk
from tests.harness.random_sql.outputs import TIES
from tests.harness.random_sql.removals import FORGOTTEN, LOST, Removal
from tests.harness.random_sql.rounds import START, entries, is_read
from tests.harness.random_sql.schema import KNOWN, TABLES
from tests.harness.random_sql.shrinking import Case, Shrinker
from tests.harness.random_sql.streams import CASES, QUIET, Stream, stream

WANTED = """
join, left join, right join, full outer join, left semi join, left anti join, cross join,
equi condition, null-safe equality, range condition, arbitrary condition, residual condition,
exists, not exists, in, not in, exists inside or, in inside or, not in inside or,
scalar subquery, correlated scalar subquery, unequal correlation, lateral join, lateral left join,
distinct, intersect, intersect all, except, except all, union, union all,
group by, global aggregate, having, rollup, cube, grouping sets, filter clause,
sum, count, avg, min, max, bool_and, stddev, variance, corr, count distinct, sum distinct,
median, mode, percentile, max_by, collect_list, listagg,
lateral view explode, lateral view outer explode, lateral view posexplode, lateral view inline,
row_number, rank, lag, window frame, partition by, window without partition, window sum,
top-k, offset, top-k with ties, pivot, unpivot, values relation, range relation, common table expression, case,
arithmetic, string function, date function, timestamp function, nested field, higher-order function
"""


def test_a_view_is_one_number() -> None:
    assert sql(random_view(42)) == sql(random_view(42))
    assert len({sql(random_view(seed)) for seed in range(200)}) >= 195


def test_a_view_over_a_view_reads_it_by_name_or_by_text() -> None:
    by_name, by_text = map(sql, random_view_over(15, "v15"))
    assert sql(random_view(15)) in by_text
    assert " v15 AS " in by_name
    assert by_name == by_text.replace(f"({sql(random_view(15))})", "v15")


def test_every_construct_is_written() -> None:
    found = Counter(name for seed in range(1500) for name in constructs(random_view(seed)))
    assert {name.strip() for name in WANTED.split(",")} <= set(found)


def test_collations_are_written_in_campaigns_but_the_first() -> None:
    assert not any(map(is_collated, range(FIRST - 1000, FIRST)))
    seeds = [seed for seed in range(FIRST, FIRST + 3000) if is_collated(seed)]
    assert 0.04 < len(seeds) / 3000 < 0.08
    views = [random_view(seed) for seed in seeds]
    texts = "".join(map(sql, views))
    assert all(f"COLLATE {name}" in texts for name in IMAGES)
    found = Counter(name for view in views for name in {*constructs(view)})
    shapes = {
        "group by",
        "count distinct",
        "top-k",
        "window",
        "full outer join",
        "intersect",
        "not in",
    }
    assert found["collation"] == len(views)
    assert shapes <= {*found}
    by_name, by_text = map(sql, random_view_over(seeds[0], f"v{seeds[0]}"))
    assert sql(views[0]) in by_text
    assert "COLLATE" not in by_name


def test_few_views_hold_what_is_always_computed_anew() -> None:
    held = [constructs(random_view(seed))["window without partition"] > 0 for seed in range(3000)]
    assert 0.005 < sum(held) / len(held) < 0.02


def test_a_condition_compares_a_column_with_what_it_holds() -> None:
    pen = Pen(1)
    assert sql(selective(pen, Column("t.g", "string", "g"))).strip("()").startswith("t.g ")
    wide = [sql(selective(pen, Column("t.at", "timestamp", "at"))) for _ in range(50)]
    assert not [text for text in wide if " IN " in text or "<>" in text]
    known = {field.domain for table in TABLES.values() for field in table.fields} - {""}
    assert known | {"weight"} == set(KNOWN)


@pytest.mark.parametrize("seed", range(20))
def test_what_shrinks_ends(seed: int) -> None:
    view = random_view(seed)
    sizes = [len([*walk(view)])]
    for _ in range(200):
        less = next(smaller(view), None)
        if less is None:
            break
        assert sql(less) != sql(view) or len([*walk(less)]) < sizes[-1]
        view = less
        sizes.append(len([*walk(view)]))
    assert sizes == sorted(sizes, reverse=True)
    assert next(smaller(view), None) is None


@pytest.mark.parametrize("seed", range(15))
def test_a_stream_is_legal_and_its_batches_have_inverses(seed: int) -> None:
    names, batches = stream(seed, 2 * len(CASES))
    assert set(names) == {"initial", *CASES}
    rows = no_rows()
    for batch in batches:
        after = applied(rows, batch)
        back = applied(after, inverse(batch))
        for name, table in TABLES.items():
            assert Counter(map(canonical, back[name])) == Counter(map(canonical, rows[name]))
            keys = [row[0] for row in after[name]]
            assert not table.key or len(set(keys)) == len(keys)
        rows = after


def test_what_of_a_batch_commutes_may_come_before_another() -> None:
    moved = 0
    for seed in range(30):
        base = Stream(seed)
        rows = applied(no_rows(), base.initial())
        (_, first), (_, second) = base.batch(), base.batch()
        ahead, behind = commuting(first, second)
        moved += any(changes for _, changes in ahead)
        swapped = applied(applied(applied(rows, ahead), first), behind)
        for name, table in TABLES.items():
            assert Counter(map(canonical, swapped[name])) == Counter(
                map(canonical, base.rows[name])
            )
            midway = [row[0] for row in applied(rows, ahead)[name]]
            assert not table.key or len(set(midway)) == len(midway)
    assert moved >= 15


def test_most_views_of_a_round_with_moves_are_there_from_its_first_run() -> None:
    seeds = range(100)
    found = entries(9, seeds, 10)
    assert sorted(seed for there in found.values() for seed in there) == [*seeds]
    assert found == entries(9, seeds, 10) != entries(19, seeds, 10)
    assert {*found} <= {START, *range(10)}
    assert 10 <= len(seeds) - len(found[START]) <= 40
    assert entries(9, seeds, 0) == {START: [*seeds]}


def test_most_batches_change_every_source() -> None:
    changed = [
        {source for source, changes in batch if changes} == set(TABLES)
        for seed in range(20)
        for name, batch in zip(*stream(seed, len(CASES)), strict=True)
        if name not in QUIET
    ]
    assert 0.7 < sum(changed) / len(changed) < 0.95


def test_a_stream_is_one_number() -> None:
    assert repr(stream(3, 5)) == repr(stream(3, 5))
    first, second = Stream(1), Stream(2)
    assert repr(first.initial()) != repr(second.initial())


def test_batches_come_back_from_a_fixture() -> None:
    _, batches = stream(4, len(CASES))
    plain = [[(source, [*changes]) for source, changes in batch] for batch in batches]
    assert repr(from_json(to_json(batches))) == repr(plain)


def test_a_case_shrinks_to_what_matters() -> None:
    """A fault that shows where a full join meets a deleted row of `dim`."""

    def runs(case: Case) -> Case:
        deleted = any(
            source == "dim" and kind == "delete" and row[0] == 2
            for batch in case.batches
            for source, changes in batch
            for kind, row in changes
        )
        is_wrong = deleted and "FULL OUTER JOIN" in sql(case.view)
        return replace(case, wrong="different: rows" if is_wrong else "")

    seed = next(s for s in range(500) if constructs(random_view(s))["full outer join"])
    base = Stream(1)
    first = base.initial()
    row = next(row for row in base.rows["dim"] if row[0] == 2)
    case = Case(
        random_view(seed),
        [first, base.batch()[1], [("dim", [("delete", row)])]],
        "different: other",
        "a test",
    )
    assert runs(case).wrong
    small = Shrinker(runs, lambda text: text.count("FROM") > 0, most=2000).shrink(case)
    assert small.kind == "different"
    assert small.origin == "a test"
    assert len(sql(small.view)) < 200
    assert sum(len(changes) for batch in small.batches for _, changes in batch) <= 2


STATES = Removal(FORGOTTEN, ["states/a", "states/b"])


def odd_case() -> Case:
    """A view that comes late, all joins remembered, with a state that goes before its second run."""
    base = Stream(1)
    batches = [base.initial(), *(base.batch()[1] for _ in range(3))]
    removals = {2: Removal(LOST), 3: STATES}
    return Case(random_view(1), batches, "different: x", "a test", True, 2, removals)


def test_a_case_keeps_how_it_was_played() -> None:
    case = odd_case()
    told = json.loads(json.dumps(case.to_dict()))
    back = Case.from_dict(told)
    assert (back.eager, back.added, back.removals) == (True, 2, case.removals)
    assert back.to_dict() == case.to_dict()
    plain = replace(case, eager=False, added=0, removals={}).to_dict()
    assert [*plain] == ["sql", "wrong", "origin", "batches"]


@pytest.mark.parametrize(
    ("needs", "kept"),
    [
        (lambda _: True, (False, 0, {})),
        (lambda case: case.eager, (True, 0, {})),
        (lambda case: case.added, (False, 1, {})),
        (lambda case: case.removals, (False, 0, {0: Removal(FORGOTTEN)})),
        (
            lambda case: any(one.how == LOST for one in case.removals.values()),
            (False, 0, {0: Removal(LOST)}),
        ),
        (
            lambda case: any(one.chains for one in case.removals.values()),
            (False, 0, {0: STATES}),
        ),
    ],
)
def test_a_case_keeps_of_that_only_what_it_needs(needs: Any, kept: Any) -> None:
    def runs(case: Case) -> Case:
        return replace(case, wrong="different: y" if needs(case) else "")

    small = Shrinker(runs, lambda _: True, most=2000).shrink(odd_case())
    assert (small.eager, small.added, small.removals) == kept
    assert len(small.batches) == 1 + small.added


def test_a_failure_that_does_not_recur_is_kept_as_it_was() -> None:
    case = Case(random_view(1), [Stream(1).initial()], "crash KeyError: x", "a test")
    kept = Shrinker(lambda c: replace(c, wrong=""), lambda _: True).shrink(case)
    assert kept is case


def test_the_figures_of_a_campaign() -> None:
    views = [
        {"name": "v1", "methods": "Fiu", "answers": "**=", "reasons": [], "constructs": ["in"]},
        {"name": "v2", "methods": "FFx", "answers": "---", "reasons": ["CLOCK"], "constructs": []},
    ]
    plain = _round(views, ["initial", "plain", "skew"])
    found = summary({"batches": 2, "rounds": [plain]})
    assert found["answers"] == {"not empty": 0.5, "changed": 0.25}
    assert (found["lively views"], found["maintained views"]) == (0.5, 0.5)
    assert found["incremental runs"] == 0.5
    assert found["why full"] == {"CLOCK": 1}
    assert found["failed where batch fails"] == 1


def test_runs_of_moves_and_views_that_always_fail_are_counted_apart() -> None:
    views = [
        {"name": "v1", "methods": "FiuF", "answers": "****", "reasons": ["STATE_MISSING"]},
        {"name": "v2", "methods": "xxx", "answers": "---", "reasons": []},
    ]
    moved = _round([{**view, "constructs": []} for view in views], ["initial", "a", "b", "lost"])
    found = summary({"batches": 2, "rounds": [moved]})
    assert found["maintained views"] == 0.5
    assert (found["why full"], found["why full, with moves"]) == ({}, {"STATE_MISSING": 1})


def _round(views: list[dict], cases: list[str]) -> dict:
    return {"views": [{**v, "wrong": ""} for v in views], "refused": {}, "cases": cases}


def test_the_result_of_a_campaign_is_read_back() -> None:
    views = [
        {"name": "v1", "methods": "Fi", "wrong": ""},
        {"name": "v2", "methods": "", "wrong": "x"},
    ]
    found = {"seed": 1, "summary": {"a": [1]}, "rounds": [{"number": 0, "views": views}] * 2}
    assert json.loads(as_text(found)) == found
    assert json.loads(as_text({"seed": 1, "rounds": []})) == {"seed": 1, "rounds": []}


def test_failures_of_one_cause_look_alike() -> None:
    assert signature("crash E: no x12 in t3") == signature("run 3: crash E: no x77 in t9")
    assert signature("crash E: here") != signature("crash E: there")


def test_nothing_is_written_over_a_view_of_which_several_answers_are_right() -> None:
    fifth = {seed: random_view(seed) for seed in range(0, 1000, 5)}
    tied = {seed for seed, tree in fifth.items() if TIES in constructs(tree)}
    assert tied
    assert {seed for seed, tree in fifth.items() if not is_read(seed, tree)} == tied
    assert not is_read(1, random_view(1))
