"""Arguments of the public door, checked against the types that its signatures name.

A value of another type would else fail far below, in words that name neither the call nor the argument, or be
believed. What stands in a signature is what is checked: nothing is said twice.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from inspect import Parameter, Signature, isfunction, signature
from numbers import Integral, Real
from os import PathLike
from types import MappingProxyType
from typing import Any, Final, TypeVar

from slacktide.engine.plan import Plan
from slacktide.errors import InvalidSettingError, InvariantError
from slacktide.spark.sessions.handles import is_session

_Door = TypeVar("_Door")
_SECRET: Final = frozenset({"storage_options"})  # credentials may stand there: not to be repeated


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a name of a type asks of a value.

    Attributes:
        words: what such a value is, for the user.
        admits: whether a value is one.
    """

    words: str
    admits: Callable[[Any], bool]


def _of(*types: type) -> Callable[[Any], bool]:
    # True and False are numbers to Python, and to nobody who gives one.
    return lambda value: isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _is_text(value: Any) -> bool:
    # Half of a pair of UTF-16 is in no file.
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_list_of_texts(value: Any) -> bool:
    # The names of a mapping, or a set of them, do as well; the letters of a text are no names.
    is_list = isinstance(value, Collection) and not isinstance(value, str | bytes)
    return is_list and all(map(_is_text, value))


def _is_list_of_numbers(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_list and all(map(_of(Real), value))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


def _is_mapping_to_texts(value: Any) -> bool:
    return _is_mapping(value) and all(isinstance(one, str) for one in value.values())


_KINDS: Final[Mapping[str, _Kind]] = MappingProxyType(
    {
        "Callable[[str], None]": _Kind("a function that takes a text", callable),
        "Clock": _Kind("a function that gives the present instant", callable),
        "Mapping[str, Any]": _Kind("a mapping with names as keys", _is_mapping),
        "Mapping[str, str]": _Kind("a mapping from names to texts", _is_mapping_to_texts),
        "PathLike[str]": _Kind("a path", _of(PathLike)),
        "Plan": _Kind("a plan, as plan() gives it", _of(Plan)),
        "Sequence[float]": _Kind("a list of numbers", _is_list_of_numbers),
        "Sequence[str]": _Kind("a list of names", _is_list_of_texts),
        "SparkSession": _Kind("a session of Spark in this process that is at work", is_session),
        "bool": _Kind("True or False", _of(bool)),
        "datetime": _Kind("an instant (datetime.datetime)", _of(datetime)),
        "float": _Kind("a number", _of(Real)),
        "int": _Kind("a whole number", _of(Integral)),
        "str": _Kind("a text", _is_text),
        "timedelta": _Kind("a length of time (datetime.timedelta)", _of(timedelta)),
    }
)


def checked(door: type[_Door]) -> type[_Door]:
    """Let the public methods of a class refuse arguments of other types before they do anything.

    Raises:
        InvariantError: a signature names a type that cannot be told.
    """
    for name, member in [*vars(door).items()]:
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod):
            setattr(door, name, classmethod(_checking(member.__func__)))
        elif isfunction(member):
            setattr(door, name, _checking(member))
    return door


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    shape = signature(function)
    kinds = {name: _kinds_of(function, one) for name, one in _named(shape).items()}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = shape.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # says which argument is missing, or too many
        for argument, admitted in kinds.items():
            if argument in given and not any(one.admits(given[argument]) for one in admitted):
                raise _wrong(function.__name__, argument, given[argument], admitted)
        return function(*args, **kwargs)

    return call


def _named(shape: Signature) -> dict[str, Parameter]:
    """The arguments that have a type: neither the object itself nor settings, which have checks of their own."""
    return {
        name: one
        for name, one in shape.parameters.items()
        if name not in {"self", "cls"} and one.kind is not Parameter.VAR_KEYWORD
    }


def _kinds_of(function: Callable[..., Any], argument: Parameter) -> tuple[_Kind, ...]:
    nothing = _Kind("", lambda value: value is None)
    kinds = {**_KINDS, "None": nothing}
    names = str(argument.annotation).split(" | ")
    if not kinds.keys() >= {*names}:
        raise InvariantError(f"{function.__qualname__} does not say what {argument.name} is")
    return tuple(kinds[name] for name in names)


def _wrong(
    call: str, argument: str, value: object, admitted: tuple[_Kind, ...]
) -> InvalidSettingError:
    wanted = " or ".join(kind.words for kind in admitted if kind.words)
    shown = f"a {type(value).__name__}" if argument in _SECRET else reprlib.repr(value)
    return InvalidSettingError(
        f"{call}: {argument} is {shown}, which is not {wanted}",
        hint=f"give {argument}= {wanted}",
    )
