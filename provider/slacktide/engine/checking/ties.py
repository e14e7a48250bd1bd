"""Whether an answer that a LIMIT cut off is one of those that the query allows.

Rows of equal order are a tie. Ties that lie inside the limit stay whole. Of the ties at its two ends
as many rows stay as there is room for, and which of them is free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from slacktide.engine.checking.matching import Alike


def is_legal_cut(
    answer: Sequence[tuple[Any, ...]],
    ranked: Sequence[tuple[Any, ...]],
    sizes: Mapping[int, int],
    first: int,
    last: float,
) -> bool:
    """Tell whether some legal order of the rows gives an answer.

    Args:
        answer: its rows.
        ranked: the rows before the limit, the rank last; those that equal no row of the answer may
            be missing.
        sizes: how many rows have each rank, up to the last one that may stay.
        first: rank of the first row that stays.
        last: rank of the last.
    """
    alike = Alike([*answer, *(row[:-1] for row in ranked)])
    left = Counter(map(alike.of, answer))
    ties: dict[int, Counter[Any]] = {rank: Counter() for rank in sizes}
    for row in ranked:
        ties.setdefault(row[-1], Counter())[alike.of(row[:-1])] += 1
    free: list[tuple[Counter[Any], int]] = []
    for rank, size in sizes.items():
        room = int(min(rank + size - 1, last)) - max(rank, first) + 1
        if room == size:
            left.subtract(ties[rank])
            if ties[rank].total() != size:
                return False
        elif room > 0:
            free.append((ties[rank], room))
    return min(left.values(), default=0) >= 0 and _is_filled(left, free)


def _is_filled(left: Counter[Any], free: list[tuple[Counter[Any], int]]) -> bool:
    """Whether what is left can be shared out to the ties at the ends, of which there are two."""
    (head, room), (tail, rest) = [*free, (Counter[Any](), 0), (Counter[Any](), 0)][:2]
    if left.total() != room + rest or any(n > head[row] + tail[row] for row, n in left.items()):
        return False
    most = sum(min(n, head[row]) for row, n in left.items())
    least = sum(n - min(n, tail[row]) for row, n in left.items())
    return least <= room <= most
