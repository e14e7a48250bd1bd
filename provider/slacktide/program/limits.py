"""How much a run may write and take before it is given up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may find to do.

    Attributes:
        rows: by chain, the rows of its segment beyond which the program is given up.
        cpu_seconds: CPU time of tasks beyond which the step at work is given up; None for no end.
    """

    rows: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    cpu_seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form; empty where nothing is limited."""
        seconds = {} if self.cpu_seconds is None else {"cpu_seconds": self.cpu_seconds}
        return {**({"rows": dict(self.rows)} if self.rows else {}), **seconds}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Limits:
        """Read the stored form."""
        return cls(document.get("rows", {}), document.get("cpu_seconds"))


UNLIMITED: Final = Limits()
