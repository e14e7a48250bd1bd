"""IM-2: hold back what may be retracted (tempura.md §2.3).

    Q = QP + QN at every version

QP never loses rows while its inputs lose none; what may be lost is in QN, computed when it is asked
for. Both are relations of the algebra, tied to that of Q, and all other rules know them as any other.
Applied only above tables that are append-only by declaration, not by what was seen. Above an
aggregate there is no split: its rows are replaced.
"""

from __future__ import annotations

from dataclasses import dataclass

from slacktide.algebra import relation as r
from slacktide.algebra.relation import Columns, Rel
from slacktide.algebra.tree import inputs
from slacktide.common.tree import graft
from slacktide.errors import InvariantError
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has, Leads, Reads
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetSnap, Tie, ValSnap
from slacktide.optimizer.rule_parts.additive import is_additive
from slacktide.optimizer.rule_parts.padding import padding_of
from slacktide.optimizer.rule_parts.shapes import Shapes
from slacktide.program import operator as o

_FIRST = 30


@dataclass(frozen=True, slots=True)
class Kept(Tie):
    """To the part of a relation that never loses rows: QP."""


@dataclass(frozen=True, slots=True)
class Held(Tie):
    """To the part that may be retracted: QN. A relation without this tie has none."""


@dataclass(frozen=True, slots=True)
class KeptGroups(Tie):
    """From an aggregate to the same one over the part of its input that never loses rows.

    Attributes:
        layout: digest of the aggregate; a relation may be more than one.
        part: digest of the one over the part.
    """

    layout: bytes
    part: bytes


@dataclass(frozen=True, slots=True)
class HeldGroups(Tie):
    """From an aggregate to the same one over the part of its input that may be retracted.

    Attributes:
        layout: digest of the aggregate.
        part: digest of the one over the part.
    """

    layout: bytes
    part: bytes


@dataclass(frozen=True, slots=True)
class Parts:
    """An input of an operator: all of it, and its parts; `held` is None where it has no rows."""

    whole: Rel
    kept: Rel
    held: Rel | None


def is_kept(tvr: int, memo: Memo) -> bool:
    """Whether a TVR never loses rows, as something was split into it and more."""
    return any(isinstance(tie, Kept | KeptGroups) for tie, _ in memo.tied(tvr))


def rules(shapes: Shapes, append_only: frozenset[str]) -> tuple[MemoRule, ...]:
    """The rules of this method.

    Args:
        shapes: columns that rules make.
        append_only: the tables whose rows never go, by declaration.
    """

    def split(found: Binding, memo: Memo) -> None:
        q, rel = found["q"], found["rel"]
        if not memo.used(q) <= append_only:
            return
        parts = [_parts(child, memo) for child in inputs(rel)]
        if any(part is None for part in parts):
            return
        both = _split(rel, [part for part in parts if part is not None], memo)
        if both is None:
            return
        kept, held = both
        if held is not None:
            memo.tie(q, Held(), memo.tvr(held))
        memo.tie(q, Kept(), memo.tvr(kept))

    def split_groups(found: Binding, memo: Memo) -> None:
        rel = found["rel"]
        part = _parts(rel.child, memo)
        if part is None or part.held is None:
            return
        for tie, below in ((HeldGroups, part.held), (KeptGroups, part.kept)):
            over = graft(rel, {rel.child.digest: below})
            shapes.state(over)
            memo.tie(found["q"], tie(rel.digest, over.digest), memo.tvr(over))

    split_input = (Reads("q", "rel", "x"), Leads("x", "tie", Kept, "p"))
    above = (Form("q", "rel", r.Relation), *split_input)
    grouped = (Form("q", "rel", r.Aggregate, is_additive), *split_input)
    identity = "Q = QP + QN, where all inputs are split"
    source = "Tempura: IM-2"
    return (
        MemoRule(
            "split_leaf", "R = R + ∅", source, (Form("q", "rel", r.Scan),), split, importance=_FIRST
        ),
        MemoRule("split_operator", identity, source, above, split, importance=_FIRST),
        MemoRule("split_groups", "γ(Q) = γ(QP) +γ γ(QN)", source, grouped, split_groups, _FIRST),
        MemoRule(
            "recombine_rows",
            "Q_v = QP_v + QN_v",
            source,
            (Leads("q", "tie", Kept, "p"), Has("q", "snap", SetSnap)),
            _recombine,
        ),
        MemoRule(
            "recombine_states",
            "S_v = SP_v + SN_v",
            source,
            (Leads("q", "tie", KeptGroups, "p"), Has("q", "state", ValSnap)),
            lambda found, memo: _recombine_states(found, memo, shapes),
        ),
    )


def _parts(rel: Rel, memo: Memo) -> Parts | None:
    """The parts of an input; None where it has not been split."""
    ties = memo.ties(memo.tvr(rel))
    if Kept() not in ties:
        return None
    held = memo.relation(ties[Held()]) if Held() in ties else None
    return Parts(rel, memo.relation(ties[Kept()]), held)


def _split(rel: Rel, parts: list[Parts], memo: Memo) -> tuple[Rel, Rel | None] | None:
    """QP and QN of an operator; None where all of it may be retracted."""
    match rel:
        case r.Scan():
            return rel, None
        case r.Filter() | r.Project() | r.Expand() | r.Generate() | r.Sort():
            (part,) = parts
            below = rel.child.digest
            held = None if part.held is None else graft(rel, {below: part.held})
            return graft(rel, {below: part.kept}), held
        case r.Union():
            held_parts = tuple(part.held for part in parts if part.held is not None)
            kept = r.Union(tuple(part.kept for part in parts), rel.fields)
            return kept, r.Union(held_parts, rel.fields) if held_parts else None
        case r.Join():
            left, right = parts
            return _split_join(rel, left, right, memo)
        case _:
            return None


def _split_join(
    rel: r.Join, left: Parts, right: Parts, memo: Memo
) -> tuple[Rel, Rel | None] | None:
    def join(one: Rel | None, other: Rel | None, kind: r.JoinKind) -> list[Rel]:
        if one is None or other is None:
            return []
        return [r.Join(one, other, kind, rel.condition)]

    def alone(one: Rel, other: Rel) -> Rel:
        return _padded(r.Join(one, other, "anti", rel.condition), rel.columns)

    held: list[Rel] = []
    match rel.kind:
        case "semi":
            (kept,) = join(left.kept, right.kept, "semi")
            held = join(left.held, right.whole, "semi")
            (unmet,) = join(left.kept, right.kept, "anti")
            held += join(unmet, right.held, "semi")
        case "anti" if not memo.used(memo.tvr(right.whole)):
            (kept,) = join(left.kept, right.whole, "anti")
            held = join(left.held, right.whole, "anti")
        case "inner" | "left" | "right" | "full":
            (kept,) = join(left.kept, right.kept, "inner")
            held = [*join(left.held, right.whole, "inner"), *join(left.kept, right.held, "inner")]
            if rel.kind in {"left", "full"}:
                held.append(alone(left.whole, right.whole))
            if rel.kind in {"right", "full"}:
                held.append(alone(right.whole, left.whole))
        case _:
            return None
    held = [_padded(part, rel.columns) for part in held]
    return _padded(kept, rel.columns), _union(held, rel.columns)


def _union(parts: list[Rel], columns: Columns) -> Rel | None:
    if len(parts) > 1:
        return r.Union(tuple(parts), columns)
    return parts[0] if parts else None


def _padded(rel: Rel, columns: Columns) -> Rel:
    """The same rows under columns that may be NULL, and are where the relation has none such."""
    if rel.columns == columns:
        return rel
    return r.Project(rel, padding_of(rel.columns, columns))


def _recombine(found: Binding, memo: Memo) -> None:
    q, snap = found["q"], found["snap"]
    ties = memo.ties(q)
    if Held() not in ties:
        return
    columns = memo.relation(q).columns
    holes = [memo.ask(ties[tie], snap, columns) for tie in (Kept(), Held())]
    memo.fill(q, snap, o.Add(tuple(holes), columns))


def _recombine_states(found: Binding, memo: Memo, shapes: Shapes) -> None:
    q, state = found["q"], found["state"]
    if found["tie"].layout != state.layout:
        return
    own = memo.groups.hole(memo.links(q)[state]).columns
    holes = []
    for tie, part in memo.ties(q).items():
        if isinstance(tie, KeptGroups | HeldGroups) and tie.layout == state.layout:
            over = next(form for form in memo.forms(part) if form.digest == tie.part)
            if not isinstance(over, r.Aggregate):
                raise InvariantError(f"{over.tag} has no partial aggregates")
            trait = ValSnap(tie.part, state.version)
            columns = shapes.state(over).columns
            holes.append(memo.ask(part, trait, columns, of_state=True))
    memo.fill(q, state, o.Add(tuple(holes), own))
