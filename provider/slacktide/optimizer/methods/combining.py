"""Intra-TVR rules: snapshots and changes of one relation from each other (tempura.md §2.2).

All states are sums and counts, so that every change of a state is a difference of states (I-6), too.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Has
from slacktide.optimizer.memo.rule import MemoRule, never
from slacktide.optimizer.memo.trait import SetDelta, SetSnap, Trait, ValDelta, ValSnap
from slacktide.optimizer.memo.versions import Version, instants_of, moved, predecessor, realised
from slacktide.program import operator as o

_LAST = 1


def rules(instants: int, *, is_guided: bool, is_pruned: bool) -> tuple[MemoRule, ...]:
    """The rules of this family.

    Args:
        instants: over which rules are matched.
        is_guided: leave changes over more than one interval out (§3.7).
        is_pruned: subtract snapshots only where there is no other way to a change (§3.6).
    """
    found = [
        _ask_at_all_instants(instants),
        MemoRule(
            name="add_change",
            identity="X_w = X_v + ΔX",
            source="Tempura: intra-TVR rules, +#",
            pattern=(Has("q", "snap", SetSnap),),
            apply=_add_change,
        ),
        MemoRule(
            name="extend_state",
            identity="S_w = S_v + ΔS",
            source="Tempura: intra-TVR rules, +γ",
            pattern=(Has("q", "state", ValSnap),),
            apply=_extend_state,
        ),
        MemoRule(
            name="subtract_snapshots",
            identity="ΔX = X_w − X_v",
            source="Tempura: intra-TVR rules, −#; pruning of non-promising alternatives",
            pattern=(Has("q", "delta", SetDelta),),
            apply=_subtract,
            importance=_LAST,
            skip=_has_another_way if is_pruned else never,
        ),
        MemoRule(
            name="subtract_states",
            identity="ΔS = S_w − S_v",
            source="Tempura: intra-TVR rules, −γ; pruning of non-promising alternatives",
            pattern=(Has("q", "delta", ValDelta),),
            apply=_subtract_states,
            importance=_LAST,
            skip=_has_another_way if is_pruned else never,
        ),
    ]
    return (*found, *(() if is_guided else _merging()))


def _merging() -> tuple[MemoRule, MemoRule]:
    """Changes over several intervals as sums of those over each: of rows, and of states."""
    source = "Tempura: intra-TVR rules, left out by guided exploration"
    changes = MemoRule(
        name="merge_changes",
        identity="X_w = X_u + (ΔX + ΔX)",
        source=source,
        pattern=(Has("q", "snap", SetSnap),),
        apply=_merge_changes,
    )
    states = MemoRule(
        name="merge_state_changes",
        identity="ΔS over two intervals = ΔS + ΔS",
        source=source,
        pattern=(Has("q", "delta", ValDelta),),
        apply=_merge_state_changes,
    )
    return changes, states


def _ask_at_all_instants(instants: int) -> MemoRule:
    """Without it a copied sample would lack what is asked for at the instant before it."""

    def ask(found: Binding, memo: Memo) -> None:
        q, trait = found["q"], found["trait"]
        hole = memo.groups.hole(memo.links(q)[trait])
        spoken = sorted(instants_of(*trait.versions()))
        if spoken:
            for shift in range(1 - spoken[0], instants - spoken[-1] + 1):
                later = trait.mapped(lambda version, by=shift: moved(version, by))
                memo.ask(q, later, hole.columns, of_state=hole.is_state)

    return MemoRule(
        name="ask_at_all_instants",
        identity="what is asked at v = what is asked at v + 1",
        source="Tempura: translational symmetry, which a sample must have itself",
        pattern=(Has("q", "trait", Trait),),
        apply=ask,
    )


def _add_change(found: Binding, memo: Memo) -> None:
    snap = found["snap"]
    before = predecessor(snap.version)
    if before is None:
        return
    q, columns = found["q"], memo.relation(found["q"]).columns
    old = memo.ask(q, SetSnap(before), columns)
    change = memo.ask(q, SetDelta(before, snap.version), columns)
    memo.fill(q, snap, o.Add((old, change), columns))


def _extend_state(found: Binding, memo: Memo) -> None:
    state = found["state"]
    before = predecessor(state.version)
    if before is None:
        return
    q, columns = found["q"], memo.groups.hole(memo.links(found["q"])[state]).columns
    old = memo.ask(q, ValSnap(state.layout, before), columns, of_state=True)
    delta = ValDelta(state.layout, before, state.version)
    change = memo.ask(q, delta, columns, of_state=True)
    memo.fill(q, state, o.Add((old, change), columns))


def _subtract(found: Binding, memo: Memo) -> None:
    q, delta = found["q"], found["delta"]
    columns = memo.relation(q).columns
    new = memo.ask(q, SetSnap(delta.end), columns)
    old = memo.ask(q, SetSnap(delta.start), columns)
    memo.fill(q, delta, o.Add((new, o.Negate(old)), columns))


def _subtract_states(found: Binding, memo: Memo) -> None:
    q, delta = found["q"], found["delta"]
    columns = memo.groups.hole(memo.links(q)[delta]).columns
    form = next((form for form in memo.forms(q) if form.digest == delta.layout), None)
    if not isinstance(form, r.Aggregate):
        return
    new, old = (
        memo.ask(q, ValSnap(delta.layout, version), columns, of_state=True)
        for version in (delta.end, delta.start)
    )
    count = len(form.keys)
    keys, partials = columns[:count], columns[count:]
    less = tuple(s.Assignment(column, _negative(column)) for column in partials)
    gone = o.Regroup(old, keys, None, tuple(map(s.identity, keys)), less)
    memo.fill(q, delta, o.Add((new, gone), columns))


def _negative(column: s.Column) -> s.Call:
    return s.Call("negative", (s.reference(column),), column.type, column.nullable)


def _has_another_way(found: Binding, memo: Memo) -> bool:
    return bool(memo.groups.expressions(memo.links(found["q"])[found["delta"]]))


def _merge_changes(found: Binding, memo: Memo) -> None:
    """Reach a snapshot from every earlier one by a change that is itself a sum of changes."""
    q, version = found["q"], found["snap"].version
    if len({number for number in version if number}) > 1:
        return
    columns = memo.relation(q).columns
    middle = predecessor(version)
    start = None if middle is None else predecessor(middle)
    while middle is not None and start is not None:
        wide = SetDelta(start, version)
        pieces = tuple(memo.ask(q, SetDelta(*ends), columns) for ends in _intervals(start, version))
        memo.fill(q, wide, o.Add(pieces, columns))
        old = memo.ask(q, SetSnap(start), columns)
        memo.fill(q, found["snap"], o.Add((old, memo.ask(q, wide, columns)), columns))
        start = predecessor(start)


def _merge_state_changes(found: Binding, memo: Memo) -> None:
    """Add what the groups of each interval were changed by: an early run has then added up what came until it."""
    q, delta = found["q"], found["delta"]
    intervals = _intervals(delta.start, delta.end)
    if len(intervals) < 2:
        return
    columns = memo.groups.hole(memo.links(q)[delta]).columns
    pieces = tuple(
        memo.ask(q, ValDelta(delta.layout, *ends), columns, of_state=True) for ends in intervals
    )
    memo.fill(q, delta, o.Add(pieces, columns))


def _intervals(start: Version, end: Version) -> list[tuple[Version, Version]]:
    found: list[tuple[Version, Version]] = []
    while realised(end) > realised(start):
        before = predecessor(end)
        if before is None:
            break
        found.append((before, end))
        end = before
    return found
