"""aggregate_before_join: sums of sums are the same sums, and where they would not be, the rows are joined."""

from __future__ import annotations

import random

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import relations, sources
from slacktide.optimizer.choice.choosing import choose
from slacktide.optimizer.choice.objective import LastFirst
from slacktide.optimizer.costs.memo import MemoCosts
from slacktide.optimizer.expand import METHODS, Problem, expand
from slacktide.optimizer.memo.exploration import Exploration
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.versions import Tables
from slacktide.optimizer.methods.eager_aggregation import aggregated_early, rules
from slacktide.optimizer.periods.plan_space import space_of
from slacktide.optimizer.rule_parts.additive import SPARED
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.optimizer.statistics import ChangeFacts, Figure, SourceFacts, Statistics
from tests.harness.histories import next_changes, shapes_of
from tests.harness.memory import as_bag
from tests.harness.planner.grouped import indented
from tests.harness.planner.groups import Filled

pytestmark = pytest.mark.unit
SALES = "scan sales [o#1:INT, item#2:INT, price#3:INT, cost#4:DECIMAL(7,2)]"
ITEMS = "scan items [item#5:INT, kind#6:INT]"
ORDERS = "scan orders [o#7:INT, at#8:INT]"
SOLD = f"join {{}} on (#2 = #5)\n{SALES}\n{ITEMS}"
BOUGHT = f"join {{}} on (#5 = #2)\n{ITEMS}\n{SALES}"
LISTED = 'scan items [item#5:INT, kind#6:INT, list#15:"ARRAY<INT>"]'
ANY_EQUAL = "exists(#15, lambda([e#77:INT], (#77:INT = #1)):BOOLEAN):BOOLEAN"
MARKED = f"join existence m#14:BOOLEAN! on (#2 = #5)\n{SALES}\n{ITEMS}"
STAR = f"join inner on (#1 = #7)\n{SOLD.format('inner')}\n{ORDERS}"
BY_KIND = "aggregate key=[kind#9:INT := #6] [{}]"
SUMS = "s#10:BIGINT := sum(#3), d#11:DECIMAL(17,2) := sum(#4), n#12:BIGINT! := count(#3)"
TAKEN = {
    "inner": f"{BY_KIND.format(SUMS + ', m#13:BIGINT! := count()')}\n{SOLD.format('inner')}",
    "over nothing": f"aggregate key=[] [{SUMS}]\n{SOLD.format('inner')}",
    "star": f"{BY_KIND.format(SUMS)}\n{STAR}",
    "counts of both sides": f"{BY_KIND.format('n#12:BIGINT! := count()')}\n{SOLD.format('inner')}",
    "left, of what is kept": f"{BY_KIND.format(SUMS)}\n{SOLD.format('left')}",
    "left, of what is padded": f"{BY_KIND.format(SUMS)}\n{BOUGHT.format('left')}",
    "right": f"{BY_KIND.format(SUMS)}\n{SOLD.format('right')}",
    "full": f"{BY_KIND.format(SUMS)}\n{BOUGHT.format('full')}",
    "counts of what is kept": f"{BY_KIND.format('n#12:BIGINT! := count()')}\n{BOUGHT.format('left')}",
    "counts of what is met": f"aggregate key=[o#9:INT := #1] [n#12:BIGINT! := count()]\n{SOLD.format('semi')}",
    "semi": f"aggregate key=[o#9:INT := #1] [{SUMS}]\n{SOLD.format('semi')}",
    "anti": f"aggregate key=[o#9:INT := #1] [{SUMS}]\n{SOLD.format('anti')}",
    "any condition": f"{BY_KIND.format(SUMS)}\n{SOLD.format('inner').replace('=', '<')}",
    "a condition with a function of its own": (
        f"{BY_KIND.format('s#10:BIGINT := sum(#3)')}\njoin inner on ((#2 = #5) and {ANY_EQUAL})\n{SALES}\n{LISTED}"
    ),
    "joins on the right": (
        f"{BY_KIND.format(SUMS)}\njoin inner on (#2 = #5)\n{SALES}\njoin inner on (#6 = #8)\n{ITEMS}\n{ORDERS}"
    ),
    "columns that are left out between joins": (
        f"{BY_KIND.format('s#10:BIGINT := sum(#3)')}\njoin inner on (#1 = #7)\nfilter (#1 > 0)\nproject [#1, #3, #6]\n"
        f"{SOLD.format('inner')}\n{ORDERS}"
    ),
    "a mark of what is met": (f"aggregate key=[m#9:BOOLEAN! := #14] [{SUMS}]\n{MARKED}"),
    "what is computed in between": (
        "aggregate key=[k#9:INT := #21] [s#10:DECIMAL(18,2) := sum(#22), n#12:BIGINT! := count(#3 where (#1 > 1))]\n"
        f"project [k#21:INT := #6, c#22:DECIMAL(8,2) := (#4 + #4):DECIMAL(8,2), #1, #3]\n{SOLD.format('inner')}"
    ),
    "a choice on one side": (
        f"{BY_KIND.format(SUMS)}\nfilter ((#1 > 0) and (#6 < 3))\n{SOLD.format('inner')}"
    ),
}


def plan(text: str) -> Rel:
    return from_text(indented(text) + "\n")


def forms(text: str, **keys: tuple[str, ...]) -> list[Rel]:
    rel = plan(text)
    assert isinstance(rel, r.Aggregate)
    return [*aggregated_early(rel, Shapes(rel, {}), keys, SPARED)]


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("seed", range(3))
def test_equals_recomputation(name: str, seed: int) -> None:
    rel = plan(TAKEN[name])
    shapes = shapes_of(rel)
    source = random.Random(seed)  # noqa: S311
    present: dict[str, list] = {shape.name: [] for shape in shapes}
    first = {
        shape.name: as_bag([shape.row(source.randrange(4**6)) for _ in range(8)])
        for shape in shapes
    }
    for shape in shapes:
        present[shape.name] += [row for row, _ in first[shape.name]]
    later = ({s.name: next_changes(source, s, present[s.name]) for s in shapes} for _ in range(2))
    batches = [first, *later]
    methods = frozenset({"recompute", "derive", "aggregate early"})
    space = expand(Problem(rel, sources(rel), 3), methods=methods)
    space.memo.check()
    filled = Filled(space, sources(rel), shapes, batches)
    assert filled.differing() == []
    assert filled.unknown == frozenset()
    assert len(space.memo.forms(space.memo.tvr(rel))) > 1


REFUSED = {
    "sums over both sides": f"{BY_KIND.format('s#10:BIGINT := sum(coalesce(#3, #6):INT)')}\n{SOLD.format('inner')}",
    "sums of one and of the other": (
        f"{BY_KIND.format('s#10:BIGINT := sum(#3), t#11:BIGINT := sum(#5)')}\n{SOLD.format('inner')}"
    ),
    "a filter over the other side": (
        f"{BY_KIND.format('n#12:BIGINT! := count(#3 where (#6 > 1))')}\n{SOLD.format('inner')}"
    ),
    "a choice of what is padded": (
        f"{BY_KIND.format(SUMS)}\nfilter (isnull(#5) or (#3 > 1))\n{BOUGHT.format('left')}"
    ),
    "keys that are equal and differ": (
        f"{BY_KIND.format('n#12:BIGINT := sum(#3)')}\njoin inner on (#1 = #5)\n"
        'scan s [o#1:"STRING COLLATE UTF8_LCASE", price#3:INT]\n'
        'scan i [item#5:"STRING COLLATE UTF8_LCASE", kind#6:INT]'
    ),
    "what may fail": f"{BY_KIND.format('s#10:BIGINT := sum(cast(#4 as INT))')}\n{SOLD.format('inner')}",
    "what may overflow": f"{BY_KIND.format('s#10:BIGINT := sum((#3 * #3):INT)')}\n{SOLD.format('inner')}",
    "a pattern that may be none": (
        f"{BY_KIND.format('n#10:BIGINT! := count(#3 where like(#16, #17))')}\njoin inner on (#2 = #5)\n"
        f"scan sales [item#2:INT, price#3:INT, name#16:STRING, pattern#17:STRING]\n{ITEMS}"
    ),
    "a mean": f"{BY_KIND.format('s#10:DOUBLE := avg(#3)')}\n{SOLD.format('inner')}",
    "the greatest": f"{BY_KIND.format('s#10:INT := max(#3)')}\n{SOLD.format('inner')}",
    "different values": f"{BY_KIND.format('s#10:BIGINT! := count(distinct #3)')}\n{SOLD.format('inner')}",
    "rows of one side": f"{BY_KIND.format(SUMS)}\n{SALES}".replace("#6", "#2"),
    "a choice above no join": (
        f"aggregate key=[k#9:INT := #21] [{SUMS}]\nfilter (#21 > 0)\nproject [k#21:INT := coalesce(#6, 0), #3, #4]\n"
        f"{SOLD.format('inner')}"
    ),
    "a column that is left out and stands again": (
        f"aggregate key=[k#9:INT := #5] [s#10:BIGINT := sum(#3)]\njoin inner on (#1 = #5)\nproject [#1, #3]\n"
        f"{SOLD.format('inner')}\n{ITEMS}"
    ),
    "nothing to group by": f"aggregate key=[] [{SUMS}]\njoin inner\n{SALES}\n{ITEMS}",
    "rows that are padded": f"{BY_KIND.format('n#12:BIGINT! := count()')}\n{BOUGHT.format('full')}",
    "a value of what is padded": (
        f"{BY_KIND.format('n#12:BIGINT := sum(coalesce(#3, 1):INT)')}\n{BOUGHT.format('left')}"
    ),
    "keys whose zeros differ": (
        f"{BY_KIND.format(SUMS)}\njoin inner on (#1 = #5)\n"
        f"scan s [o#1:DOUBLE, item#2:INT, price#3:INT, cost#4:DECIMAL(7,2)]\nscan i [item#5:DOUBLE, kind#6:INT]"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name: str) -> None:
    assert forms(REFUSED[name]) == []


@pytest.mark.parametrize(
    ("digits", "ansi", "is_taken"),
    [
        (28, None, True),
        (30, None, False),
        (30, "false", False),
        (30, "true", True),
        (33, "true", False),
    ],
)
def test_sums_need_digits_to_spare(digits: int, ansi: str | None, *, is_taken: bool) -> None:
    """More where an overflow gives NULL than where it fails the run."""
    text = (
        TAKEN["inner"].replace("DECIMAL(17,2)", "DECIMAL(38,2)").replace("(7,2)", f"({digits},2)")
    )
    rel = plan(text)
    conf = {} if ansi is None else {"spark.sql.ansi.enabled": ansi}
    memo = Memo(Tables(sources(rel)))
    q = memo.tvr(rel)
    Exploration(memo, rules(Shapes(rel, conf), {}, conf)).run()
    assert (len(memo.forms(q)) > 1) == is_taken


def test_rows_that_their_key_tells_apart_are_not_aggregated() -> None:
    assert len(forms(TAKEN["counts of both sides"])) == 2
    (only,) = forms(TAKEN["counts of both sides"], items=("item",))
    _, early = sorted(
        (rel for rel in relations(only) if isinstance(rel, r.Aggregate)),
        key=lambda rel: isinstance(rel.child, r.Scan),
    )
    assert isinstance(early.child, r.Scan)
    assert early.child.source == "sales"
    assert not forms(TAKEN["inner"], sales=("item",))


def test_nothing_is_aggregated_early_twice() -> None:
    """What was aggregated before its join is not, once more, before that join."""
    rel = plan(TAKEN["star"])
    memo = expand(Problem(rel, sources(rel), 2), methods=METHODS).memo
    assert len(memo.forms(memo.tvr(rel))) == 2


def test_where_the_other_side_changes_the_sums_are_read() -> None:
    rel = plan(TAKEN["inner"])
    change = ChangeFacts(Figure(100.0, "declared"), 800.0, Figure(50.0, "declared"))
    known = Statistics(
        {
            "sales": SourceFacts(Figure(6e6, "declared"), 9e7),
            "items": SourceFacts(Figure(1000.0, "declared"), 8000.0, changes=(change,)),
        }
    )

    def cost(methods: frozenset[str]) -> float:
        space = expand(Problem(rel, ("items",), 2), methods=methods)
        prices = MemoCosts(space.memo, known)
        plans = space_of(space, (1, 2), prices.price, prices.carrying)
        return choose(plans, LastFirst(2)).key[0]

    assert cost(METHODS) < 0.5 * cost(METHODS - {"aggregate early"})
