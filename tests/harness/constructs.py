"""SQL constructs, each as small views over `t` (facts), `u` (a dimension) and `w` (nested values)."""

from __future__ import annotations

from typing import Final

T: Final = "id INT, k INT, s STRING, v INT, d DECIMAL(10,2), x DOUBLE, day DATE"
U: Final = "k INT, name STRING, weight INT"
W: Final = "id INT, list ARRAY<INT>, pair STRUCT<a: INT, b: STRING>"

BELOW: Final[dict[str, str]] = {
    "sums": "SELECT k, sum(v) AS s FROM t GROUP BY k",
    "names": "SELECT k, min(name) AS name, count(*) AS n FROM u GROUP BY k",
}
"""Views that constructs read."""

CONSTRUCTS: Final[dict[str, str]] = {
    "filter, projection": "SELECT id, upper(s) AS s, v + 1 AS v FROM t WHERE v > 2",
    "UNION ALL": "SELECT k, v FROM t UNION ALL SELECT k, weight FROM u",
    "UNION": "SELECT k FROM t UNION SELECT k FROM u",
    "INTERSECT": "SELECT k FROM t INTERSECT SELECT k FROM u",
    "INTERSECT ALL": "SELECT k FROM t INTERSECT ALL SELECT k FROM u",
    "EXCEPT": "SELECT k FROM t EXCEPT SELECT k FROM u",
    "EXCEPT ALL": "SELECT k FROM t EXCEPT ALL SELECT k FROM u",
    "DISTINCT": "SELECT DISTINCT k, s FROM t",
    "inner join": "SELECT id, name FROM t JOIN u ON t.k = u.k",
    "inner join, any condition": "SELECT id, name FROM t JOIN u ON t.k < u.k AND t.v <> u.weight",
    "cross join": "SELECT id, name FROM t CROSS JOIN u WHERE weight > 2",
    "self-join": "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.k = b.k AND a.id < b.id",
    "left join": "SELECT id, name FROM t LEFT JOIN u ON t.k = u.k",
    "left join, any condition": "SELECT id, name FROM t LEFT JOIN u ON t.k = u.k AND v > weight",
    "right join": "SELECT id, name FROM t RIGHT JOIN u ON t.k = u.k",
    "full join": "SELECT id, name FROM t FULL JOIN u ON t.k = u.k",
    "IN": "SELECT id FROM t WHERE k IN (SELECT k FROM u WHERE weight > 1)",
    "EXISTS": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND weight > v)",
    "NOT EXISTS": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND weight > v)",
    "NOT IN": "SELECT id FROM t WHERE k NOT IN (SELECT k FROM u WHERE weight > 3)",
    "EXISTS in an expression": "SELECT id FROM t WHERE v > 5 OR EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "scalar subquery": "SELECT id FROM t WHERE v >= (SELECT max(weight) FROM u)",
    "correlated subquery": "SELECT id, (SELECT sum(weight) FROM u WHERE u.k = t.k) AS w FROM t",
    "lateral subquery": (
        "SELECT id, n FROM t, LATERAL (SELECT count(*) AS n FROM u WHERE u.k = t.k)"
    ),
    "SUM, COUNT, AVG": "SELECT k, sum(v) AS s, count(s) AS c, avg(d) AS a FROM t GROUP BY k",
    "aggregate without GROUP BY": "SELECT sum(v) AS s, count(*) AS n FROM t",
    "aggregate with FILTER": "SELECT k, sum(v) FILTER (WHERE v > 3) AS s FROM t GROUP BY k",
    "HAVING": "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 2",
    "MIN, MAX": "SELECT k, min(v) AS least, max(s) AS most FROM t GROUP BY k",
    "BOOL_AND, BOOL_OR": "SELECT k, bool_and(v > 1) AS a, bool_or(v > 5) AS o FROM t GROUP BY k",
    "COUNT DISTINCT": "SELECT k, count(DISTINCT v) AS n FROM t GROUP BY k",
    "several DISTINCT": "SELECT k, count(DISTINCT v) AS a, count(DISTINCT s) AS b FROM t GROUP BY k",
    "sums of doubles": "SELECT k, sum(x) AS s, avg(x) AS a FROM t GROUP BY k",
    "STDDEV, VARIANCE": "SELECT k, stddev(v) AS s, var_pop(v) AS p FROM t GROUP BY k",
    "CORR, COVAR": (
        "SELECT k, corr(v, id) AS r, covar_pop(v, id) AS c, covar_samp(v, id) AS p FROM t GROUP BY k"
    ),
    "CORR, COVAR without GROUP BY": (
        "SELECT corr(v, id) AS r, covar_pop(v, id) AS c, covar_samp(v, id) AS p FROM t"
    ),
    "REGR_*": (
        "SELECT k, regr_slope(v, id) AS slope, regr_intercept(v, id) AS start, regr_r2(v, id) AS r2,"
        " regr_count(v, id) AS n, regr_avgx(v, id) AS x, regr_avgy(v, id) AS y, regr_sxx(v, id) AS sxx,"
        " regr_sxy(v, id) AS sxy, regr_syy(v, id) AS syy FROM t GROUP BY k"
    ),
    "MEDIAN, PERCENTILE": "SELECT k, median(v) AS m, percentile(v, 0.9) AS p FROM t GROUP BY k",
    "MODE": "SELECT k, mode(v, true) AS v, mode() WITHIN GROUP (ORDER BY s) AS s FROM t GROUP BY k",
    "MAX_BY, MIN_BY": "SELECT k, max_by(s, id) AS a, min_by(s, id) AS b FROM t GROUP BY k",
    "COLLECT_LIST": "SELECT k, sort_array(collect_list(v)) AS vs FROM t GROUP BY k",
    "LISTAGG": (
        "SELECT k, listagg(s, ',') WITHIN GROUP (ORDER BY s) AS l,"
        " string_agg(DISTINCT s) WITHIN GROUP (ORDER BY s DESC) AS d FROM t GROUP BY k"
    ),
    "ROLLUP": "SELECT k, s, count(*) AS n FROM t GROUP BY ROLLUP (k, s)",
    "CUBE": "SELECT k, s, sum(v) AS n FROM t GROUP BY CUBE (k, s)",
    "GROUPING SETS": (
        "SELECT k, s, grouping_id() AS g, sum(v) AS n FROM t GROUP BY GROUPING SETS ((k), (s), ())"
    ),
    "PIVOT": "SELECT * FROM (SELECT k, s, v FROM t) PIVOT (sum(v) FOR s IN ('a', 'b'))",
    "explode": "SELECT id, item FROM w LATERAL VIEW explode(list) AS item",
    "explode, outer": "SELECT id, place, item FROM w LATERAL VIEW OUTER posexplode(list) AS place, item",
    "nested types": "SELECT pair.b AS b, sum(pair.a) AS a, count(get(list, 0)) AS n FROM w GROUP BY pair.b",
    "window with PARTITION BY": (
        "SELECT id, rank() OVER (PARTITION BY k ORDER BY v) AS r, lag(v) OVER (PARTITION BY k ORDER BY id)"
        " AS l FROM t"
    ),
    "window with a frame": (
        "SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
        " AS s FROM t"
    ),
    "window without PARTITION BY": "SELECT id, row_number() OVER (ORDER BY id) AS n FROM t",
    "window over groups": "SELECT k, rank() OVER (ORDER BY count(*), k) AS r FROM t GROUP BY k",
    "ORDER BY, LIMIT": "SELECT id, v FROM t ORDER BY v DESC, id LIMIT 5",
    "ORDER BY, LIMIT over groups": "SELECT k, sum(v) AS s FROM t GROUP BY k ORDER BY s DESC, k LIMIT 2",
    "LIMIT, OFFSET": "SELECT id, v FROM t ORDER BY id LIMIT 3 OFFSET 2",
    "VALUES": "SELECT id, label FROM t JOIN VALUES (1, 'one'), (2, 'two') AS n(k, label) ON t.k = n.k",
    "range": "SELECT r.id, count(v) AS n FROM range(0, 6) r LEFT JOIN t ON t.k = r.id GROUP BY r.id",
    "common table expression": (
        "WITH c AS (SELECT k, sum(v) AS s FROM t GROUP BY k)"
        " SELECT a.k FROM c a JOIN c b ON b.k = a.k + 1 AND a.s < b.s"
    ),
    "view over views": "SELECT name, s, n FROM sums JOIN names ON sums.k = names.k",
    "recursion": (
        "WITH RECURSIVE r AS (SELECT k, 0 AS n FROM u UNION ALL SELECT k, n + 1 FROM r WHERE n < k)"
        " SELECT k, n FROM r"
    ),
    "Python function": "SELECT scored(v) AS s, count(*) AS n FROM t GROUP BY scored(v)",
    "pandas function": "SELECT shouted(s) AS s, max(v) AS v FROM t WHERE scored(v) > 3 GROUP BY s",
    "grouped pandas aggregate": "SELECT k, spread(v) AS s FROM t WHERE v IS NOT NULL GROUP BY k",
    "pandas window function": (
        "SELECT id, spread(v) OVER (PARTITION BY k) AS s FROM t WHERE v IS NOT NULL"
    ),
    "collation": (
        "SELECT lower(c) AS low, count(*) AS n, sum(v) AS s FROM (SELECT if(id % 2 = 0, upper(s), s)"
        " COLLATE UTF8_LCASE AS c, v FROM t) GROUP BY c"
    ),
    "function of the clock": "SELECT id FROM t WHERE day < current_date()",
    "rand()": "SELECT k, rand() AS r FROM t",
}
