"""Errors of ours that are raised inside Spark's tasks: each begins with a mark, by which it is told again."""

from __future__ import annotations

from typing import Final

MARK: Final = "SLACKTIDE_"
APPEND_ONLY: Final = f"{MARK}APPEND_ONLY"
CHANGE_TYPE: Final = f"{MARK}CHANGE_TYPE"
NEGATIVE: Final = f"{MARK}NEGATIVE"
OVERFLOW: Final = f"{MARK}OVERFLOW"
