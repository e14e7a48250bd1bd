"""Parameters of the 22 queries: how each is written into the text, and the values to use.

The defaults are the benchmark's validation values. At a hundredth of its smallest scale several of
them select next to nothing; `workable_parameters` widens those, so that every answer has rows and
feels small changes (but Q20, a list of suppliers that seldom changes, and Q2, Q11 and Q16 where
only orders and their lines do: they read neither). Where a parameter takes a list, one value is written ``= 'x'`` as in the
benchmark, several are written ``IN (…)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from slacktide.errors import InvalidSettingError

Value = str | int | float | Decimal | date | Iterable[str] | Iterable[int]
Writer = Callable[[object], str]

_SMALL = 0.1
_NATIONS = (
    *("ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY"),
    *("INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    *("PERU", "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA", "UNITED KINGDOM"),
    "UNITED STATES",
)
_REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_BRANDS = tuple(f"Brand#{maker}{line}" for maker in range(1, 6) for line in range(1, 6))
_METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
_FINISHES = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")


class _UnfitError(Exception):
    """A value that a parameter cannot take; the message says what it could."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: how it is written, and its validation value."""

    write: Writer
    default: Value


def _integer(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _UnfitError("a whole number")
    return str(value)


def _decimal(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise _UnfitError("a decimal number")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise _UnfitError("a decimal number") from None
    if not number.is_finite():
        raise _UnfitError("a decimal number")
    return f"{number:f}"


def _date(value: object) -> str:
    text = value.isoformat() if isinstance(value, date) else value
    try:
        day = date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        day = None
    if day is None:
        raise _UnfitError("a date such as 1995-03-15")
    return f"DATE '{day.isoformat()}'"


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _UnfitError("a text")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _word(value: object) -> str:
    """Write a piece of a LIKE pattern; signs that mean something in one are refused."""
    if not isinstance(value, str) or not all(sign.isalnum() or sign in " #-" for sign in value):
        raise _UnfitError("letters, digits, spaces, # and -")
    return value


def _one_of(write: Writer) -> Writer:
    def one_of(value: object) -> str:
        several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
        texts = [write(one) for one in value] if several else [write(value)]  # type: ignore[attr-defined]
        if not texts:
            raise _UnfitError("at least one value")
        return f"= {texts[0]}" if len(texts) == 1 else f"IN ({', '.join(texts)})"

    return one_of


_texts = _one_of(_text)
_integers = _one_of(_integer)


def _numbers(**defaults: int) -> dict[str, Parameter]:
    return {name: Parameter(_integer, default) for name, default in defaults.items()}


def _lists(**defaults: str | tuple[str, ...]) -> dict[str, Parameter]:
    return {name: Parameter(_texts, default) for name, default in defaults.items()}


def _words(**defaults: str) -> dict[str, Parameter]:
    return {name: Parameter(_word, default) for name, default in defaults.items()}


def _day(default: str) -> dict[str, Parameter]:
    return {"date": Parameter(_date, default)}


PARAMETERS: Mapping[str, Mapping[str, Parameter]] = MappingProxyType(
    {
        "q1": _numbers(delta=90),
        "q2": {"size": Parameter(_integers, 15)}
        | _words(type="BRASS")
        | _lists(region="EUROPE")
        | _numbers(limit=100),
        "q3": _lists(segment="BUILDING") | _day("1995-03-15") | _numbers(limit=10),
        "q4": _day("1993-07-01"),
        "q5": _lists(region="ASIA") | _day("1994-01-01"),
        "q6": _day("1994-01-01")
        | {"discount": Parameter(_decimal, Decimal("0.06"))}
        | _numbers(quantity=24),
        "q7": _lists(nation1="FRANCE", nation2="GERMANY"),
        "q8": _lists(nation="BRAZIL", region="AMERICA", type="ECONOMY ANODIZED STEEL"),
        "q9": _words(color="green"),
        "q10": _day("1993-10-01") | _numbers(limit=20),
        "q11": _lists(nation="GERMANY") | {"fraction": Parameter(_decimal, Decimal("0.0001"))},
        "q12": _lists(shipmodes=("MAIL", "SHIP")) | _day("1994-01-01"),
        "q13": _words(word1="special", word2="requests"),
        "q14": _day("1995-09-01"),
        "q15": _day("1996-01-01") | _numbers(months=3),
        "q16": {"brand": Parameter(_text, "Brand#45")}
        | _words(type="MEDIUM POLISHED")
        | {"sizes": Parameter(_integers, (49, 14, 23, 45, 19, 3, 36, 9))},
        "q17": _lists(brand="Brand#23", container="MED BOX"),
        "q18": _numbers(quantity=300, limit=100),
        "q19": _lists(brand1="Brand#12", brand2="Brand#23", brand3="Brand#34")
        | _numbers(quantity1=1, quantity2=10, quantity3=20, span=10),
        "q20": _words(color="forest") | _day("1994-01-01") | _lists(nation="CANADA"),
        "q21": _lists(nation="SAUDI ARABIA") | _numbers(limit=100),
        "q22": _lists(codes=("13", "31", "23", "29", "30", "18", "17")),
    }
)
"""The parameters of each query by name."""


def write_parameters(query: str, values: Mapping[str, Value]) -> dict[str, str]:
    """Give every parameter of a query as SQL text: the given values, and the defaults.

    Raises:
        InvalidSettingError: a name that the query does not have, or a value it cannot take.
    """
    parameters = PARAMETERS[query]
    for name in values:
        if name not in parameters:
            raise InvalidSettingError(
                f"{query} has no parameter {name!r}", hint=f"it has {', '.join(parameters)}"
            )
    texts = {}
    for name, parameter in parameters.items():
        value = values.get(name, parameter.default)
        try:
            texts[name] = parameter.write(value)
        except _UnfitError as error:
            raise InvalidSettingError(
                f"parameter {name!r} of {query} cannot be {value!r}", hint=f"give {error}"
            ) from error
    return texts


def workable_parameters(scale: float) -> dict[str, dict[str, Value]]:
    """Give parameters per query under which answers have rows, and change, at this scale.

    From a tenth of scale 1 on these are the benchmark's own (the fraction of Q11 follows the scale
    at every scale, as the benchmark says).
    """
    if not scale > 0:
        raise InvalidSettingError(f"scale {scale!r} is not positive", hint="such as 0.01 or 1")
    fraction = Decimal("0.0001") / Decimal(str(scale))
    found: dict[str, dict[str, Value]] = {query: {} for query in PARAMETERS}
    if scale >= _SMALL:
        found["q11"] = {"fraction": fraction}
        return found
    economy = tuple(f"ECONOMY {finish} {metal}" for finish in _FINISHES for metal in _METALS)
    widened: dict[str, dict[str, Value]] = {
        "q2": {"type": "", "size": (15, 16, 17, 18, 19), "region": _REGIONS, "limit": 1000},
        "q3": {"segment": ("BUILDING", "MACHINERY"), "limit": 1000},
        "q5": {"region": ("ASIA", "EUROPE", "AMERICA")},
        "q7": {"nation1": _NATIONS[:5], "nation2": _NATIONS[5:10]},
        "q8": {"nation": ("BRAZIL", "CANADA", "PERU"), "type": economy},
        "q10": {"limit": 1000},
        "q11": {"nation": ("GERMANY", "FRANCE", "CHINA", "PERU"), "fraction": fraction / 10},
        "q15": {"date": "1993-01-01", "months": 48},
        "q17": {"brand": _BRANDS[:15], "container": ("MED BOX", "MED BAG", "LG BOX", "SM CASE")},
        "q18": {"quantity": 225, "limit": 1000},
        "q19": {
            **dict.fromkeys(("brand1", "brand2", "brand3"), _BRANDS),
            **dict.fromkeys(("quantity1", "quantity2", "quantity3"), 1),
            "span": 50,
        },
        "q20": {"color": "sp", "nation": _NATIONS},
        "q21": {"nation": _NATIONS[:10]},
        "q22": {"codes": tuple(str(code) for code in range(10, 30))},
    }
    return found | widened
