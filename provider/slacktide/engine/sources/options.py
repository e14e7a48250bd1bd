"""Options of Spark's readers that a source is given: those that would only fail at a run are refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from slacktide.errors import InvalidSettingError
from slacktide.store.entry import can_be_kept

# Spark reads exactly the accepted files, whole, or fails: these options would let it do otherwise.
_OWN_OPTIONS: Final = frozenset(
    {
        "basepath",
        "columnnameofcorruptrecord",
        "ignorecorruptfiles",
        "ignoreextension",
        "ignoremissingfiles",
        "inferschema",
        "mergeschema",
        "mode",
        "modifiedafter",
        "modifiedbefore",
        "path",
        "pathglobfilter",
        "recursivefilelookup",
        "schema",
    }
)
_SWITCHES: Final = frozenset(
    {
        "allowcomments",
        "allowsinglequotes",
        "allowunquotedfieldnames",
        "enforceschema",
        "escapequotes",
        "header",
        "ignoreleadingwhitespace",
        "ignoretrailingwhitespace",
        "multiline",
    }
)
# What Java knows besides the zones of regions: offsets, and abbreviations of three letters.
_OFFSET: Final = re.compile(r"Z|(UTC|GMT|UT)?([+-]\d{1,2}(:?\d{2}){0,2})?|[A-Z]{3}")


def check_options(options: Mapping[str, Any]) -> None:
    """Check the options of a source.

    Raises:
        InvalidSettingError: Slacktide sets one itself, one stands there twice, or has a value that it cannot have.
    """
    for name, value in options.items():
        _check(name, value)
    times = Counter(name.lower() for name in options)
    twice = [name for name in options if times[name.lower()] > 1]
    if twice:
        raise InvalidSettingError(
            f"options has {' and '.join(map(repr, twice))}, which are one option to Spark",
            hint="give it once",
        )


def _check(name: str, value: Any) -> None:
    low = name.lower()
    if low in _OWN_OPTIONS:
        raise InvalidSettingError(
            f"options has {name!r}, which Slacktide sets itself",
            hint="leave it out: every accepted file is read whole, or the run fails",
        )
    if not isinstance(value, str | int | float | bool) or not can_be_kept(value):
        raise wrong_value(f"options {name}", value, "a text, a finite number or a boolean")
    if low in _SWITCHES and str(value).lower() not in {"true", "false"}:
        raise wrong_value(f"options {name}", value, "true or false")
    if low == "timezone" and not _is_zone(str(value)):
        raise wrong_value(f"options {name}", value, "a time zone, as in Europe/Oslo or +02:00")


def _is_zone(name: str) -> bool:
    """Whether Spark knows a time zone, as far as that can be told without Java."""
    if name and _OFFSET.fullmatch(name):
        return True
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return not available_timezones()  # nothing is known here
    return True


def wrong_value(argument: str, value: object, wanted: str) -> InvalidSettingError:
    """Make the error for a value that an argument cannot have."""
    return InvalidSettingError(
        f"{argument} is {value!r}, which is not {wanted}", hint=f"{argument} must be {wanted}"
    )
