"""Every kind of node: read, rebuilt, and equal in rows, names and types."""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.tree import relations
from tests.spark.reader.conftest import Check

pytestmark = pytest.mark.spark

QUERIES = {
    "filter": "SELECT k, v FROM p WHERE v > 1 AND s IN ('a', 'b')",
    "the same column twice": "SELECT k, k, k + 1 AS k FROM p",
    "no column": "SELECT count(*) AS n FROM (SELECT 1 FROM p)",
    "distinct": "SELECT DISTINCT s FROM p",
    "inner join": "SELECT p.k, s, w FROM p JOIN q ON p.k = q.k",
    "self join": "SELECT a.k, b.v FROM p a JOIN p b ON a.k = b.k AND a.s <> b.s",
    "left join": "SELECT p.k, w FROM p LEFT JOIN q ON p.k = q.k AND w > 5",
    "right join": "SELECT p.k, w FROM p RIGHT JOIN q ON p.k = q.k",
    "full join": "SELECT p.k AS a, q.k AS b FROM p FULL JOIN q ON p.k = q.k",
    "cross join": "SELECT p.k, w FROM p CROSS JOIN q",
    "exists": "SELECT k FROM p WHERE EXISTS (SELECT 1 FROM q WHERE q.k = p.k)",
    "in": "SELECT k FROM p WHERE k IN (SELECT k FROM q WHERE w > 5)",
    "not exists": "SELECT k FROM p WHERE NOT EXISTS (SELECT 1 FROM q WHERE q.k = p.k)",
    "not in, with NULL": "SELECT k FROM p WHERE k NOT IN (SELECT k FROM q)",
    "not in": "SELECT k FROM p WHERE k NOT IN (SELECT k FROM q WHERE k IS NOT NULL)",
    "exists or": "SELECT k FROM p WHERE s = 'a' OR EXISTS (SELECT 1 FROM q WHERE q.k = p.k)",
    "exists as a value": "SELECT k, k IN (SELECT k FROM q) AS found FROM p",
    "scalar subquery": "SELECT k, (SELECT max(w) FROM q) AS most FROM p",
    "empty scalar subquery": "SELECT k, (SELECT w FROM q WHERE w > 99) AS none FROM p",
    "correlated subquery": "SELECT k, (SELECT count(*) FROM q WHERE q.k = p.k) AS n FROM p",
    "lateral": "SELECT k, x.w FROM p, LATERAL (SELECT w FROM q WHERE q.k = p.k) x",
    "group by": "SELECT s, sum(v), avg(v), count(*), count(v), min(v), max(k) FROM p GROUP BY s",
    "group by an expression": "SELECT k % 2 AS odd, sum(v) + 1 AS t FROM p GROUP BY k % 2",
    "group by a constant": "SELECT 1 AS one, count(*) AS n FROM p GROUP BY 1",
    "aggregate over nothing": "SELECT sum(v), count(*) FROM p WHERE k > 99",
    "having": "SELECT s FROM p GROUP BY s HAVING sum(v) > 3",
    "count distinct": "SELECT count(DISTINCT s), sum(DISTINCT k) FROM p",
    "several distincts": "SELECT k, count(DISTINCT s), count(DISTINCT v), sum(v) FROM p GROUP BY k",
    "aggregate with filter": "SELECT sum(v) FILTER (WHERE k = 1), count(*) FILTER (WHERE v > 2) FROM p",
    "rollup": "SELECT k, s, grouping(k) AS g, grouping_id() AS i, sum(v) FROM p GROUP BY ROLLUP (k, s)",
    "cube": "SELECT k, s, count(*) FROM p GROUP BY CUBE (k, s)",
    "grouping sets": "SELECT k, s, count(*) FROM p GROUP BY GROUPING SETS ((k), (s), ())",
    "statistics": "SELECT stddev(v), var_pop(k), corr(k, v), skewness(k), kurtosis(k) FROM p",
    "other aggregates": """SELECT bool_and(k > 0), bit_or(k), max_by(s, k), count_if(v > 2), median(k),
        percentile(k, 0.5), approx_count_distinct(s), try_sum(k), regr_slope(k, v), any_value(2) FROM p""",
    "collections": "SELECT sort_array(collect_list(s)), sort_array(collect_set(k)) FROM p",
    "first": "SELECT first(s, true), last(k) FROM (SELECT * FROM p WHERE k = 2)",
    "union all": "SELECT k FROM p UNION ALL SELECT w FROM q",
    "union": "SELECT k, 1 AS one FROM p UNION SELECT k, 2 FROM q",
    "union of types": "SELECT k AS x FROM p UNION ALL SELECT v FROM p",
    "except": "SELECT k FROM p EXCEPT SELECT k FROM q",
    "except all": "SELECT k FROM q EXCEPT ALL SELECT k FROM p WHERE s = 'a'",
    "intersect": "SELECT k FROM p INTERSECT SELECT k FROM q",
    "intersect all": "SELECT k FROM p INTERSECT ALL SELECT k FROM q",
    "ranking": """SELECT k, row_number() OVER (PARTITION BY k ORDER BY s), rank() OVER (ORDER BY k),
        dense_rank() OVER (ORDER BY k), percent_rank() OVER (ORDER BY k), cume_dist() OVER (ORDER BY k),
        ntile(2) OVER (ORDER BY k, s) FROM p""",
    "shifts": """SELECT k, lag(v) OVER (ORDER BY k, s), lead(v, 2, 0.5) OVER (ORDER BY k, s),
        lag(v, 1) IGNORE NULLS OVER (ORDER BY k, s), nth_value(s, 2) OVER (ORDER BY k, s),
        first_value(s) IGNORE NULLS OVER (ORDER BY k, s) FROM p""",
    "frames": """SELECT k, sum(v) OVER (ORDER BY k, s ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING),
        count(*) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW),
        sum(v) OVER (PARTITION BY s), max(k) OVER () FROM p""",
    "rank of a group": """SELECT * FROM (SELECT k, v, rank() OVER (PARTITION BY s ORDER BY v DESC) AS n
        FROM p) WHERE n <= 1""",
    "window over groups": "SELECT s, sum(v), rank() OVER (ORDER BY sum(v) DESC) FROM p GROUP BY s",
    "limit": "SELECT k FROM p ORDER BY k DESC, s LIMIT 2",
    "offset": "SELECT k, s FROM p ORDER BY k, s LIMIT 2 OFFSET 1",
    "limit below": "SELECT count(*) FROM (SELECT k FROM p ORDER BY k LIMIT 3)",
    "explode": "SELECT i, e FROM many LATERAL VIEW explode(a) AS e",
    "explode outer": "SELECT id, e FROM many LATERAL VIEW OUTER explode(a) AS e",
    "posexplode of a map": "SELECT id, pos, key, value FROM many LATERAL VIEW posexplode(m) AS pos, key, value",
    "inline": "SELECT id, inline(aa) FROM many",
    "stack": "SELECT id, stack(2, i, 1, i, 2) FROM many",
    "values": "SELECT k, x FROM p JOIN VALUES (1, 'one'), (2, NULL) AS t(n, x) ON k = n",
    "nothing": "SELECT k FROM p WHERE 1 = 0",
    "one row": "SELECT 1 AS one, 'a' AS a",
    "range": "SELECT id, k FROM range(1, 9, 2) JOIN p ON id = k",
    "with": "WITH x AS (SELECT k, sum(v) AS t FROM p GROUP BY k) SELECT a.k, b.t FROM x a JOIN x b ON a.k = b.k",
    "several distincts, one counted": """SELECT count(DISTINCT s), count(DISTINCT k),
        count(*) FILTER (WHERE v > 2) FROM p""",
    "unpivot": "SELECT * FROM q UNPIVOT (n FOR c IN (k, w))",
    "pipe": "FROM p |> WHERE k < 3 |> AGGREGATE sum(v) AS t GROUP BY s",
    "hints": "SELECT /*+ BROADCAST(q), COALESCE(1) */ p.k FROM p JOIN q ON p.k = q.k",
    "case of names": "SELECT K, P.S FROM P",
    "odd names": "SELECT k AS `a b``c`, v AS `x.y` FROM p",
    "a collation": "SELECT c, count(*) FROM many GROUP BY c",
}


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_is_rebuilt(check: Check, name: str) -> None:
    check(QUERIES[name])


def test_marks_existence(check: Check) -> None:
    view = check(QUERIES["exists or"])
    assert view.relation is not None
    kinds = {node.kind for node in relations(view.relation) if isinstance(node, r.Join)}
    assert kinds == {"existence"}


def test_scans_only_what_is_used(check: Check) -> None:
    view = check("SELECT sum(v) FROM p WHERE k > 1")
    assert view.relation is not None
    (scan,) = [node for node in relations(view.relation) if isinstance(node, r.Scan)]
    assert [field.name for field in scan.fields] == ["k", "v"]


def test_ids_are_unique_in_a_view(check: Check) -> None:
    """Catalyst gives a table one set of ids inside and outside a subquery; the reader does not."""
    view = check("SELECT k FROM p WHERE v > (SELECT avg(v) FROM p)")
    assert view.relation is not None
    scans = [node for node in relations(view.relation) if isinstance(node, r.Scan)]
    ids = [field.id for scan in scans for field in scan.fields]
    assert len(scans) == 2
    assert len(ids) == len(set(ids))
