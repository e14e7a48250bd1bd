"""How each operator is computed."""

from __future__ import annotations

from typing import Final

from slacktide.program.reference import joins, reading, rows, states
from slacktide.program.reference.steps import Operators

OPERATORS: Final[Operators] = {
    **reading.OPERATORS,
    **rows.OPERATORS,
    **joins.OPERATORS,
    **states.OPERATORS,
}
