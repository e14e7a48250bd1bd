"""Seeded draws, and columns of values made of them, whole arrays at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Numbers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


class Draw:
    """Draws that depend on their seed alone."""

    def __init__(self, *seed: int) -> None:
        import numpy as np

        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))

    def between(self, low: int, high: int, size: int) -> Numbers:
        """Draw whole numbers from low to high, both included."""
        import numpy as np

        return self._generator.integers(low, high, size, dtype=np.int64, endpoint=True)

    def flags(self, probability: float, size: int) -> Flags:
        """Draw yes or no."""
        return self._generator.random(size) < probability

    def count(self, expected: float) -> int:
        """Draw a whole number beside the expected one, which it is on average."""
        return int(expected + self._generator.random())

    def shuffled(self, values: Numbers) -> Numbers:
        """Give the values in another order."""
        return self._generator.permutation(values)

    def words(self, choices: Sequence[str], size: int) -> pa.Array:
        """Draw texts out of a list."""
        import pyarrow as pa

        return pa.array(choices, pa.string()).take(
            pa.array(self.between(0, len(choices) - 1, size))
        )

    def other_words(self, choices: Sequence[str], present: pa.Array) -> pa.Array:
        """Draw for each text one out of the list that differs from it."""
        import pyarrow as pa
        import pyarrow.compute as pc

        places = pc.index_in(present, pa.array(choices, pa.string())).fill_null(0)
        steps = self.between(1, len(choices) - 1, len(present))
        chosen = (numbers(places) + steps) % len(choices)
        return pa.array(choices, pa.string()).take(pa.array(chosen))

    def phones(self, nations: Numbers) -> pa.Array:
        """Draw telephone numbers with the country code of each nation."""
        import pyarrow as pa
        import pyarrow.compute as pc

        size = len(nations)
        parts = [nations + 10]
        parts += [self.between(low, 10 * low - 1, size) for low in (100, 100, 1000)]
        texts = [pa.array(part).cast(pa.string()) for part in parts]
        return pc.binary_join_element_wise(*texts, "-")


def numbers(column: pa.Array | pa.ChunkedArray) -> Numbers:
    """Give a column of whole numbers or dates (as days) as 64-bit numbers."""
    import numpy as np
    import pyarrow as pa

    flat = _flat(column)
    if pa.types.is_date32(flat.type):
        flat = flat.cast(pa.int32())
    values: Any = flat.to_numpy(zero_copy_only=False)
    found: Numbers = values.astype(np.int64, copy=False)
    return found


def days(values: Numbers) -> pa.Array:
    """Give days since 1970 as dates."""
    import numpy as np
    import pyarrow as pa

    return pa.array(values.astype(np.int32)).cast(pa.date32())


def integers(values: Numbers) -> pa.Array:
    """Give numbers as a column of type INT."""
    import pyarrow as pa

    return pa.array(values).cast(pa.int32())


def cents(column: pa.Array | pa.ChunkedArray) -> Numbers:
    """Give a column of DECIMAL(15,2) in hundredths: the low half of each 128-bit number."""
    import numpy as np

    flat = _flat(column)
    halves = np.frombuffer(flat.buffers()[1], dtype="<i8")
    first = 2 * flat.offset
    return halves[first : first + 2 * len(flat) : 2].copy()


def money(values: Numbers) -> pa.Array:
    """Give hundredths as a column of DECIMAL(15,2)."""
    import numpy as np
    import pyarrow as pa

    halves = np.empty((len(values), 2), dtype="<i8")
    halves[:, 0] = values
    halves[:, 1] = values >> 63
    return pa.Array.from_buffers(
        pa.decimal128(15, 2), len(values), [None, pa.py_buffer(halves.tobytes())]
    )


def numbered(prefix: str, values: Numbers) -> pa.Array:
    """Give texts such as Customer#000000042."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = pc.utf8_lpad(pa.array(values).cast(pa.string()), 9, "0")
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, "#")


def day_number(text: str) -> int:
    """Give a date as days since 1970."""
    from datetime import date

    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
