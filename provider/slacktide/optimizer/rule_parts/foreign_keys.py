"""Foreign keys that hold at the start and at the end of a run, and the joins that go by them.

Where every non-NULL `fk` of R has its row in S, whose key `pk` is unique, a key that came to S had no
row in R before, and one that is gone from S has none after. The joins for which this says something
are found here; what it says stands in `slacktide.optimizer.rules.foreign_key_join`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra.equalities import Equality, parts_of
from slacktide.algebra.scalar import Column, Reference, Scalar

Origin = tuple[r.Scan, str]  # a column of a source


@dataclass(frozen=True, slots=True, order=True)
class ForeignKey:
    """Columns of a source of which each row, unless one is NULL, has its row in another source.

    Attributes:
        source: the referring source.
        columns: of it, in the order of `key`.
        target: the source referred to.
        key: columns by which its rows are told apart.
    """

    source: str
    columns: tuple[str, ...]
    target: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}({', '.join(self.columns)}) -> {self.target}({', '.join(self.key)})"

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that it speaks of."""
        return tuple(dict.fromkeys((self.source, self.target)))


@dataclass(frozen=True, slots=True)
class Referring:
    """A join in which rows of one side refer to keys of a scan below the other.

    Attributes:
        foreign_keys: what must hold for that.
        source: the side of the referring rows.
        target: the other side.
        anchor: the scan of the source referred to.
        key: columns of the anchor that identify its rows.
        path: the target and what lies below it, down to the anchor, which is not in it.
    """

    foreign_keys: frozenset[ForeignKey]
    source: r.Rel
    target: r.Rel
    anchor: r.Scan
    key: r.Columns
    path: tuple[r.Rel, ...]


def referring(rel: r.Join, foreign_keys: Collection[ForeignKey]) -> Referring | None:
    """Find the foreign keys that a join goes by; None where there are none."""
    parts = parts_of(rel)
    plain = [equal for equal in parts.equalities if equal.operator == "=" and _is_plain(equal)]
    for source, target in ((rel.left, rel.right), (rel.right, rel.left)):
        is_left = source == rel.left
        sided = [(e.left, e.right) if is_left else (e.right, e.left) for e in plain]
        found = _one_way(source, target, sided, foreign_keys)
        if found is not None:
            return found
    return None


def _is_plain(equal: Equality) -> bool:
    return isinstance(equal.left, Reference) and isinstance(equal.right, Reference)


def _one_way(
    source: r.Rel,
    target: r.Rel,
    values: Sequence[tuple[Scalar, Scalar]],
    foreign_keys: Collection[ForeignKey],
) -> Referring | None:
    found: dict[r.Scan, dict[str, set[Origin]]] = {}
    paths: dict[r.Scan, tuple[r.Rel, ...]] = {}
    for own, other in values:
        below, carried = _anchor(target, other), _carried(source, own)
        if below is not None and carried:
            anchor, name, paths[anchor] = below
            found.setdefault(anchor, {})[name] = carried
    for anchor, names in found.items():
        held = _held(anchor.source, names, foreign_keys)
        if held:
            keyed = next(iter(held)).key
            key = tuple(column for name in keyed for column in anchor.fields if column.name == name)
            return Referring(held, source, target, anchor, key, paths[anchor])
    return None


def _held(
    target: str, names: dict[str, set[Origin]], foreign_keys: Collection[ForeignKey]
) -> frozenset[ForeignKey]:
    """Those by which all that a side carries refers to keys of a source; none where one lacks."""
    for foreign_key in sorted(foreign_keys):
        if foreign_key.target != target or not names.keys() >= set(foreign_key.key):
            continue
        if len(foreign_key.key) > 1:
            scans = {scan for name in foreign_key.key for scan, _ in names[name]}
            wanted = dict(zip(foreign_key.key, foreign_key.columns, strict=True))
            fits = all({column for _, column in names[k]} == {wanted[k]} for k in foreign_key.key)
            if len(scans) == 1 and fits and {scan.source for scan in scans} == {foreign_key.source}:
                return frozenset({foreign_key})
            continue
        origins = {(scan.source, column) for scan, column in names[foreign_key.key[0]]}
        same = [
            other
            for other in foreign_keys
            if (other.target, other.key) == (target, foreign_key.key)
        ]
        by_origin = {(other.source, other.columns[0]): other for other in same}
        if origins <= by_origin.keys():
            return frozenset(by_origin[origin] for origin in origins)
    return frozenset()


def _anchor(root: r.Rel, key: Scalar) -> tuple[r.Scan, str, tuple[r.Rel, ...]] | None:
    """The scan that a column comes from, where all between them is linear in that scan."""
    path: list[r.Rel] = []
    rel, column = root, key
    while isinstance(column, Reference):
        match rel:
            case r.Scan():
                return rel, _named(rel, column.column), tuple(path)
            case r.Filter() | r.Sort():
                below = rel.child
            case r.Project():
                below, column = rel.child, _value(rel, column)
            case r.Join() if rel.kind == "inner":
                below = _side(rel, column)
            case _:
                return None
        path.append(rel)
        rel = below
    return None


def _carried(root: r.Rel, value: Scalar) -> set[Origin]:
    """The columns of scans of whose rows a column has its values, or NULL; none where others may be."""
    found: set[Origin] = set()
    waiting: list[tuple[r.Rel, Scalar]] = [(root, value)]
    while waiting:
        rel, column = waiting.pop()
        if not isinstance(column, Reference):
            return set()
        if isinstance(rel, r.Scan):
            found.add((rel, _named(rel, column.column)))
            continue
        below = list(_below(rel, column))
        if not below:
            return set()
        waiting += below
    return found


def _below(rel: r.Rel, column: Reference) -> Iterator[tuple[r.Rel, Scalar]]:
    """Where the values of a column come from; nothing where the relation makes them."""
    match rel:
        case r.Filter() | r.Sort() | r.Limit():
            yield rel.child, column
        case r.Project():
            yield rel.child, _value(rel, column)
        case r.Aggregate():
            yield from ((rel.child, k.value) for k in rel.keys if k.column.id == column.column)
        case r.Join() if rel.marker is None or rel.marker.id != column.column:
            yield _side(rel, column), column
        case r.Window() | r.Generate() if _has(rel.child, column):
            yield rel.child, column
        case r.Union():
            place = [field.id for field in rel.fields].index(column.column)
            for child in rel.children:
                own: Column = child.columns[place]
                yield child, Reference(own.id, own.type, own.nullable)
        case _:
            pass


def _has(rel: r.Rel, column: Reference) -> bool:
    return any(own.id == column.column for own in rel.columns)


def _side(rel: r.Join, column: Reference) -> r.Rel:
    return rel.left if _has(rel.left, column) else rel.right


def _value(rel: r.Project, column: Reference) -> Scalar:
    return next(output.value for output in rel.outputs if output.column.id == column.column)


def _named(scan: r.Scan, column: int) -> str:
    return next(field.name for field in scan.fields if field.id == column)
