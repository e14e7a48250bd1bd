"""Ten views in a row and a diamond over them: equal to batch, and what they share is written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from slacktide.engine.reports import Report
from slacktide.program.operator import Save
from tests.harness.lab import Lab

pytestmark = pytest.mark.spark

ROW = {
    "kept": "SELECT id, k, v FROM t WHERE v >= 0",
    "named": "SELECT kept.id, kept.k, kept.v, u.w FROM kept LEFT JOIN u ON kept.k = u.k",
    "ranked": "SELECT *, rank() OVER (PARTITION BY k ORDER BY v, id) AS place FROM named",
    "front": "SELECT id, k, v, w FROM ranked WHERE place <= 4",
    "groups": "SELECT k, count(*) AS n, sum(v) AS s, max(w) AS w FROM front GROUP BY k",
    "met": "SELECT k, n, s FROM groups WHERE EXISTS (SELECT 1 FROM u WHERE u.k = groups.k)",
    "twice": "SELECT n, s FROM met UNION ALL SELECT n + 1, s FROM met",
    "kinds": "SELECT DISTINCT n, s FROM twice",
    "totals": "SELECT n, sum(s) AS total FROM kinds GROUP BY n",
    "best": "SELECT n, total FROM totals ORDER BY total DESC, n LIMIT 2",
}
DIAMOND = {
    "many": "SELECT k, n FROM groups WHERE n > 1",
    "large": "SELECT k, s FROM groups WHERE s > 3",
    "rejoined": "SELECT many.k, n, s FROM many FULL JOIN large ON many.k <=> large.k",
}
VIEWS = ROW | DIAMOND
# Of the same window: as it is, without a column that is not read further up, and of partitions that a test leaves.
ALIKE = (
    {"ranked", "front", "groups"},
    {"met", "twice", "kinds", "totals", "best"},
    {"many", "large", "rejoined"},
)
FACTS = [(i, i % 4 if i % 5 else None, (i * 3) % 7) for i in range(24)]


@pytest.fixture
def tower(lab: Lab) -> Lab:
    """All views over two sources, computed once."""
    lab.source("t", "id INT, k INT, v INT", *FACTS)
    lab.source("u", "k INT, w INT", (0, 1), (1, 2), (1, 2), (None, 3))
    for name, text in VIEWS.items():
        lab.view(name, text)
    lab.step()
    return lab


def refreshed(lab: Lab) -> tuple[Report, Mapping[str, set[str]]]:
    """Refresh by increments, compared with batch; and which views keep each state."""
    lab.ws.discover()
    plan = lab.ws.plan()
    keepers: dict[str, set[str]] = {}
    for view in plan.views:
        for step in view.program.steps if view.program else ():
            if isinstance(step, Save):
                keepers.setdefault(step.chain, set()).add(view.view)
    report = lab.step(**dict.fromkeys(VIEWS, "incremental"))
    return report, keepers


def written(report: Report) -> Counter[str]:
    steps = (step for view in report.views.values() for step in view.actual["steps"])
    return Counter(step["chain"] for step in steps)


def test_a_row_of_ten_and_a_diamond(tower: Lab) -> None:
    lab = tower
    lab.land("t", insert=[(30, 1, 0), (31, None, 6), (32, 9, 2)])
    _, keepers = refreshed(lab)
    for views in ALIKE:
        assert any(kept >= views for kept in keepers.values()), views
    lab.land("t", delete=[(30, 1, 0), *FACTS[:6]])
    lab.land("u", delete=[(1, 2)], insert=[(9, 4)])
    report, keepers = refreshed(lab)
    states = {chain: times for chain, times in written(report).items() if chain in keepers}
    assert states == dict.fromkeys(keepers, 1)
    assert sum(map(len, keepers.values())) > 2 * len(keepers)
    lab.land("t")
    report, _ = refreshed(lab)
    assert {view.actual["rows_out"] for view in report.views.values()} == {0}
    lab.land("t")
    lab.land("u", delete=[(0, 1), (9, 4), (1, 2), (None, 3)])
    refreshed(lab)
    assert lab.read("best") == lab.read("met") == []
    lab.land("t", delete=list(lab.rows["t"]))
    refreshed(lab)
    assert not any(lab.read(name) for name in VIEWS)


def test_what_means_the_same_is_read_again_above_under_other_settings(lab: Lab) -> None:
    """Midnight without a zone is another one to a view that was added in another time zone."""
    sessions = {zone: lab.spark.newSession() for zone in ("UTC", "Europe/Berlin")}
    for zone, session in sessions.items():
        session.conf.set("spark.sql.session.timeZone", zone)
    utc, berlin = sessions.values()
    between = datetime(2023, 12, 31, 23, 30, tzinfo=UTC)
    lab.source("t", "k INT, ts TIMESTAMP", (1, between), (2, between + timedelta(hours=1)))
    text = "SELECT k FROM t WHERE ts >= TIMESTAMP '2024-01-01 00:00:00{}'"
    lab.ws.add_view(utc, "base", text.format(""))
    lab.ws.add_view(berlin, "above", "SELECT k FROM base")
    lab.refresh()
    assert (lab.read("base"), sorted(lab.read("above"))) == ([(2,)], [(1,), (2,)])
    lab.ws.replace_view(utc, "base", text.format(" UTC"))
    lab.refresh()
    assert (lab.read("base"), lab.read("above")) == ([(2,)], [(2,)])
    assert all(told.equal for told in lab.ws.verify(lab.spark).views.values())
