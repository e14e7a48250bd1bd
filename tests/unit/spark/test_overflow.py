"""The groups in which a sum overflows, as SQL and in words."""

from __future__ import annotations

from slacktide.algebra.textual import from_text
from slacktide.spark.texts.overflow import groups_text, overflowing_sql

SUMS = """\
aggregate key=[] [t#6 := sum(#4)]
  filter (#4 > 0)
    aggregate key=[#1] [s#4 := sum(#2), n#5 := count(#2), x#7 := sum(#3)]
      scan t ["it's"#1:INT, v#2:BIGINT, x#3:DOUBLE]
"""


def test_every_sum_that_can_overflow_is_tried_the_inner_ones_first() -> None:
    sql = overflowing_sql(from_text(SUMS), {"t": "rows_of_t"})
    assert sql is not None
    assert sql.count("rows_of_t") == 2
    assert "try_sum(c2)" in sql
    assert "try_sum(c4)" in sql
    assert "try_sum(c3)" not in sql  # a double has no overflow
    assert " sum(c2)" not in sql
    assert "'it\\'s = '" in sql
    assert sql.endswith("ORDER BY place, keys LIMIT 4")


def test_what_sums_nothing_is_not_asked() -> None:
    text = "aggregate key=[#1] [n#2 := count(#1), m#3 := max(#1)]\n  scan t [k#1:INT]\n"
    assert overflowing_sql(from_text(text), {"t": "t"}) is None


def test_groups_in_words() -> None:
    assert groups_text(["k = a"]) == "in the group k = a"
    assert groups_text(["k = a", "k = b"]) == "in the groups k = a · k = b"
    assert groups_text(["k = a", "k = b", "k = c", "k = d"]) == (
        "in the groups k = a · k = b · k = c and others"
    )
    assert groups_text(["all rows"]) == "in the sum over all rows"
