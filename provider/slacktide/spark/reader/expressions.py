"""Expressions of a plan as scalars.

Three ways, tried in this order: a rule of `RULES` for the class; a function of the registry whose
every field is an argument or a mode of the session; otherwise the expression is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slacktide.algebra import nested
from slacktide.algebra.functions import USERS
from slacktide.algebra.literals import text_sql
from slacktide.algebra.relation import Rel
from slacktide.algebra.scalar import (
    Call,
    Case,
    Cast,
    Lambda,
    Literal,
    Reference,
    Scalar,
    Subquery,
)
from slacktide.spark.reader.constants import literal
from slacktide.spark.reader.context import Reading, Scope, Tree, UnreadableError, unreadable
from slacktide.spark.reader.tables import (
    FUNCTIONS,
    INVOKED,
    OPERATORS,
    TRANSPARENT,
    TRY,
    is_mode,
)

Rule = Callable[["Expressions", Tree, Scope], Scalar]

# Spark's numbers for functions with a value for each row: plain, by Arrow, of pandas.
_ROW_BY_ROW = frozenset({100, 101, 200})


class Expressions:
    """Reads expressions over the columns of a scope.

    Args:
        reading: what the query shares.
        relation: reads the plan of a scalar subquery.
    """

    def __init__(self, reading: Reading, relation: Callable[[Tree], Rel]) -> None:
        self.reading = reading
        self.relation = relation

    def read(self, tree: Tree, scope: Scope) -> Scalar:
        """Read one expression.

        Raises:
            UnreadableError: a part of it is not known.
        """
        kind = tree.get("e")
        if kind is None:
            raise unreadable(tree)
        rule = RULES.get(kind)
        if rule is not None:
            return rule(self, tree, scope)
        if kind in TRANSPARENT:
            return self.read(tree["f"]["child"], scope)
        known = OPERATORS.get(kind) or FUNCTIONS.get(kind)
        if known is not None:
            return self.call(tree, scope, known)
        call = self.call(tree, scope, self.registered(tree))
        self.reading.named.add(call)
        return call

    def registered(self, tree: Tree) -> str:
        """The function that makes a class of expression.

        Raises:
            UnreadableError: no function of the registry does.
        """
        names = self.reading.functions.get(tree["e"])
        if not names:
            raise unreadable(tree)
        return names[0]

    def call(self, tree: Tree, scope: Scope, name: str) -> Call:
        """Read a call whose fields are its arguments in order, and modes."""
        arguments: list[Scalar] = []
        tried = False
        for field, value in tree["f"].items():
            if isinstance(value, dict) and "e" in value:
                arguments.append(self.read(value, scope))
            elif isinstance(value, list) and all(isinstance(v, dict) and "e" in v for v in value):
                arguments += [self.read(item, scope) for item in value]
            else:
                tried |= self._mode(tree, field, value)
        if tried:
            name = TRY.get(name, "")
            if not name:
                raise unreadable(tree, " in TRY mode")
        return Call(name, tuple(arguments), tree["t"], tree["n"])

    def _mode(self, tree: Tree, field: str, value: Any) -> bool:
        """Check a field that is no expression; tell whether it asks for the try variant."""
        answer = is_mode(self.reading.modes, field, value)
        if answer is None:
            raise unreadable(tree, f" with {field}")
        return answer == "try"


def _attribute(_: Expressions, tree: Tree, scope: Scope) -> Scalar:
    reference = scope.get(tree["id"])
    if reference is None:
        raise UnreadableError("UNREADABLE_EXPRESSION", f"column {tree['name']} from outside")
    return reference


def _literal(_: Expressions, tree: Tree, __: Scope) -> Scalar:
    return literal(tree)


def _alias(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    return reader.read(tree["f"]["child"], scope)


def _cast(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    operand = reader.read(fields["child"], scope)
    if operand.type == tree["t"]:
        return operand
    answer = is_mode(reader.reading.modes, "evalMode", fields["evalMode"])
    if answer is None or is_mode(reader.reading.modes, "timeZoneId", fields["timeZoneId"]) is None:
        raise unreadable(tree, f" in {fields['evalMode']} mode")
    return Cast(operand, tree["t"], tree["n"], "try_cast" if answer == "try" else "cast")


def _chain(name: str) -> Rule:
    def rule(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
        operands = tuple(reader.read(item, scope) for item in tree["f"]["operands"])
        return Call(name, operands, tree["t"], tree["n"])

    return rule


def _if(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    branch = (reader.read(fields["predicate"], scope), reader.read(fields["trueValue"], scope))
    return Case((branch,), reader.read(fields["falseValue"], scope), tree["t"], tree["n"])


def _case(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    branches = tuple(
        (reader.read(pair["f"]["_1"], scope), reader.read(pair["f"]["_2"], scope))
        for pair in fields["branches"]
    )
    last = fields["elseValue"]
    otherwise = reader.read(last, scope) if last is not None else None
    return Case(branches, otherwise, tree["t"], tree["n"])


def _like(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    arguments = [reader.read(fields["left"], scope), reader.read(fields["right"], scope)]
    if fields["escapeChar"] != "\\":
        arguments.append(Literal(text_sql(fields["escapeChar"]), "STRING", nullable=False))
    return Call("like", tuple(arguments), tree["t"], tree["n"])


def _like_many(name: str) -> Rule:
    def rule(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
        fields = tree["f"]
        patterns = tuple(literal({"t": "STRING", "v": text}) for text in fields["patterns"])
        return Call(name, (reader.read(fields["child"], scope), *patterns), tree["t"], tree["n"])

    return rule


def _field(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """Read a field of a struct, or of each struct in an array.

    Catalyst goes by its place: pushed into a branch of a union, the name that it keeps is that of another branch.
    """
    child = reader.read(tree["f"]["child"], scope)
    struct = nested.part_types(child.type)[0] if nested.is_array(child.type) else child.type
    names = [name for name, _ in nested.fields(struct)]
    name = names[tree["f"]["ordinal"]]
    is_one_of_many = [one.casefold() for one in names].count(name.casefold()) > 1
    if is_one_of_many or text_sql(name) != f"'{name}'":
        raise unreadable(tree, " without a plain name")
    literal_name = Literal(text_sql(name), "STRING", nullable=False)
    return Call("field", (child, literal_name), tree["t"], tree["n"])


def _subquery(reader: Expressions, tree: Tree, _: Scope) -> Scalar:
    fields = tree["f"]
    if fields["outerAttrs"] or fields["joinCond"]:
        raise unreadable(tree, " with outer columns")
    query = reader.relation(fields["plan"])
    return Subquery(query, tree["t"], nullable=True)


def _lambda(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    columns = [reader.reading.column_of(argument) for argument in fields["arguments"]]
    inner = dict(scope)
    for argument, column in zip(fields["arguments"], columns, strict=True):
        inner[argument["id"]] = Reference(column.id, column.type, column.nullable)
    body = reader.read(fields["function"], inner)
    return Lambda(tuple(columns), body, tree["t"], tree["n"])


def _get_timestamp(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """to_timestamp with a format; its try variant differs from it in one field."""
    fields, modes = tree["f"], reader.reading.modes
    kinds = {"TIMESTAMP": "to_timestamp_ltz", "TIMESTAMP_NTZ": "to_timestamp_ntz"}
    name = kinds.get(tree["t"])
    if name is None or fields["timeZoneId"] != modes.zone:
        raise unreadable(tree)
    if fields["failOnError"] != modes.ansi:
        if tree["t"] != "TIMESTAMP":
            raise unreadable(tree, " in TRY mode")
        name = "try_to_timestamp"
    arguments = (reader.read(fields["left"], scope), reader.read(fields["right"], scope))
    return Call(name, arguments, tree["t"], tree["n"])


def _rounding(name: str) -> Rule:
    """Read FLOOR and CEIL to a scale, whose type is that of the function with two arguments."""

    def rule(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
        fields = tree["f"]
        arguments = (reader.read(fields["child"], scope), reader.read(fields["scale"], scope))
        return Call(name, arguments, tree["t"], tree["n"])

    return rule


def _invoked(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """What the optimiser made of a function: a call of a static method that we know."""
    fields = tree["f"]
    place = fields["staticObject"]
    owner = place["class"].rpartition(".")[2] if isinstance(place, dict) else "?"
    key = (owner, fields["functionName"])
    known = INVOKED.get(key)
    if known is None:
        raise unreadable(tree, f" of {owner}.{fields['functionName']}")
    name, keep = known
    arguments = tuple(reader.read(item, scope) for item in fields["arguments"][:keep])
    return Call(name, arguments, tree["t"], tree["n"])


def _collate(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """An explicit collation is stronger than that of a cast; its name is that of the type."""
    name = tree["t"].removeprefix("STRING").removeprefix(" COLLATE ") or "UTF8_BINARY"
    named = Literal(text_sql(name), "STRING", nullable=False)
    child = reader.read(tree["f"]["child"], scope)
    return Call("collate", (child, named), tree["t"], tree["n"])


def _users(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """A function of a user over one row; Spark calls it by batches of rows, and keeps their order."""
    if tree["f"]["evalType"] not in _ROW_BY_ROW:
        raise unreadable(tree, f" {tree['f']['name']} of rows together")
    return users_call(reader, tree, scope)


def users_call(reader: Expressions, tree: Tree, scope: Scope) -> Call:
    """Read a call of a function of a user, whatever it is called over."""
    fields = tree["f"]
    name = Literal(text_sql(fields["name"]), "STRING", nullable=False)
    arguments = (reader.read(item, scope) for item in fields["children"])
    return Call(USERS, (name, *arguments), tree["t"], tree["n"])


def _size(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    """Read SIZE, which without ANSI mode says -1 of NULL, unlike ARRAY_SIZE."""
    child = reader.read(tree["f"]["child"], scope)
    name = "size"
    if tree["f"]["legacySizeOfNull"] == reader.reading.modes.ansi:
        if reader.reading.modes.ansi or not child.type.startswith("ARRAY<"):
            raise unreadable(tree, " with another size of NULL")
        name = "array_size"
    return Call(name, (child,), tree["t"], tree["n"])


def _array_insert(reader: Expressions, tree: Tree, scope: Scope) -> Scalar:
    fields = tree["f"]
    if fields["legacyNegativeIndex"]:
        raise unreadable(tree, " with legacyNegativeIndex")
    names = ("srcArrayExpr", "posExpr", "itemExpr")
    arguments = tuple(reader.read(fields[name], scope) for name in names)
    return Call("array_insert", arguments, tree["t"], tree["n"])


RULES: Mapping[str, Rule] = {
    "Alias": _alias,
    "And": _chain("and"),
    "ArrayInsert": _array_insert,
    "AttributeReference": _attribute,
    "CaseWhen": _case,
    "Collate": _collate,
    "Cast": _cast,
    "GetArrayStructFields": _field,
    "GetStructField": _field,
    "GetTimestamp": _get_timestamp,
    "If": _if,
    "LambdaFunction": _lambda,
    "Like": _like,
    "LikeAll": _like_many("like all"),
    "LikeAny": _like_many("like any"),
    "Literal": _literal,
    "NamedLambdaVariable": _attribute,
    "NotLikeAll": _like_many("not like all"),
    "NotLikeAny": _like_many("not like any"),
    "Or": _chain("or"),
    "PythonUDF": _users,
    "RoundCeil": _rounding("ceil"),
    "RoundFloor": _rounding("floor"),
    "ScalarSubquery": _subquery,
    "Size": _size,
    "StaticInvoke": _invoked,
}
