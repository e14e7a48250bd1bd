"""Durations and byte counts as users write them: ``30s``, ``10min``, ``2GB``, ``512MiB``.

KB, MB and GB are powers of 1000, KiB, MiB and GiB powers of 1024.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Final

from slacktide.errors import InvalidSettingError

_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?)\s*"
_DURATION: Final = re.compile(_NUMBER + "(ms|s|min|h|d)", re.ASCII)
_BYTES: Final = re.compile(_NUMBER + "([KMGTP]i?)?B", re.ASCII)
_LONGEST_DAYS: Final = 36_525
_MICROSECONDS: Final = {
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_POWERS: Final = {letter: power for power, letter in enumerate("KMGTP", 1)}


def parse_duration(text: object, *, setting: str = "the value") -> timedelta:
    """Read a duration: a number and one of the units ms, s, min, h and d.

    Raises:
        InvalidSettingError: the value is none; the message names the setting.
    """
    match = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InvalidSettingError(
            f"{setting} is {text!r}, which is not a duration",
            hint="write a number with a unit (ms, s, min, h or d), as in 30s or 10min",
        )
    microseconds = Decimal(match[1]) * _MICROSECONDS[match[2]]
    if microseconds > _LONGEST_DAYS * _MICROSECONDS["d"]:
        raise InvalidSettingError(
            f"{setting} is {text!r}, which is too long", hint="give a duration of at most a century"
        )
    return timedelta(microseconds=int(microseconds))


def parse_bytes(value: object, *, setting: str = "the value") -> int:
    """Read a byte count: a whole number, or a number with a unit.

    Raises:
        InvalidSettingError: the value is none; the message names the setting.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = _BYTES.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise InvalidSettingError(
            f"{setting} is {value!r}, which is not a number of bytes",
            hint="write a whole number, or a number with a unit, as in 500MB, 2GB or 1GiB",
        )
    unit = match[2] or ""
    factor = 1024 if unit.endswith("i") else 1000
    return int(Decimal(match[1]) * factor ** (_POWERS[unit[0]] if unit else 0))
