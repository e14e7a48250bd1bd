"""Values with parts: every answer has them to the bit, and what differs in a part alone stays apart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.lab import Lab, bag

pytestmark = pytest.mark.spark


def test_nested_values(lab: Lab) -> None:
    ddl = "a ARRAY<INT>, s STRUCT<x: DOUBLE, y: STRING>, m MAP<STRING, INT>"
    one = ([1, None], {"x": -0.0, "y": "p"}, [("k", 1), ("j", None)])
    same = (*one[:2], one[2][::-1])
    two: tuple[Any, ...] = ([], {"x": 0.0, "y": None}, [])
    none = (None, None, None)
    lab.source("t", ddl)
    lab.land_as("t", [("insert", row) for row in (one, one, two, two, none)])
    lab.view("passed", "SELECT * FROM t")
    lab.view("deep", "SELECT array(m) AS maps FROM t")
    lab.view("twins", "SELECT struct(a, a) AS both, struct(s.y, s.y) AS two FROM t")
    lab.view("most", "SELECT max_by(s.x, struct(s.y, s.y)) AS x FROM t GROUP BY a")
    lab.view("fixed", "SELECT array(named_struct('n', 1, 'N', size(a))) AS s FROM t")
    lab.view("best", "SELECT max(named_struct('n', size(a), 'n', 1)) AS s FROM t GROUP BY a")
    lab.view(
        "told",
        "SELECT CAST(named_struct('a', a, 'b', 1)"
        " AS STRUCT<p: ARRAY<INT> COMMENT 'one, <two', q: INT NOT NULL>) AS s FROM t",
    )
    lab.view("plain", "SELECT a, s FROM t")
    lab.view(
        "inner_values",
        "SELECT s.x, a[0] AS first, m['k'] AS k FROM t WHERE a IS NOT NULL AND size(a) > 0",
    )
    lab.view("counted", "SELECT a, count(*) AS n FROM t GROUP BY a")
    lab.step(passed="full")
    lab.land_as("t", [("insert", one), ("delete", two), ("delete", same)])
    maintained = ("passed", "plain", "inner_values", "counted", "twins", "most", "fixed", "told")
    lab.step(**dict.fromkeys((*maintained, "deep"), "incremental"))
    assert lab.bag("deep").total() == 4
    assert lab.bag("plain").total() == 4
    assert lab.bag("passed").total() == 4
    lists, texts = "struct<a:array<int>,a:array<int>>", "struct<y:string,y:string>"
    assert (
        lab.ws.read(lab.spark, "twins").schema.simpleString() == f"struct<both:{lists},two:{texts}>"
    )
    assert lab.bag("fixed").total() == lab.bag("told").total() == 4
    assert lab.read("best")
    assert lab.changes("fixed", 1).total() == -1


def test_maps_inside_of_other_values_are_told_apart_by_keys_of_any_type(lab: Lab) -> None:
    """JSON has no keys but texts; bytes would be told by their place in memory."""
    made = "array(map(b, n), map(X'00', 0))", "struct(map(struct(b), map(b, n)) AS m)"
    lab.source("t", "b BINARY, n INT", (b"\xff", 1), (b"\xfe", 1), (b"\xff", 1), (b"\xff", None))
    for name, value in zip(("lists", "structs"), made, strict=True):
        lab.view(name, f"SELECT {value} AS m, struct(b, n AS b) AS twins FROM t")  # noqa: S608
    lab.view("taken", "SELECT m[0][X'FF'] AS n FROM lists")
    lab.step()
    names = ("lists", "structs", "taken")
    lab.land("t", delete=[(b"\xff", 1)], insert=[(b"\xfe", None)])
    lab.step(**dict.fromkeys(names, "incremental"))
    assert lab.bag("lists").total() == lab.bag("structs").total() == 4
    lab.land("t", delete=[(b"\xff", None), (b"\xff", 1), (b"\xfe", 1), (b"\xfe", None)])
    lab.step(**dict.fromkeys(names, "incremental"))
    assert lab.bag("lists").total() == lab.bag("structs").total() == 0


def test_rows_with_maps_inside_of_other_values_go_again(lab: Lab) -> None:
    rows = [([[(b"k", 1), (b"j", None)]], n) for n in range(3)]
    lab.source("t", "m ARRAY<MAP<BINARY, INT>>, n INT")
    lab.land_as("t", [("insert", row) for row in rows])
    lab.view("passed", "SELECT m FROM t")
    lab.step()
    turned = [([maps[0][::-1]], n) for maps, n in rows]
    lab.land_as("t", [("delete", row) for row in turned[:2]])
    lab.step(passed="incremental")
    assert lab.bag("passed").total() == 1


def test_variants_are_not_kept_for_an_operator(lab: Lab) -> None:
    """Their JSON is that of other ones: 1.1 as FLOAT and as DOUBLE."""
    lab.source("t", "k INT, f FLOAT, d DOUBLE", (1, 1.1, 1.1))
    text = (
        "SELECT k, aggregate(collect_list(v), 0D, (a, x) -> a + CAST(x AS DOUBLE)) AS total"
        " FROM (SELECT k, array(CAST(f AS VARIANT), CAST(d AS VARIANT)) AS vs FROM t)"
        " LATERAL VIEW explode(vs) vs_of AS v GROUP BY k"
    )
    lab.view("totals", text, policy="auto")
    lab.step()
    lab.land("t", insert=[(1, 2.0, 2.0), (2, 0.1, 0.1)])
    report = lab.step(totals="full")
    assert report.views["totals"].reasons == ("UNGROUPABLE_TYPE(ARRAY<VARIANT>)",)


def test_variants_are_not_put_together_where_rows_are_looked_for(lab: Lab) -> None:
    lab.source("a", "id INT, k INT, x DOUBLE", (1, 1, 1.1))
    lab.source("u", "k INT, is_f BOOLEAN, f FLOAT, d DOUBLE", (1, False, 1.1, 1.1))
    values = "(SELECT k, IF(is_f, CAST(f AS VARIANT), CAST(d AS VARIANT)) AS v FROM u)"
    larger = f"SELECT 1 FROM {values} b WHERE CAST(b.v AS DOUBLE) > a.x"  # noqa: S608
    lab.view("some", f"SELECT id FROM a WHERE EXISTS ({larger})", policy="auto")  # noqa: S608
    none = f"SELECT id FROM a WHERE NOT EXISTS ({larger} AND b.k = a.k)"  # noqa: S608
    lab.view("none", none, policy="auto")
    lab.step()
    lab.land("u", delete=[(1, False, 1.1, 1.1)], insert=[(1, True, 1.1, 1.1)])
    report = lab.step(some="full", none="full")
    assert report.views["some"].reasons == ("UNGROUPABLE_TYPE(VARIANT)",)
    assert (lab.bag("some"), lab.bag("none")) == (bag([(1,)]), bag([]))
    lab.land("u", insert=[(1, False, 1.1, 1.1)])
    lab.step()


def test_texts_that_are_no_text_inside_of_other_values(lab: Lab) -> None:
    """JSON has one sign for all bytes that are none of UTF-8."""
    lab.source("t", "k INT, b BINARY", (1, b"\xff"), (1, b"\xfe"), (1, b"\xff"), (2, b"a"))
    lab.view("maps", "SELECT map('x', CAST(b AS STRING)) AS m FROM t")
    lab.view("structs", "SELECT struct(CAST(b AS STRING) AS s, 1.0D AS d) AS m FROM t")
    lists = "SELECT array(struct(CAST(b AS STRING) AS s, 1.0D AS d), NULL) AS m FROM t"
    lab.view("lists", lists)
    values = {"maps": "m['x']", "structs": "m.s", "lists": "m[0].s"}
    changes: list[dict[str, Any]] = [
        {},
        {"insert": [(3, b"\xfe"), (3, b"\xff")]},
        {"delete": [(1, b"\xfe")]},
        {"insert": [(4, b"\xfd")], "delete": [(3, b"\xfe")]},
    ]
    for change in changes:
        if change:
            lab.land("t", **change)
        lab.refresh()
        for view, value in values.items():
            rows = lab.ws.read(lab.spark, view).selectExpr(f"hex(CAST({value} AS BINARY)) AS h")
            wanted = sorted(b.hex().upper() for _, b in lab.rows["t"])
            assert sorted(row.h for row in rows.collect()) == wanted, view


def test_branches_of_a_union_may_name_fields_otherwise(lab: Lab) -> None:
    """Spark goes by the place of a field, and by its name where it reads what a run has stored."""
    lab.source("t", "x INT, y INT", (1, 2), (3, 4))
    lab.source("u", "x INT, y INT", (5, 6), (7, 8))
    branches = {
        "swapped": ("struct(x AS lo, y AS hi)", "struct(x AS hi, y AS lo)"),
        "others": ("struct(x AS a, y AS b)", "struct(x AS c, y AS d)"),
        "deep": ("array(struct(x AS lo, y AS hi))", "array(struct(x AS hi, y AS lo))"),
        "mapped": ("map(x, struct(y AS a))", "map(x, struct(y AS b))"),
    }
    told = {
        name: f"SELECT {one} AS r FROM t UNION ALL SELECT {two} FROM u"  # noqa: S608
        for name, (one, two) in branches.items()
    }
    told["once"] = told["swapped"].replace("UNION ALL", "UNION")
    told["counted"] = f"SELECT r, count(*) AS n FROM ({told['swapped']}) GROUP BY r"  # noqa: S608
    for name, text in told.items():
        lab.view(name, text)
    lab.refresh()
    lab.land("u", insert=[(1, 2), (9, 8), (9, 8)])
    report = lab.refresh()
    assert {view.method for view in report.views.values()} == {"incremental"}
    assert lab.ws.verify(lab.spark).equal
    lab.land("t", insert=[(9, 8)], delete=[(3, 4)])
    lab.land("u", delete=[(9, 8)], update=[((5, 6), (6, 5))])
    lab.refresh()
    assert lab.ws.verify(lab.spark).equal


def test_a_field_is_read_by_its_place(lab: Lab) -> None:
    """Catalyst pushes it into each branch of a union, with the name that it has in the first."""
    lab.source("t", "r STRUCT<lo: INT, hi: INT>, many ARRAY<STRUCT<lo: INT, hi: INT>>")
    lab.source("u", "r STRUCT<hi: INT, lo: INT>, many ARRAY<STRUCT<hi: INT, lo: INT>>")
    both = "(SELECT * FROM t UNION ALL SELECT * FROM u)"
    lab.view("fields", f"SELECT r.lo FROM {both}")  # noqa: S608
    lab.view("sums", f"SELECT sum(r.lo) AS lo, sum(size(many.hi)) AS n FROM {both}")  # noqa: S608
    lab.view("lists", f"SELECT many.lo AS lo FROM {both} WHERE r.hi > 0")  # noqa: S608
    one, other = {"lo": 1, "hi": 2}, {"hi": 1, "lo": 2}
    lab.land("t", insert=[(one, [one, one])])
    lab.land("u", insert=[(other, [other])])
    lab.refresh()
    assert lab.ws.verify(lab.spark).equal
    lab.land("u", insert=[({"hi": 5, "lo": 7}, [other, {"hi": 3, "lo": 4}])])
    report = lab.refresh()
    assert {view.method for view in report.views.values()} == {"incremental"}
    assert lab.ws.verify(lab.spark).equal
    assert sorted(lab.read("fields")) == [(1,), (1,), (5,)]
