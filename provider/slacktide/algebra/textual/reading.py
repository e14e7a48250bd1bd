"""Reading relations from text, by a loop over its lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual.expressions import Reader
from slacktide.algebra.textual.tokens import Tokens, unquote
from slacktide.algebra.textual.vocabulary import DEEPEST, INDENT
from slacktide.errors import InvariantError

Inputs = tuple[r.Rel, ...]


@dataclass(slots=True)
class _Open:
    """A line whose inputs are still to come."""

    tokens: Tokens
    label: str
    kind: str
    arity: int
    queries: int
    below: list[r.Rel] = field(default_factory=list)

    def is_complete(self) -> bool:
        return len(self.below) == self.arity + self.queries

    def build(self) -> r.Rel:
        children = tuple(self.below[: self.arity])
        columns = [column for child in children for column in child.columns]
        reader = Reader(self.tokens, columns, self.below[self.arity :])
        rel = _KINDS[self.kind][1](reader, children)
        if self.tokens:
            raise self.tokens.error(f"nothing expected before {self.tokens.peek().text!r}")
        return rel


def from_text(text: str) -> r.Rel:
    """Read what `to_text` wrote, or what a person wrote in its form.

    Raises:
        InvariantError: the text is none of a relation; the message names the line.
    """
    labels: dict[str, r.Rel] = {}
    waiting: list[_Open] = []
    root: r.Rel | None = None
    for line in text.split("\n"):
        if not line.strip():
            continue
        if root is not None:
            raise InvariantError(f"a plan's text goes on behind its end: {line.strip()!r}")
        _check_indent(line, len(waiting))
        waiting.append(_read_head(line, labels))
        root = _close(waiting, labels)
    if root is None:
        raise InvariantError("a plan's text ends before its last input")
    return root


def _check_indent(line: str, depth: int) -> None:
    due = INDENT * min(depth, DEEPEST)
    if len(line) - len(line.lstrip(" ")) != due:
        raise InvariantError(f"a line of a plan must be indented by {due}: {line.strip()!r}")


def _read_head(line: str, labels: Mapping[str, r.Rel]) -> _Open:
    tokens = Tokens(line)
    label = tokens.take().text if tokens.peek().kind == "label" else ""
    if label and not tokens:
        if label not in labels:
            raise tokens.error("no line above has this label")
        return _Open(tokens, "", "", 1, 0, [labels[label]])
    if label:
        tokens.take("sign", "=")
    kind = tokens.take("word").text
    if kind not in _KINDS:
        raise tokens.error(f"there is no relation {kind!r}")
    arity = _KINDS[kind][0]
    if arity is None:
        arity = int(tokens.take("number").text)
    return _Open(tokens, label, kind, arity, tokens.count_of("open", "query("))


def _close(waiting: list[_Open], labels: dict[str, r.Rel]) -> r.Rel | None:
    """Build what is complete; give the root when nothing waits any more."""
    while waiting[-1].is_complete():
        head = waiting.pop()
        rel = head.build() if head.kind else head.below[0]
        if head.label:
            labels[head.label] = rel
        if not waiting:
            return rel
        waiting[-1].below.append(rel)
    return None


def _scan(reader: Reader, _: Inputs) -> r.Rel:
    token = reader.tokens.take()
    if token.kind not in {"word", "quoted"}:
        raise reader.tokens.error("the name of a source expected")
    return r.Scan(unquote(token.text), reader.columns())


def _rows(reader: Reader) -> tuple[tuple[s.Scalar, ...], ...]:
    rows = []
    while reader.tokens:
        rows.append(tuple(reader.listed(reader.scalar)))
    return tuple(rows)


def _values(reader: Reader, _: Inputs) -> r.Rel:
    return r.Values(reader.columns(), _rows(reader))


def _range(reader: Reader, _: Inputs) -> r.Rel:
    start, end, step = (int(reader.tokens.take("number").text) for _ in range(3))
    return r.Range(start, end, step, reader.column())


def _project(reader: Reader, below: Inputs) -> r.Rel:
    return r.Project(below[0], tuple(reader.listed(reader.assignment)))


def _join(reader: Reader, below: Inputs) -> r.Rel:
    kind = cast("r.JoinKind", reader.tokens.take("word").text)
    marker = None
    if kind == "existence":
        marker = reader.column()
    condition = reader.scalar() if reader.tokens.skip("on") else None
    return r.Join(below[0], below[1], kind, condition, marker)


def _aggregate(reader: Reader, below: Inputs) -> r.Rel:
    _named(reader, "key")
    keys = tuple(reader.listed(reader.assignment))
    return r.Aggregate(below[0], keys, tuple(reader.listed(reader.measure)))


def _limit(reader: Reader, below: Inputs) -> r.Rel:
    count = None if reader.tokens.skip("all") else int(reader.tokens.take("number").text)
    reader.tokens.take("word", "offset")
    return r.Limit(below[0], count, int(reader.tokens.take("number").text))


def _sort_key(reader: Reader) -> s.SortKey:
    value = reader.scalar()
    ascending = reader.tokens.take("word").text == "asc"
    reader.tokens.take("word", "nulls")
    return s.SortKey(value, ascending, reader.tokens.take("word").text == "first")


def _sort_keys(reader: Reader) -> tuple[s.SortKey, ...]:
    return tuple(reader.listed(lambda: _sort_key(reader)))


def _window(reader: Reader, below: Inputs) -> r.Rel:
    _named(reader, "key")
    partition = tuple(reader.listed(reader.scalar))
    _named(reader, "order")
    order = _sort_keys(reader)
    functions = tuple(reader.listed(lambda: _window_call(reader)))
    return r.Window(below[0], partition, order, functions)


def _window_call(reader: Reader) -> s.WindowCall:
    column = reader.column()
    reader.tokens.take("sign", ":=")
    call = reader.aggregate_call() if reader.tokens.skip("aggregate") else reader.scalar()
    if not isinstance(call, s.Call | s.AggregateCall):
        raise reader.tokens.error("a window function expected")
    reader.tokens.take("word", "over")
    return s.WindowCall(column, call, unquote(reader.tokens.take("quoted").text))


def _expand(reader: Reader, below: Inputs) -> r.Rel:
    fields = reader.columns()
    return r.Expand(below[0], _rows(reader), fields)


def _generate(reader: Reader, below: Inputs) -> r.Rel:
    outer = reader.tokens.skip("outer")
    generator = reader.scalar()
    _named(reader, "keep")
    kept = [ref for ref in reader.listed(reader.scalar) if isinstance(ref, s.Reference)]
    if not isinstance(generator, s.Call):
        raise reader.tokens.error("a generator expected")
    return r.Generate(below[0], generator, outer, tuple(kept), reader.columns())


def _named(reader: Reader, name: str) -> None:
    reader.tokens.take("word", name)
    reader.tokens.take("sign", "=")


_KINDS: Final[Mapping[str, tuple[int | None, Callable[[Reader, Inputs], r.Rel]]]] = {
    "scan": (0, _scan),
    "values": (0, _values),
    "range": (0, _range),
    "filter": (1, lambda reader, below: r.Filter(below[0], reader.scalar())),
    "project": (1, _project),
    "join": (2, _join),
    "aggregate": (1, _aggregate),
    "union": (None, lambda reader, below: r.Union(below, reader.columns())),
    "sort": (1, lambda reader, below: r.Sort(below[0], _sort_keys(reader))),
    "limit": (1, _limit),
    "window": (1, _window),
    "expand": (1, _expand),
    "generate": (1, _generate),
}
