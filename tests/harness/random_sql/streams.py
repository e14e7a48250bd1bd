"""Change streams that hold every nasty case, over rows of their own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tests.harness.lab import canonical
from tests.harness.random_sql.changes import (
    AFTER,
    BEFORE,
    DELETE,
    INSERT,
    Batch,
    Change,
    Rows,
    applied,
    no_rows,
)
from tests.harness.random_sql.schema import KEYS, TABLES, Row

KEYED = ("facts", "nested", "dim")
ALL = (*KEYED, "loose")
# Cases that are there for what they do not change.
QUIET = ("nothing", "came and went")
# Changes of a source by which the answers of most of its readers change.
ENOUGH = 5


class Stream:
    """Batches one after another.

    Args:
        seed: the same seed gives the same batches.

    Attributes:
        rows: what the batches sum to.
        whims: dice for all that is not a row, so that the rows are the same without it.
    """

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - rows, not secrets
        self.whims = random.Random(f"whims {seed}")  # noqa: S311 - nor are these
        self.rows: Rows = no_rows()
        self._next = {name: len(KEYS) if name == "dim" else 0 for name in TABLES}
        self._number = 0
        self._order = self._dice.sample([*CASES], len(CASES))
        self._given: set[int] = set()

    def initial(self) -> Batch:
        """Some tens of rows."""
        batch = [(name, self._new(name, table.size)) for name, table in TABLES.items()]
        return self._taken(batch)

    def batch(self) -> tuple[str, Batch]:
        """The next batch, and which case it is."""
        name = self._order[self._number % len(self._order)]
        self._number += 1
        batch = self._taken(CASES[name](self))
        if name in QUIET or self._dice.random() < 0.15:
            return name, batch
        return name, [*batch, *self._taken(self._livening(batch))]

    def _taken(self, batch: Batch) -> Batch:
        self.rows = applied(self.rows, batch)
        self._given = set()
        return batch

    def _livening(self, batch: Batch) -> Batch:
        """Files that change the sources which a case leaves alone, or nearly so."""
        touched = Counter({source: len(changes) for source, changes in batch})
        return [(name, self._little(name)) for name in ALL if touched[name] < ENOUGH]

    def _little(self, source: str) -> list[Change]:
        """Some rows of a source change, and of a source that ran low some come back."""
        lacking = TABLES[source].size - len(self.rows[source])
        changes = self._updates(source, 3)
        updated = {canonical(row) for kind, row in changes if kind == BEFORE}
        gone = [row for row in self._some(source, 2) if canonical(row) not in updated]
        return [
            *self._new(source, max(2, lacking // 2)),
            *changes,
            *((DELETE, row) for row in gone),
        ]

    # -------------------------------------------------------------- pieces

    def _row(self, source: str, **values: object) -> Row:
        number = self._number_for(source)
        return self._with(source, TABLES[source].row(self._dice, number), **values)

    def _number_for(self, source: str) -> int:
        """The key of a new row; of a dimension, one that facts have, where it lacks such."""
        if source == "dim":
            there = {row[0] for row in self.rows["dim"]} | self._given
            lacking = [key for key in KEYS if key not in there]
            if lacking:
                self._given.add(lacking[0])
                return lacking[0]
        number = self._next[source]
        self._next[source] += 1
        return number

    @staticmethod
    def _with(source: str, row: Row, **values: object) -> Row:
        table = TABLES[source]
        changed = list(row)
        for name, value in values.items():
            changed[table.place(name)] = value
        return tuple(changed)

    def _new(self, source: str, count: int, **values: object) -> list[Change]:
        return [(INSERT, self._row(source, **values)) for _ in range(count)]

    def _some(self, source: str, count: int) -> list[Row]:
        kept = self.rows[source]
        return self._dice.sample(kept, min(len(kept), count))

    def _gone(self, source: str, count: int) -> list[Change]:
        return [(DELETE, row) for row in self._some(source, count)]

    def _updates(self, source: str, count: int, *names: str) -> list[Change]:
        """Updates of some columns; of all but the key where none is named."""
        table = TABLES[source]
        changes: list[Change] = []
        for old in self._some(source, count):
            fresh = table.row(self._dice, 0)
            wanted = names or [f.name for f in table.fields if f.name not in table.key]
            values = {name: fresh[table.place(name)] for name in wanted}
            changes += [(BEFORE, old), (AFTER, self._with(source, old, **values))]
        return changes

    # --------------------------------------------------------------- cases

    def plain(self) -> Batch:
        """A few changes of two sources."""
        sources = self._dice.sample(ALL, 2)
        return [
            (name, [*self._new(name, 2), *self._gone(name, 2)])
            if name == "dim"
            else (name, [*self._new(name, 3), *self._updates(name, 2)])
            for name in sources
        ]

    def nothing(self) -> Batch:
        """No file, or a file without rows."""
        return [] if self._dice.random() < 0.5 else [(self._dice.choice(ALL), [])]

    def came_and_went(self) -> Batch:
        """Rows that come and go in one batch, and rows that go and come back."""
        batch: list[tuple[str, list[Change]]] = []
        for name in ("facts", self._dice.choice(["loose", "nested", "dim"])):
            new = self._row(name)
            back = self._some(name, 2)
            changes: list[Change] = [(INSERT, new), (DELETE, new)]
            changes += [change for row in back for change in ((DELETE, row), (INSERT, row))]
            batch.append((name, changes))
        return batch

    def one_of_two(self) -> Batch:
        """One of two equal rows goes; another row comes a second time."""
        rows = self.rows["loose"]
        images = [canonical(row) for row in rows]
        twins = [row for row, image in zip(rows, images, strict=True) if images.count(image) > 1]
        changes: list[Change] = [(DELETE, self._dice.choice(twins))] if twins else []
        return [("loose", changes + [(INSERT, row) for row in self._some("loose", 3)])]

    def least(self) -> Batch:
        """The rows that hold the least and the greatest value of a column go."""
        batch: list[tuple[str, list[Change]]] = []
        for name, columns in (("facts", ("q", "price", "at", "day", "g")), ("loose", ("v", "k"))):
            place = TABLES[name].place(self._dice.choice(columns))
            there = [row for row in self.rows[name] if row[place] is not None]
            if there:
                ends = {f(row[place] for row in there) for f in (min, max)}
                batch.append((name, [(DELETE, row) for row in there if row[place] in ends]))
        return batch

    def last_of_group(self) -> Batch:
        """All rows of a key leave a source, and perhaps the dimension's row, too."""
        key = self._dice.choice(KEYS)
        names = self._dice.sample(ALL, 2)
        return [(name, self._where(name, "k", key)) for name in names]

    def _where(self, source: str, column: str, value: object) -> list[Change]:
        place = TABLES[source].place(column)
        return [(DELETE, row) for row in self.rows[source] if row[place] == value]

    def null_keys(self) -> Batch:
        """Rows with NULL for a key come; others get NULL; some go."""
        old = self._some("facts", 2)
        changes = self._new("facts", 2, k=None) + self._new("facts", 1, k=None, g=None)
        for row in old:
            changes += [(BEFORE, row), (AFTER, self._with("facts", row, k=None, day=None))]
        gone = [row for row in self.rows["loose"] if row[0] is None][:2]
        loose = [*self._new("loose", 2, k=None, g=None), *((DELETE, row) for row in gone)]
        return [("facts", changes), ("loose", loose), ("dim", self._updates("dim", 1, "parent"))]

    def key_updates(self) -> Batch:
        """Rows move to another key; one gets another identity, which no update image can say."""
        changes = self._updates("facts", 3, "k", "g")
        moved = next(iter(self._some("nested", 1)), None)
        batch: list[tuple[str, list[Change]]] = [("facts", changes)]
        if moved is not None:
            new = self._with("nested", moved, id=self._next["nested"])
            self._next["nested"] += 1
            batch.append(("nested", [(DELETE, moved), (INSERT, new)]))
        batch.append(("loose", self._updates("loose", 2, "k")))
        return batch

    def both_sides(self) -> Batch:
        """Both sides of a join change at once, for one key."""
        key = self._dice.choice(KEYS)
        facts = self._where("facts", "k", key)[:2] + self._new("facts", 2, k=key)
        loose = self._where("loose", "k", key)[:1] + self._new("loose", 2, k=key)
        known = self._where("dim", "k", key)
        row = TABLES["dim"].row(self._dice, key)
        dim = known if known and self._dice.random() < 0.4 else [*known, (INSERT, row)]
        return [("facts", facts), ("loose", loose), ("dim", dim)]

    def dimension_after_fact(self) -> Batch:
        """Facts for a key that the dimension lacks; the key comes by a later batch of this case."""
        known = {row[0] for row in self.rows["dim"]}
        lacking = [key for key in KEYS if key not in known]
        batch: list[tuple[str, list[Change]]] = []
        if lacking:
            batch.append(("dim", [(INSERT, TABLES["dim"].row(self._dice, lacking[0]))]))
        absent = lacking[1] if len(lacking) > 1 else self._dice.choice([*known, *KEYS])
        if absent in known:
            batch.append(("dim", self._where("dim", "k", absent)))
        batch.append(("facts", self._new("facts", 2, k=absent)))
        return batch

    def refilled(self) -> Batch:
        """All rows of a source go, and others come; now and then none come at once."""
        name = self._dice.choice(ALL)
        gone: list[Change] = [(DELETE, row) for row in self.rows[name]]
        if name == "dim":
            new = [(INSERT, TABLES[name].row(self._dice, key)) for key in KEYS[1:7]]
        else:
            new = self._new(name, TABLES[name].size // 2)
        if self._dice.random() < 0.3:
            return [(name, gone)]
        return [(name, gone), (name, new)]

    def skewed(self) -> Batch:
        """Many rows for one key."""
        key = self._dice.randrange(4)
        loose = self._new("loose", 1, k=key) * 6
        return [("facts", self._new("facts", 5, k=key)), ("loose", loose)]

    def filled(self) -> Batch:
        """Sources that ran low are filled up again."""
        batch: list[tuple[str, list[Change]]] = []
        for name in ("facts", "loose", "nested"):
            lacking = TABLES[name].size - len(self.rows[name])
            batch.append((name, self._new(name, max(lacking, 2))))
        known = {row[0] for row in self.rows["dim"]}
        missing = [key for key in KEYS[:6] if key not in known]
        batch.append(("dim", [(INSERT, TABLES["dim"].row(self._dice, key)) for key in missing]))
        return batch


CASES: Mapping[str, Callable[[Stream], Batch]] = {
    "plain": Stream.plain,
    "nothing": Stream.nothing,
    "came and went": Stream.came_and_went,
    "one of two equal rows": Stream.one_of_two,
    "least and greatest": Stream.least,
    "last of a group": Stream.last_of_group,
    "NULL keys": Stream.null_keys,
    "key updates": Stream.key_updates,
    "both sides of a join": Stream.both_sides,
    "dimension after fact": Stream.dimension_after_fact,
    "deleted and refilled": Stream.refilled,
    "skew": Stream.skewed,
    "filled up": Stream.filled,
}


def stream(seed: int, batches: int) -> tuple[Sequence[str], list[Batch]]:
    """An initial load and some batches, and the case that each is."""
    made = Stream(seed)
    first = made.initial()
    named = [made.batch() for _ in range(batches)]
    return ["initial", *(name for name, _ in named)], [first, *(batch for _, batch in named)]
