"""Relations at which each delta rule fires, and random histories of the sources that they read.

Values are few and NULL among them, some rows are there twice, some come and go in one batch, and
each batch deletes. A history goes by its number, and a shorter one is the beginning of a longer one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import sources
from slacktide.optimizer.plan import ViewPlan
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.reference.bags import Bag
from tests.harness import referring
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
from tests.harness.plans import Case, SourceShape

LEFT: Final = "scan l [k#1:INT, g#2:STRING, v#3:INT]"
RIGHT: Final = "scan r [k#4:INT, w#5:INT]"
ORDERS: Final = "scan o [ok#1:INT!, ck#2:INT, w#3:INT]"
LINES: Final = "scan l [ok#4:INT, a#5:INT, b#6:INT, w#7:INT]"
CUSTOMERS: Final = "scan c [ck#8:INT!, nk#9:INT, w#10:INT]"

RELATIONS: Final = {
    "read_changes_of_scan": LEFT,
    "filter_changes": f"filter (#3 > 0)\n  {LEFT}",
    "project_changes": f"project [#1]\n  {LEFT}",
    "add_changes_of_union": f"union 2 [k#9:INT]\n  project [#1]\n    {LEFT}\n  project [#4]\n    {RIGHT}",
    "expand_changes": f"expand [k#8:INT, id#10:INT!] [#1, 0] [#1, 1]\n  {LEFT}",
    "generate_from_changes": (
        'generate outer explode(#2):"ARRAY<STRUCT<col: INT>>" keep=[#1] [c8#8:INT]\n'
        '  scan a [k#1:INT, list#2:"ARRAY<INT>"]'
    ),
    "forget_order": f"sort [#1 asc nulls first]\n  {LEFT}",
    "maintain_aggregate": f"aggregate key=[#2] [n#8 := count(), s#9 := sum(#3)]\n  {LEFT}",
    "recompute_touched_groups": f"aggregate key=[#2] [m#8 := max(#3)]\n  {LEFT}",
    "recompute_touched_partitions": (
        "window key=[#2:STRING] order=[#3 desc nulls last, #1 asc nulls last]"
        f' [n#9:INT! := rank():INT! over ""]\n  {LEFT}'
    ),
    "recompute_limit": (
        "limit 2 offset 0\n  sort [#3 desc nulls last, #1 asc nulls first, #2 asc nulls first]\n"
        f"    {LEFT}"
    ),
}
JOINS: Final = {
    f"{rule}, {kind} on {condition}": f"join {kind}{marker} on {condition}\n  {LEFT}\n  {RIGHT}"
    for rule, kind, marker in (
        ("split_delta_of_join", "inner", ""),
        ("pad_lonely_rows", "left", ""),
        ("pad_lonely_rows", "right", ""),
        ("pad_lonely_rows", "full", ""),
        ("retest_touched_rows", "semi", ""),
        ("retest_touched_rows", "anti", ""),
        ("mark_met_rows", "existence", " e#9:BOOLEAN!"),
    )
    for condition in ("(#1 = #4)", "((#1 = #4) and not((#3 = #5)))", "(#1 < #4)")
}
REFERRING: Final = {
    "of a scan": f"join inner on (#4 = #1)\n  {LINES}\n  {ORDERS}",
    "from the right": f"join inner on (#1 = #4)\n  {ORDERS}\n  {LINES}",
    "of a filter": f"join inner on (#4 = #1)\n  {LINES}\n  filter (#3 > 1)\n    {ORDERS}",
    "of a join that goes by one": (
        "join inner on (#1 = #4)\n"
        f"  join inner on (#8 = #2)\n    {CUSTOMERS}\n    {ORDERS}\n  {LINES}"
    ),
    "of a join by other columns": (
        f"join inner on (#1 = #4)\n  join inner on (#3 < #10)\n    {ORDERS}\n    {CUSTOMERS}\n  {LINES}"
    ),
    "of a key of two columns": (
        f"join inner on ((#5 = #11) and (#6 = #12))\n  {LINES}\n  scan p [a#11:INT!, b#12:INT!, w#13:INT]"
    ),
    "of distinct keys": (
        "join inner on (#14 = #1)\n"
        f"  aggregate key=[k#14:INT := #4] [n#15:BIGINT! := count()]\n    {LINES}\n  {ORDERS}"
    ),
    "of itself": (
        "join inner on (#17 = #19)\n  scan e [ek#16:INT!, boss#17:INT, w#18:INT]\n"
        "  scan e [ek#19:INT!, boss#20:INT, w#21:INT]"
    ),
}

SEEDS: Final = range(60)
"""The histories by which a wrong program is told from the true one, which passes them all."""
Rows = dict[str, list[referring.Row]]


@dataclass(frozen=True, slots=True)
class RuleCase:
    """A relation by which a rule is tried.

    Attributes:
        rule: its name.
        text: the relation.
        foreign_keys: those that hold after every batch of its histories.
    """

    rule: str
    text: str
    foreign_keys: frozenset[ForeignKey] = frozenset()

    @property
    def relation(self) -> r.Rel:
        return from_text(self.text + "\n")

    def view(self) -> Maintained:
        """The relation as a view that has never run, over empty sources."""
        return Maintained(Case(self.relation, self._shapes()), foreign_keys=self.foreign_keys)

    def plans(self) -> tuple[ViewPlan, ViewPlan]:
        """The plan of the first run, and one whose program is that of every later run."""
        maintained = self.view()
        found = []
        for _ in range(2):
            maintained.arrive({shape.name: [] for shape in self._shapes()})
            found.append(maintained.plan())
            maintained.run(found[-1])
        return found[0], found[1]

    def played(self, seed: int, batches: int) -> Iterator[tuple[Maintained, Rows]]:
        """The view each time a batch has arrived, and the rows of its sources; the reader refreshes it."""
        maintained, present = self.view(), Rows()
        for batch in islice(self._batches(random.Random(seed), present), batches):  # noqa: S311
            maintained.arrive({shape.name: batch[shape.name] for shape in self._shapes()})
            yield maintained, {shape.name: present[shape.name] for shape in self._shapes()}

    def _batches(self, source: random.Random, present: Rows) -> Iterator[dict[str, Bag]]:
        shapes = self._shapes()
        while True:
            if self.foreign_keys:
                batch = referring.next_batch(source, present)
            else:
                batch = {
                    s.name: next_changes(source, s, present.setdefault(s.name, [])) for s in shapes
                }
            for shape in shapes:
                _repeat(source, shape, present[shape.name], batch[shape.name])
            yield batch

    def _shapes(self) -> tuple[SourceShape, ...]:
        if self.foreign_keys:
            return tuple(referring.SHAPES[name] for name in sources(self.relation))
        return shapes_of(self.relation)


def as_of(plan: ViewPlan, maintained: Maintained) -> ViewPlan:
    """A plan of a view for its next run: the versions are others, the program stays."""
    now = maintained.world.versions()
    end = {name: now[name] for name in maintained.read.sources}
    return replace(plan, start=maintained.versions, end=end)


def _repeat(
    source: random.Random, shape: SourceShape, rows: list[referring.Row], batch: Bag
) -> None:
    """Add a row that is there already, where no key forbids it, and one that comes and goes."""
    if rows and not referring.IDENTIFIED.get(shape.name) and source.random() < 0.5:
        again = source.choice(rows)
        rows.append(again)
        batch.append((again, 1))
    if source.random() < 0.3:
        passing = shape.row(source.randrange(4**6))
        batch += [(passing, 1), (passing, -1)]


CASES: Final = {
    **{name: RuleCase(name.partition(",")[0], text) for name, text in (RELATIONS | JOINS).items()},
    **{
        f"go_along_foreign_key, {name}": RuleCase(
            "go_along_foreign_key", text, frozenset(referring.FOREIGN_KEYS)
        )
        for name, text in REFERRING.items()
    },
}
