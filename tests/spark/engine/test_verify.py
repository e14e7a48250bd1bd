"""`verify` finds what is wrong, and nothing else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.errors import UnknownObjectError
from tests.harness.lab import Lab, as_if_written

pytestmark = pytest.mark.spark


def rewrite(lab: Lab, view: str, change) -> None:
    """Change the rows of the newest file of an answer by hand."""
    rewrite_chain(lab, f"views/{view}", change)


def rewrite_chain(lab: Lab, chain: str, change) -> None:
    world = lab.ws._store.world()
    base = world.chains[chain].base
    assert base is not None
    path = Path(lab.ws.root) / base.files[0].path
    table = pq.read_table(path, partitioning=None)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    as_if_written(lab.ws._store, chain, path)


def test_a_corrupted_row_is_found_and_named(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1), ("b", 2), ("b", 2), (None, 3))
    lab.view("copied", "SELECT k, v FROM t")
    lab.view("sums", "SELECT k, sum(v) AS s FROM t GROUP BY k")
    lab.step()
    rewrite(lab, "copied", lambda rows: next(r for r in rows if r["c0"] == "b").update(c1=20))
    found = lab.ws.verify(lab.spark)
    assert not found.equal
    assert found.views["sums"].equal
    wrong = found.views["copied"]
    assert (wrong.equal, wrong.missing, wrong.extra, wrong.schema) == (False, 1, 1, "")
    sample = {(row["k"], row["v"], row["__m"]) for row in wrong.sample}
    assert sample == {("b", 20, 1), ("b", 2, -1)}


def test_a_row_less_and_a_row_more(lab: Lab) -> None:
    lab.source("t", "k STRING, x DOUBLE", ("a", 0.0), ("b", 2.0), ("c", 3.0))
    lab.view("copied", "SELECT k, x FROM t")
    lab.step()
    rewrite(lab, "copied", lambda rows: rows.append({"c0": "b", "c1": 2.0, "__m": 2}))
    found = lab.ws.verify(lab.spark).views["copied"]
    assert (found.missing, found.extra) == (0, 2)
    rewrite(lab, "copied", lambda rows: rows.__delitem__(slice(1, None)))
    found = lab.ws.verify(lab.spark).views["copied"]
    assert (found.missing, found.extra) == (2, 0)


def test_the_sign_of_zero_is_a_difference(lab: Lab) -> None:
    lab.source("t", "k STRING, x DOUBLE", ("a", 0.0), ("b", 2.0))
    lab.view("copied", "SELECT k, x FROM t")
    lab.step()
    rewrite(lab, "copied", lambda rows: next(r for r in rows if r["c0"] == "a").update(c1=-0.0))
    found = lab.ws.verify(lab.spark).views["copied"]
    assert (found.missing, found.extra) == (1, 1)


def test_an_answer_of_an_instant_that_is_not_kept_is_not_called_wrong(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", ("a", 1))
    lab.view("aged", "SELECT k, current_timestamp() AS at FROM t", policy="auto")
    lab.view("copied", "SELECT k, v FROM t")
    lab.step()
    (plan,) = lab.files("plans")
    plan.unlink()
    found = lab.ws.verify(lab.spark)
    assert found.equal
    assert not found.views["copied"].incomparable
    assert found.views["aged"].incomparable == (
        "the text asks for the time, and the instant of run 1 is not kept"
    )


TIES = [("a", 5), ("b", 5), ("c", 5), ("d", 9), ("e", 1), ("f", 5)]
LIMITS = {
    "ordered": "SELECT k, v FROM t ORDER BY v DESC LIMIT 3",
    "projected": "SELECT upper(k) AS k FROM t ORDER BY v DESC LIMIT 3",
    "shifted": "SELECT k, v FROM t ORDER BY v DESC LIMIT 2 OFFSET 2",
    "unordered": "SELECT k, v FROM t LIMIT 3",
    "grouped": "SELECT v, min(k) AS k FROM t GROUP BY v LIMIT 2",
}
A, B, C, D, E, F = TIES
# View, an answer, and whether the query allows it.
ANSWERS = [
    ("ordered", [D, A, B], True),
    ("ordered", [D, F, C], True),
    ("ordered", [D, C, C], False),
    ("ordered", [D, D, C], False),
    ("ordered", [D, C, E], False),
    ("ordered", [A, B, C], False),
    ("ordered", [D, A], False),
    ("ordered", [D, A, ("x", 5)], False),
    ("projected", [("D",), ("F",), ("C",)], True),
    ("projected", [("D",), ("E",), ("C",)], False),
    ("projected", [("F",), ("A",), ("C",)], False),
    ("shifted", [F, A], True),
    ("shifted", [F, D], False),
    ("unordered", [E, F, C], True),
    ("unordered", [E, F, F], False),
    ("grouped", [(9, "d"), (1, "e")], True),
    ("grouped", [(5, "b"), (1, "e")], False),
]


def test_any_legal_choice_among_ties_is_equal(lab: Lab) -> None:
    lab.source("t", "k STRING, v INT", *TIES)
    for name, sql in LIMITS.items():
        lab.view(name, sql, policy="auto")
    lab.step()
    for view, answer, is_legal in ANSWERS:
        rewrite(lab, view, lambda rows, answer=answer: replace(rows, answer))
        found = lab.ws.verify(lab.spark, [view]).views[view]
        assert found.equal is is_legal, (view, answer, found)
        assert bool(found.missing) is not is_legal


def replace(rows: list[dict], answer: list[tuple]) -> None:
    hidden = {key: value for key, value in rows[0].items() if key.startswith("c")}
    rows[:] = [
        {**hidden, **{f"c{place}": value for place, value in enumerate(row)}, "__m": 1}
        for row in answer
    ]


def test_a_wrong_copy_of_a_source_shows_beside_plain_rows(lab: Lab, tmp_path: Path) -> None:
    """An answer that is made of the copy agrees with a batch run over the copy."""
    text = "SELECT l.k, l.x + r.x AS s FROM t l JOIN t r ON l.k = r.k"
    lab.source("t", "k STRING, x DOUBLE", ("a", 0.1), ("a", 0.2), ("a", 0.3), ("b", 2.0))
    lab.view("first", text)
    lab.step()
    plain, answer = tmp_path / "plain", tmp_path / "answer"
    rows = lab.spark.createDataFrame(lab.rows["t"], "k STRING, x DOUBLE")
    rows.coalesce(1).write.parquet(str(plain))
    lab.spark.sql(text.replace(" t ", f" parquet.`{plain}` ")).write.parquet(str(answer))
    rewrite_chain(lab, "sources/t", lambda rows: rows[0].update(c1=7.0))
    lab.view("second", text)
    lab.refresh()
    assert lab.ws.verify(lab.spark, ["second"]).equal
    answers = {"first": str(answer), "second": str(answer)}
    for found in (
        lab.ws.verify(lab.spark, sources={"t": str(plain)}).views,
        lab.ws.verify(lab.spark, answers=answers).views,
    ):
        assert {name: view.equal for name, view in found.items()} == {
            "first": True,
            "second": False,
        }
        assert (found["second"].missing, found["second"].extra) == (5, 5)


def test_a_name_that_nothing_has_is_no_comparison(lab: Lab) -> None:
    lab.source("t", "k INT", (1,))
    lab.view("v", "SELECT k FROM t")
    lab.step()
    with pytest.raises(UnknownObjectError, match="there is no source 'T'"):
        lab.ws.verify(lab.spark, sources={"T": "anywhere"})
    with pytest.raises(UnknownObjectError, match="there is no view 'w'"):
        lab.ws.verify(lab.spark, answers={"w": "anywhere"})


def test_doubles_inside_of_structs_may_differ_in_their_last_digits(lab: Lab) -> None:
    draw = Random(7)  # noqa: S311 - not a secret
    rows = [(n % 3, draw.uniform(-1e12, 1e12)) for n in range(300)]
    lab.source("t", "k INT, f DOUBLE", *rows)
    lab.view(
        "v",
        "SELECT k, struct(sum(f) AS s, avg(f) AS a) AS x, array(stddev(f)) AS d FROM t GROUP BY k",
    )
    lab.step()
    for _ in range(3):
        gone = draw.sample(lab.rows["t"], 20)
        lab.land("t", insert=[(n % 3, draw.uniform(-1e12, 1e12)) for n in range(40)])
        lab.land("t", delete=gone)
        lab.step(v="incremental")


def test_what_cancels_to_nothing_may_differ_by_the_size_of_what_cancelled(lab: Lab) -> None:
    """Also of regressions, and where Spark works several DISTINCT aggregates out apart from the others."""
    draw = Random(11)  # noqa: S311 - not a secret
    heights = [(n % 3, draw.uniform(-1e9, 1e9), draw.randint(1, 9)) for n in range(90)]
    # To each point its mirror: the slope is nothing, and so is the sum of what is signed by its side.
    rows = [(k, side * x, y, side * y) for k, y, x in heights for side in (-1, 1)]
    lab.source("t", "k INT, x INT, y DOUBLE, s DOUBLE", *rows)
    lab.view("slopes", "SELECT k, regr_slope(y, x) AS s, regr_sxy(y, x) AS p FROM t GROUP BY k")
    lab.view(
        "apart",
        "SELECT k, sum(s) AS s, count(DISTINCT x) AS n, count(DISTINCT y) AS m FROM t GROUP BY k",
    )
    lab.step()
    for first in range(0, 60, 20):
        lab.land("t", delete=rows[first : first + 20])
        lab.step()


def test_a_base_with_fewer_copies_than_none_is_an_error_to_its_readers(lab: Lab) -> None:
    """None is left out in silence: what is taken away stands beside a row that would stay."""
    lab.source("t", "k STRING, v INT", ("a", 1), ("b", 2))
    lab.view("copied", "SELECT k, v FROM t")
    lab.step()
    rewrite(lab, "copied", lambda rows: rows[0].update(__m=-1))
    with pytest.raises(Exception, match="views/copied has fewer copies of a row"):
        lab.ws.read(lab.spark, "copied").collect()


def test_an_answer_that_is_older_than_the_mirror_is_told_apart(lab: Lab) -> None:
    """The files before the mirror were no longer needed, as `status` said; the other views are compared."""
    for name in ("t", "u"):
        lab.source(name, "k INT, v INT", *((i, i) for i in range(200)))
    lab.view("old", "SELECT k, v FROM t")
    lab.view("met", "SELECT t.k, u.v FROM t JOIN u ON t.k = u.k")
    lab.step()
    assert lab.ws.status().sources["t"]["removable"] == 1
    assert [(one["version"], one["needed"]) for one in lab.ws.arrivals("t")] == [(1, False)]
    lab.ws.pause_view("old")
    for start in (1_000, 2_000):
        lab.land("t", insert=[(start + i, i) for i in range(100)])
        lab.refresh()
    (*_, first) = sorted(lab.folder("t").iterdir(), reverse=True)
    first.unlink()
    found = lab.ws.verify(lab.spark)
    assert found.views["met"].equal
    assert found.views["old"].error is not None
    assert "refresh it, then verify again" in found.views["old"].error["hint"]
