"""Rows that an outer join pads stay padded, whatever part of its sides a run reads."""

from __future__ import annotations

import pytest

from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

PADDED = (
    "SELECT a.i, s.k FROM a LEFT JOIN (SELECT * FROM b WHERE EXISTS"
    " (SELECT 1 FROM c WHERE c.ck = b.k AND b.v < c.w)) s ON a.j = s.j2"
)
UNMET = (
    f"SELECT * FROM ({PADDED}) l"  # noqa: S608 - texts of ours
    " WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.dk = l.k AND l.i < d.x)"
)
GROUPED = (
    "SELECT a.i, g.k FROM a LEFT JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) g ON a.j = g.k"
    " INTERSECT SELECT x, dk FROM d"
)


def test_a_row_with_a_partner_is_not_padded(lab: Lab) -> None:
    lab.source("a", "i INT, j INT", (0, 1))
    lab.source("b", "j2 INT, k INT, v INT", (1, 5, 1), (1, 6, 1), (7, 1, 1))
    lab.source("c", "ck INT, w INT", (5, 9), (6, 9))
    lab.source("d", "dk INT, x INT", (1, 1))
    lab.view("unmet", UNMET)
    lab.view("grouped", GROUPED)
    lab.step()
    lab.land("a", insert=[(2, 99)])
    lab.land("b", delete=[(1, 6, 1)])
    lab.land("d", insert=[(1, 2), (None, 0)])
    lab.step(unmet="incremental", grouped="incremental")
    assert lab.bag("unmet") == {(0, 5): 1, (2, None): 1}
    assert not lab.bag("grouped")
    lab.verified()


def test_a_star_of_outer_joins_is_planned_once_for_all_that_read_it(lab: Lab) -> None:
    """What Spark plans once for each reader would be 8,000 operators."""
    names = ["d0", "d1", "d2", "d3"]
    lab.source("f", "id INT, at INT, k INT", *((i, i % 9, i % 5) for i in range(60)), (99, None, 1))
    for name in names:
        lab.source(name, "k INT, until INT, n STRING", *((k, 5, f"{name}{k}") for k in range(4)))
    joins = [f"LEFT JOIN {name} ON f.k = {name}.k AND f.at < {name}.until" for name in names]
    found = ", ".join(f"{name}.n AS {name}" for name in names)
    lab.view("v", f"SELECT id, {found} FROM f {' '.join(joins)}")  # noqa: S608 - a text of ours
    lab.step()
    lab.land("f", insert=[(100, 4, 1), (101, None, None)], delete=[(0, 0, 0)])
    lab.step(v="incremental")
    lab.land("f", update=[((100, 4, 1), (100, 4, 2))])
    for name in names:
        lab.land(name, insert=[(1, 7, "more")], delete=[(2, 5, f"{name}2")])
    lab.step(v="incremental")
    lab.verified()
