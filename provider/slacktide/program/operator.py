"""Physical operators: the steps of a run as data.

Operators of the *bag* form give rows with a signed multiplicity ``__m``: positive for an insert,
negative for a delete. Operators of the *state* form give one additive partial aggregate per row,
without ``__m``: their hidden row count is a column of its own. Tempura calls the forms the multiplicity
and the attribute perspective.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final
from typing import Literal as OneOf

from slacktide.algebra.relation import Columns, Rel, Relation, Values, chosen
from slacktide.algebra.scalar import Assignment, Call, Column, Reference, Scalar, SortKey
from slacktide.algebra.types import BOOLEAN
from slacktide.common.node import Node
from slacktide.errors import InvariantError
from slacktide.program.balance import Balance

MULTIPLICITY = "__m"
INPUTS = ("input0", "input1")
Moment = OneOf["before", "after"]
Additive = OneOf["count", "sum"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operator(Node):
    """Base of all operators.

    Attributes:
        columns: what the operator gives, besides ``__m`` in the bag form; derived.
        is_state: whether it gives the state form; derived.
    """

    columns: Columns = field(init=False)
    is_state: bool = field(init=False)

    def __post_init__(self) -> None:
        Node.__post_init__(self)
        object.__setattr__(self, "columns", self.derive())
        object.__setattr__(self, "is_state", self.derive_form())

    def derive(self) -> Columns:
        """Give the columns of the result."""
        raise InvariantError(f"{type(self).__name__} does not derive its columns")

    def derive_form(self) -> bool:
        """Say whether the result is in the state form."""
        return False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadChanges(Operator):
    """The changes of a source in this run: its versions after the start, up to the end."""

    tag: ClassVar[str] = "read_changes"
    source: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSnapshot(Operator):
    """A source at the start or the end of this run, as a bag that need not be consolidated."""

    tag: ClassVar[str] = "read_snapshot"
    source: str
    fields: Columns
    moment: Moment

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadBag(Operator):
    """A stored bag, an answer or a mirror, as it was at the start of this run."""

    tag: ClassVar[str] = "read_bag"
    chain: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadState(Operator):
    """The partial aggregates of a state at the start of this run: base and segments, not merged."""

    tag: ClassVar[str] = "read_state"
    chain: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSegments(Operator):
    """The pieces of a chain from one on, as they were at the start of this run; 0 is the base."""

    tag: ClassVar[str] = "read_segments"
    chain: str
    fields: Columns
    first: int
    is_bag: bool

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return not self.is_bag


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadSaved(Operator):
    """What an earlier step of this run wrote to a chain; the way to compute a thing once."""

    tag: ClassVar[str] = "read_saved"
    chain: str
    fields: Columns
    is_bag: bool

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return not self.is_bag


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(Operator):
    """The rows for which a predicate is true."""

    tag: ClassVar[str] = "select"
    child: Operator
    predicate: Scalar

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Map(Operator):
    """One row for each row, with the assigned columns and the same multiplicity."""

    tag: ClassVar[str] = "map"
    child: Operator
    outputs: tuple[Assignment, ...]

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JoinBags(Operator):
    """The pairs of rows for which a condition is true; multiplicities multiply."""

    tag: ClassVar[str] = "join_bags"
    left: Operator
    right: Operator
    condition: Scalar | None

    def derive(self) -> Columns:
        return self.left.columns + self.right.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SemiBags(Operator):
    """The rows of `left` that some row of `right` meets, or with `negated` none.

    A row of `right` counts when its multiplicities do not add up to zero: in a snapshot the rows
    that are there, in a change those that differ. Rows of `left` keep their multiplicities.
    """

    tag: ClassVar[str] = "semi_bags"
    left: Operator
    right: Operator
    condition: Scalar | None
    negated: bool

    def derive(self) -> Columns:
        return self.left.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Flips(Operator):
    """The rows of `child` that meet a row of `after` and none of `before`, and less the contrary.

    Rows of `before` and `after` count as in `SemiBags`; both have the same columns.
    """

    tag: ClassVar[str] = "flips"
    child: Operator
    before: Operator
    after: Operator
    condition: Scalar | None

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpandBag(Operator):
    """Each row once for every projection, with its multiplicity."""

    tag: ClassVar[str] = "expand_bag"
    child: Operator
    projections: tuple[tuple[Scalar, ...], ...]
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GenerateBag(Operator):
    """Each row with every row that a generator makes of it, with its multiplicity."""

    tag: ClassVar[str] = "generate_bag"
    child: Operator
    generator: Call
    outer: bool
    kept: tuple[Reference, ...]
    fields: Columns

    def derive(self) -> Columns:
        return chosen(self.child.columns, self.kept) + self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Add(Operator):
    """The sum of relations of one form: their rows one after another, columns by position."""

    tag: ClassVar[str] = "add"
    children: tuple[Operator, ...]
    fields: Columns

    def check(self) -> None:
        for child in self.children:
            if len(child.columns) != len(self.fields):
                raise InvariantError(
                    f"a summand has {len(child.columns)} columns, the sum {len(self.fields)}"
                )
        if len({child.is_state for child in self.children}) > 1:
            raise InvariantError("a sum adds bags to states")

    def derive(self) -> Columns:
        return self.fields

    def derive_form(self) -> bool:
        return any(child.is_state for child in self.children)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Negate(Operator):
    """The same rows with opposite multiplicities."""

    tag: ClassVar[str] = "negate"
    child: Operator

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Consolidate(Operator):
    """Equal rows once, with the sum of their multiplicities; none where that is zero."""

    tag: ClassVar[str] = "consolidate"
    child: Operator

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByBalance(Operator):
    """The rows of a bag whose key has a balance: what the multiplicities of all its rows add up to.

    In a change, a key is ``gone`` with a negative balance, ``came`` with a positive one, and was
    ``kept`` with none: its row was updated. A key is ``repeated`` with a balance of more than one.
    """

    tag: ClassVar[str] = "by_balance"
    child: Operator
    keys: Columns
    balance: Balance

    def derive(self) -> Columns:
        return self.child.columns


MOST_FIRST: Final = 100_000
"""As many rows may be first at most: Spark picks them out of every partition before they meet."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class First(Operator):
    """The first rows of a bag in an order, and the fence behind them.

    The last column of `child` marks fences. Of the other rows the first `count` are given, copies
    counted, together with all that tie with the last of them. Where there are so many, that last row is
    given once more, marked, as the fence: more may lie behind it. Where there are fewer, the fences of
    `child` stay, as what lies behind them is not in `child`.
    """

    tag: ClassVar[str] = "first"
    child: Operator
    order: tuple[SortKey, ...]
    count: int

    def check(self) -> None:
        if not self.child.columns or self.child.columns[-1].type != BOOLEAN:
            raise InvariantError("the last column of what is cut off marks fences")
        if not self.order or not 1 <= self.count <= MOST_FIRST:
            raise InvariantError(
                f"an order and a number up to {MOST_FIRST} say which rows are first"
            )

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UpTo(Operator):
    """The rows of `child` that come after no row of `fence` in an order; all where it has no rows.

    Both have the columns of the order.
    """

    tag: ClassVar[str] = "up_to"
    child: Operator
    fence: Operator
    order: tuple[SortKey, ...]

    def derive(self) -> Columns:
        return self.child.columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partial(Node):
    """One additive column of an aggregate state.

    ``count`` adds the multiplicities of rows whose argument is not NULL (of all rows without an
    argument), ``sum`` adds the argument, by sign, in the column's type; nothing adds up to zero.
    """

    tag: ClassVar[str] = "partial"
    column: Column
    function: Additive
    argument: Scalar | None
    filter: Scalar | None

    def check(self) -> None:
        if self.function == "sum" and self.argument is None:
            raise InvariantError("a sum needs an argument")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summarise(Operator):
    """A bag as partial aggregates: one row per group that occurs in it."""

    tag: ClassVar[str] = "summarise"
    child: Operator
    keys: tuple[Assignment, ...]
    partials: tuple[Partial, ...]

    def derive(self) -> Columns:
        keys = tuple(key.column for key in self.keys)
        return keys + tuple(partial.column for partial in self.partials)

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Combine(Operator):
    """Partial aggregates merged per group; without keys exactly one row."""

    tag: ClassVar[str] = "combine"
    child: Operator
    keys: Columns

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nonzero(Operator):
    """The partial aggregates that add something: those with one that is not zero, keys aside."""

    tag: ClassVar[str] = "nonzero"
    child: Operator
    keys: Columns

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return True

    @property
    def partials(self) -> Columns:
        """The columns besides the keys."""
        keys = {column.id for column in self.keys}
        return tuple(column for column in self.columns if column.id not in keys)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Node):
    """A key of one operator and the key of another that it is compared with."""

    tag: ClassVar[str] = "pair"
    own: Scalar
    other: Scalar


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Touched(Operator):
    """The rows of `child` whose keys occur in `by`, in the form of `child`; NULL matches NULL.

    Rows of `by` count whatever their multiplicities add up to: a key that came and went is touched.
    """

    tag: ClassVar[str] = "touched"
    child: Operator
    by: Operator
    keys: tuple[Pair, ...]

    def derive(self) -> Columns:
        return self.child.columns

    def derive_form(self) -> bool:
        return self.child.is_state


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finish(Operator):
    """Merged partial aggregates as rows of the result, each once.

    A group whose hidden count is zero is gone, except the one group of an aggregate without keys.
    """

    tag: ClassVar[str] = "finish"
    child: Operator
    count: int
    outputs: tuple[Assignment, ...]
    is_global: bool

    def derive(self) -> Columns:
        return tuple(output.column for output in self.outputs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Input(Node):
    """A bag under the name by which the relations of an `Evaluate` scan it."""

    tag: ClassVar[str] = "input"
    name: str
    operator: Operator


def by_id(columns: Columns) -> Columns:
    """Columns under names that are unique, for the scans inside an `Evaluate`."""
    return tuple(
        Column(column.id, f"c{column.id}", column.type, column.nullable) for column in columns
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluate(Operator):
    """A relation computed as batch over consolidated inputs: the top of a view over its states."""

    tag: ClassVar[str] = "evaluate"
    query: Rel
    inputs: tuple[Input, ...]

    def derive(self) -> Columns:
        return self.query.columns


def nothing(columns: Columns) -> Evaluate:
    """No rows of these columns."""
    return Evaluate(Values(columns, ()), ())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Batch(Operator):
    """The query as its author wrote it, over the snapshots at the end of this run."""

    tag: ClassVar[str] = "batch"
    view: str
    fields: Columns

    def derive(self) -> Columns:
        return self.fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Save(Node):
    """Write a bag or partial aggregates to a chain: a new segment, or a new base.

    `order` is the layout of a base: ids of columns of the child, by which its rows lie sorted, so
    that a reader who knows which keys it wants skips the rest.
    """

    tag: ClassVar[str] = "save"
    chain: str
    child: Operator
    is_base: bool
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Refill(Node):
    """Write the base of a chain once more, where what this run saved there has run dry.

    What was saved has the form of `First`. It is dry when it has a fence and fewer than `least` rows
    before that, copies counted. Only then is the child computed.
    """

    tag: ClassVar[str] = "refill"
    chain: str
    child: First
    least: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Publish(Node):
    """Write the answer of a view and the changes that its readers get.

    Without `is_base` the child is the change of the answer; with it, the child is the new answer and
    its changes are found by comparison with the old one.
    """

    tag: ClassVar[str] = "publish"
    view: str
    child: Operator
    is_base: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Merge(Node):
    """Write the pieces of a chain from `first` on anew, as one piece that means the same.

    `order` is its layout, as that of a `Save`.
    """

    tag: ClassVar[str] = "merge"
    chain: str
    child: Operator
    first: int
    order: tuple[int, ...] = ()


Step = Save | Refill | Publish | Merge


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Program(Node):
    """The steps of one view in one run, in order; a step may read what an earlier one saved."""

    tag: ClassVar[str] = "program"
    steps: tuple[Step, ...]


def operator_inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators that an operator reads directly."""
    found: list[Operator] = []
    for name in ("child", "left", "right", "before", "after", "by", "fence"):
        value = getattr(operator, name, None)
        if isinstance(value, Operator):
            found.append(value)
    found.extend(getattr(operator, "children", ()))
    found.extend(item.operator for item in getattr(operator, "inputs", ()))
    return tuple(found)


__all__ = ["INPUTS", "MULTIPLICITY", "Moment", "Operator", "Program", "Relation", "Step"]
