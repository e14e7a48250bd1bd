"""How operators and functions are written in SQL: a table of forms; every other name is a function.

A `Call` names its operator by its SQL sign or words in lower case (``+``, ``and``, ``like any``). What
does not stand in `FORMS` is written ``name(argument, …)``. A function of a user is `USERS`, with its name as
the first argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Texts = Sequence[str]
Form = Callable[[Texts], str]

INFIX = frozenset(
    {"+", "-", "*", "/", "div", "%", "=", "<=>", "<", "<=", ">", ">=", "and", "or", "rlike"}
    | {"&", "|", "^", "||"}
)
USERS = "udf"
COMPARISONS = frozenset({"=", "<=>", "<", "<=", ">", ">="})


def _infix(sign: str) -> Form:
    word = f" {sign.upper()} "
    return lambda arguments: "(" + word.join(arguments) + ")"


def _like(words: str) -> Form:
    def form(arguments: Texts) -> str:
        escape = f" ESCAPE {arguments[2]}" if len(arguments) > 2 else ""
        return f"({arguments[0]} {words} {arguments[1]}{escape})"

    return form


def _listed(words: str) -> Form:
    return lambda arguments: f"({arguments[0]} {words} ({', '.join(arguments[1:])}))"


def _trim(side: str) -> Form:
    def form(arguments: Texts) -> str:
        signs = f" {arguments[1]}" if len(arguments) > 1 else ""
        return f"trim({side}{signs} FROM {arguments[0]})"

    return form


FORMS: dict[str, Form] = {
    **{sign: _infix(sign) for sign in INFIX},
    "not": lambda arguments: f"(NOT {arguments[0]})",
    "negative": lambda arguments: f"(- {arguments[0]})",
    "~": lambda arguments: f"(~ {arguments[0]})",
    "isnull": lambda arguments: f"({arguments[0]} IS NULL)",
    "isnotnull": lambda arguments: f"({arguments[0]} IS NOT NULL)",
    "in": _listed("IN"),
    "like": _like("LIKE"),
    "like all": _listed("LIKE ALL"),
    "like any": _listed("LIKE ANY"),
    "not like all": _listed("NOT LIKE ALL"),
    "not like any": _listed("NOT LIKE ANY"),
    "item": lambda arguments: f"{arguments[0]}[{arguments[1]}]",
    "field": lambda arguments: f"{arguments[0]}.{_name(arguments[1])}",
    USERS: lambda arguments: f"{_name(arguments[0])}({', '.join(arguments[1:])})",
    "extract second": lambda arguments: f"extract(SECOND FROM {arguments[0]})",
    "trim": _trim("BOTH"),
    "ltrim": _trim("LEADING"),
    "rtrim": _trim("TRAILING"),
}


def _name(literal: str) -> str:
    return "`" + literal[1:-1].replace("`", "``") + "`"


def call_sql(function: str, arguments: Texts) -> str:
    """Write a call of an operator or a function over the texts of its arguments."""
    form = FORMS.get(function)
    return form(arguments) if form else f"{function}({', '.join(arguments)})"
