"""Reading columns and scalars, by loops: an expression may be deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.result_types import aggregate_type, call_type
from slacktide.algebra.textual.tokens import Token, Tokens, unquote
from slacktide.algebra.textual.vocabulary import INFIX, MARKERS, literal_type
from slacktide.algebra.types import DataType

T = TypeVar("T")
Typed = tuple[DataType, bool]


@dataclass(slots=True)
class _Frame:
    """An open bracket: what stood before it, and what was read behind it so far."""

    head: str
    items: list[s.Scalar | str] = field(default_factory=list)
    parameters: tuple[s.Column, ...] = ()

    def scalars(self) -> tuple[s.Scalar, ...]:
        return tuple(item for item in self.items if not isinstance(item, str))

    def marks(self) -> list[str]:
        return [item for item in self.items if isinstance(item, str)]


class Reader:
    """Reads what stands in one line.

    Args:
        tokens: the line.
        columns: the columns that untyped references mean.
        queries: the queries of scalar subqueries, in order.
    """

    def __init__(
        self, tokens: Tokens, columns: Sequence[s.Column], queries: Sequence[r.Rel]
    ) -> None:
        self.tokens = tokens
        self._queries = queries
        self._columns: Mapping[int, s.Column] = {column.id: column for column in columns}

    # ------------------------------------------------------------ columns

    def column(self) -> s.Column:
        """Read the definition of a column."""
        name, number = self._name_and_id()
        data_type, nullable = self._type()
        return s.Column(number, name, data_type, nullable)

    def columns(self) -> tuple[s.Column, ...]:
        """Read definitions of columns in brackets."""
        return tuple(self.listed(self.column))

    def listed(self, read: Callable[[], T]) -> list[T]:
        """Read things in brackets with commas between them."""
        self.tokens.take("sign", "[")
        found: list[T] = []
        while not self.tokens.skip("]"):
            if found:
                self.tokens.take("sign", ",")
            found.append(read())
        return found

    def assignment(self) -> s.Assignment:
        """Read a new column and its value, or the id of a column that passes through."""
        name, number = self._name_and_id()
        if not name and self.tokens.peek().text in {",", "]"}:
            return s.identity(self._known(number))
        typed = self._type_if_any()
        self.tokens.take("sign", ":=")
        value = self.scalar()
        return s.Assignment(s.Column(number, name, *(typed or (value.type, value.nullable))), value)

    def measure(self) -> s.Measure:
        """Read a new column and its aggregate."""
        name, number = self._name_and_id()
        typed = self._type_if_any()
        self.tokens.take("sign", ":=")
        call = self.aggregate_call()
        return s.Measure(s.Column(number, name, *(typed or (call.type, call.nullable))), call)

    def _name_and_id(self) -> tuple[str, int]:
        name = ""
        if self.tokens.peek().kind in {"word", "quoted"}:
            name = unquote(self.tokens.take().text)
        return name, int(self.tokens.take("ref").text[1:])

    def _known(self, number: int) -> s.Column:
        if number not in self._columns:
            raise self.tokens.error(f"#{number} is none of {sorted(self._columns)}")
        return self._columns[number]

    def _type(self) -> Typed:
        text = self.tokens.take("type").text[1:]
        return unquote(text.removesuffix("!")), not text.endswith("!")

    def _type_if_any(self) -> Typed | None:
        return self._type() if self.tokens.peek().kind == "type" else None

    # ------------------------------------------------------------ scalars

    def scalar(self) -> s.Scalar:
        """Read an expression."""
        first = self._begin()
        if not isinstance(first, _Frame):
            return first
        frame = self._body(first)
        return self._close(frame)

    def aggregate_call(self) -> s.AggregateCall:
        """Read an aggregate over its arguments."""
        first = self._begin()
        if not isinstance(first, _Frame) or not first.head:
            raise self.tokens.error("an aggregate expected")
        frame = self._body(first)
        distinct = frame.items[:1] == ["distinct"]
        items = frame.items[1:] if distinct else frame.items
        condition = None
        if len(items) > 1 and items[-2] == "where" and not isinstance(items[-1], str):
            condition, items = items[-1], items[:-2]
        arguments = tuple(item for item in items if not isinstance(item, str))
        name = unquote(frame.head)
        typed = self._type_if_any() or aggregate_type(name, arguments)
        if typed is None:
            raise self.tokens.error(f"{name} needs a type")
        return s.AggregateCall(name, arguments, distinct, condition, *typed)

    def _begin(self) -> _Frame | s.Scalar:
        """Read an atom, or an opening bracket."""
        token = self.tokens.take()
        match token.kind:
            case "ref":
                return self._reference(int(token.text[1:]))
            case "open":
                return self._open(token.text[:-1])
            case "sign" if token.text == "(":
                return _Frame("")
            case _:
                return self._literal(token)

    def _open(self, head: str) -> _Frame | s.Scalar:
        if head == "query":
            number = int(self.tokens.take("number").text)
            self.tokens.take("sign", ")")
            if not 0 < number <= len(self._queries):
                raise self.tokens.error(f"there is no query {number}")
            return s.Subquery(self._queries[number - 1], *self._type())
        frame = _Frame(head)
        if head == "lambda":
            frame.parameters = self.columns()
            self.tokens.take("sign", ",")
        return frame

    def _reference(self, number: int) -> s.Scalar:
        typed = self._type_if_any()
        if typed is None:
            return s.reference(self._known(number))
        return s.Reference(number, *typed)

    def _literal(self, token: Token) -> s.Scalar:
        if token.kind == "quoted":
            return s.Literal(unquote(token.text), *self._type())
        typed = literal_type(token.text)
        if typed is None:
            raise self.tokens.error(f"{token.text!r} is no expression")
        return s.Literal(token.text, *typed)

    def _body(self, first: _Frame) -> _Frame:
        """Read up to the bracket that closes `first`."""
        frames = [first]
        while True:
            token = self.tokens.peek()
            frame = frames[-1]
            if token.text == ")" and token.kind == "sign":
                self.tokens.take()
                frames.pop()
                if not frames:
                    return frame
                frames[-1].items.append(self._close(frame))
            elif _is_mark(token):
                frame.items.append(self.tokens.take().text)
            else:
                found = self._begin()
                if isinstance(found, _Frame):
                    frames.append(found)
                else:
                    frame.items.append(found)

    def _close(self, frame: _Frame) -> s.Scalar:
        match frame.head:
            case "":
                return self._infix(frame)
            case "cast" | "try_cast":
                return self._cast(frame)
            case "case":
                return self._case(frame)
            case "lambda":
                return s.Lambda(frame.parameters, frame.scalars()[0], *self._type())
            case _:
                return self._call(unquote(frame.head), frame.scalars())

    def _infix(self, frame: _Frame) -> s.Scalar:
        operators = set(frame.marks())
        if len(operators) != 1 or not operators <= INFIX:
            raise self.tokens.error(f"one operator expected between brackets, not {operators}")
        return self._call(operators.pop(), frame.scalars())

    def _call(self, name: str, arguments: tuple[s.Scalar, ...]) -> s.Scalar:
        typed = self._type_if_any() or call_type(name, arguments)
        if typed is None:
            raise self.tokens.error(f"{name} needs a type")
        return s.Call(name, arguments, *typed)

    def _cast(self, frame: _Frame) -> s.Scalar:
        (operand,), (target,) = frame.scalars(), frame.marks()
        nullable = operand.nullable or frame.head == "try_cast"
        if self.tokens.skip("!"):
            nullable = False
        elif self.tokens.skip("?"):
            nullable = True
        return s.Cast(operand, unquote(target.removeprefix("as ")), nullable, frame.head)

    def _case(self, frame: _Frame) -> s.Scalar:
        values = dict(zip(range(len(frame.scalars())), frame.scalars(), strict=True))
        otherwise = values.pop(len(values) - 1) if "else" in frame.marks() else None
        pairs = tuple((values[place], values[place + 1]) for place in range(0, len(values), 2))
        return s.Case(pairs, otherwise, *self._type())


def _is_mark(token: Token) -> bool:
    return (
        token.kind == "as"
        or (token.kind == "sign" and (token.text == "," or token.text in INFIX))
        or (token.kind == "word" and token.text in MARKERS)
    )
