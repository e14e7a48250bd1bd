"""Compaction: when the pieces of a chain are written anew as fewer, and how.

A chain is a base and signed segments, and whoever reads it opens every file of them. Writing the
newest pieces as one has a price that grows with their size; reading them apart has a rent, paid in
every run. As many runs are expected to come as have come since, so that the moment to compact is when
the rent that was paid reaches the price: that costs at most twice what the best plan would that knew
the future. Small pieces are merged often and large ones seldom, as their rows must be earned first;
the base is left alone until what lies on it is a share of it as well, so that what compaction costs
follows the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from slacktide.common import serde
from slacktide.common.reasons import Reason
from slacktide.errors import InvariantError
from slacktide.optimizer.costs import DEFAULTS
from slacktide.optimizer.plan import CLASSES, ViewPlan
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program


@dataclass(frozen=True, slots=True)
class Prices:
    """What reading and writing costs, in seconds of CPU; measured, see `docs/design/compaction.md`.

    Attributes:
        file: to open and read one more small file in a scan.
        read: per row that a scan reads.
        job: to write a piece at all.
        write: per row that is read, grouped, sorted and written.
        write_byte: the same per byte; the dearer of the two counts.
    """

    file: float = DEFAULTS.files
    read: float = 0.3e-6
    job: float = 0.15
    write: float = 1.5e-6
    write_byte: float = 120e-9


BASE_SHARE: Final = 0.2
"""What the segments must be of their base, in rows, before it is written anew."""
PRICES: Final = Prices()


@dataclass(frozen=True, slots=True)
class Piece:
    """What is known of a base or a segment; `runs` is how many runs it tells of."""

    files: int
    rows: int
    bytes: int
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Balance:
    """What reading pieces apart has cost, and what writing them as one costs, in seconds of CPU."""

    first: int
    rent: float
    price: float

    @property
    def gain(self) -> float:
        """What compaction is ahead by."""
        return self.rent - self.price


def balances(pieces: Sequence[Piece], prices: Prices = PRICES) -> Iterator[Balance]:
    """Weigh the pieces from each one on, from the newest back to the first, which is the base.

    A piece is read in every run after its own, the one that is planned included. The oldest would be
    read anyway. Rows of segments fall away on a base, as they mostly are newer values of its rows.
    """
    age, files, rows, size = 1, 0, 0, 0
    opened = scanned = 0.0
    for first in reversed(range(len(pieces))):
        piece = pieces[first]
        files, rows, size = files + piece.files, rows + piece.rows, size + piece.bytes
        written = max(prices.write * rows, prices.write_byte * size)
        price = prices.job + prices.file * files + written
        yield Balance(first, opened if first else opened + scanned, price)
        opened += age * prices.file * piece.files
        scanned += age * prices.read * piece.rows
        age += piece.runs


def best(
    pieces: Sequence[Piece], *, with_base: bool = True, prices: Prices = PRICES
) -> Balance | None:
    """Choose which of the newest pieces are written as one; None where none have earned it.

    Args:
        pieces: base and segments, oldest first.
        with_base: whether the base is of the same form as the segments.
        prices: of reading and writing.
    """
    on_base = sum(piece.rows for piece in pieces[1:])
    is_ripe = with_base and on_base >= BASE_SHARE * pieces[0].rows
    several = range(0 if is_ripe else 1, len(pieces) - 1)
    earned = [way for way in balances(pieces, prices) if way.first in several and way.gain >= 0]
    return max(earned, key=lambda way: (way.gain, -way.first), default=None)


def is_earned(pieces: Sequence[Piece], prices: Prices = PRICES) -> bool:
    """Whether pieces that lie on something else, as landed files on a mirror, are written as one."""
    below = Piece(files=0, rows=0, bytes=0)
    ways = balances([below, *pieces], prices) if len(pieces) > 1 else ()
    return any(way.first == 1 and way.gain >= 0 for way in ways)


@dataclass(frozen=True, slots=True)
class Compaction:
    """One chain that a run writes anew in part, or whole.

    Attributes:
        chain: its id.
        token: log number of its last change; a chain that has moved since is left alone.
        first: the first piece that is merged; 0 is the base.
        pieces: what is merged, oldest first, as counts.
        rent: what reading them apart has cost, in seconds of CPU.
        price: what merging them costs.
        program: the one step.
    """

    chain: str
    token: int
    first: int
    pieces: int
    files: int
    rows: int
    bytes: int
    rent: float
    price: float
    program: Program

    @property
    def reason(self) -> Reason:
        """Why, with the figures."""
        what = "base and segments" if self.first == 0 else "segments"
        return Reason(
            "COMPACTION",
            f"{self.pieces} pieces, {what}: {self.files} files, {self.rows} rows, {self.bytes} bytes;"
            f" reading them apart has cost {self.rent:.2f} s, merging them costs {self.price:.2f} s",
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        return {
            "chain": self.chain,
            "token": self.token,
            "first": self.first,
            "pieces": self.pieces,
            "files": self.files,
            "rows": self.rows,
            "bytes": self.bytes,
            "rent": self.rent,
            "price": self.price,
            "program": serde.dump(self.program),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Compaction:
        """Read the stored form.

        Raises:
            NewerFormatError: it holds what this version does not know.
        """
        program = cast("Program", serde.load(document["program"], CLASSES)[0])
        return cls(**{**document, "program": program})


def compaction(
    chain: str,
    token: int,
    pieces: Sequence[Piece],
    written: Operator,
    *,
    order: tuple[int, ...] = (),
    with_base: bool = True,
    prices: Prices = PRICES,
) -> Compaction | None:
    """Plan the compaction of a chain that a run appends to; None where it has not been earned.

    Args:
        chain: its id.
        token: log number of its last change.
        pieces: what it is made of at the start of the run, oldest first.
        written: what the run appends, which has the columns and the form of the chain.
        order: ids of the columns by which the chain lies sorted; the leading one if not given.
        with_base: whether the base is of the same form as the segments.
        prices: of reading and writing.
    """
    way = best(pieces, with_base=with_base, prices=prices) if len(pieces) > 1 else None
    if way is None:
        return None
    merged = pieces[way.first :]
    return Compaction(
        chain=chain,
        token=token,
        first=way.first,
        pieces=len(merged),
        files=sum(piece.files for piece in merged),
        rows=sum(piece.rows for piece in merged),
        bytes=sum(piece.bytes for piece in merged),
        rent=round(way.rent, 6),
        price=round(way.price, 6),
        program=merge_program(chain, way.first, written, order),
    )


def merge_program(
    chain: str, first: int, written: Operator, order: tuple[int, ...] = ()
) -> Program:
    """Give the program that writes the pieces of a chain from `first` on as one.

    What adds up to zero is in none of the rows: an emptied group leaves no trace.
    """
    read = o.ReadSegments(chain, written.columns, first, is_bag=not written.is_state)
    rows: Operator = o.Consolidate(read)
    if written.is_state:
        keys = _keys(written)
        rows = o.Nonzero(o.Combine(read, keys), keys)
    return Program((o.Merge(chain, rows, first, order or o.leading(written)),))


def _keys(written: Operator) -> tuple[Any, ...]:
    if not isinstance(written, o.Summarise):
        raise InvariantError(f"{written.tag} does not say what the keys of a state are")
    return tuple(key.column for key in written.keys)


def extended(plan: ViewPlan) -> dict[str, Operator]:
    """The chains to which a run of a view appends, and what it appends."""
    steps = () if plan.program is None else plan.program.steps
    return {chain: step.child for step in steps if (chain := o.appended_to(step)) is not None}
