"""HOV: higher-order views, for changes of one relation at a time (tempura.md §2.5).

    Δ(R1 ⋈ … ⋈ Rn) = Σ over i of   ΔRi ⋈ Mi,   Mi = π(join of all Rj, j ≠ i)

In Mi the relations before i are as of after, those behind it as of before: Mi is asked for at a version
between two instants, and is maintained as any other relation, by views of higher order in its turn. Of
its columns it has those that the view or a condition asks for, and as a bag it counts equal rows once;
so it stands for the view γ that DBToaster would keep, and no value is ever multiplied by a count, which
Spark's decimals would round. What is connected through Ri alone stays apart, one view each.
"""

from __future__ import annotations

from typing import Final

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.equalities import conjunction
from slacktide.algebra.relation import Rel
from slacktide.algebra.totality import is_total
from slacktide.algebra.tree import references
from slacktide.optimizer.memo.memo import Memo
from slacktide.optimizer.memo.pattern import Binding, Form, Has
from slacktide.optimizer.memo.rule import MemoRule
from slacktide.optimizer.memo.trait import SetDelta, SetSnap
from slacktide.optimizer.rule_parts.clusters import Cluster, cluster_of
from slacktide.program import operator as o
from slacktide.program.operator import Operator

MOST_RELATIONS: Final = 6


def rules() -> tuple[MemoRule, ...]:
    """The rules of this method."""
    return (
        MemoRule(
            name="join_change_with_view",
            identity="ΔQ = Σ ΔRi ⋈ Mi",
            source="Tempura: HOV, after DBToaster",
            pattern=(Form("q", "rel", r.Relation, _is_joined), Has("q", "delta", SetDelta)),
            apply=_join_changes,
        ),
    )


def _is_joined(rel: r.Rel) -> bool:
    """Whether a relation joins few enough relations to keep a view for each."""
    if not isinstance(rel, r.Join | r.Filter | r.Project):
        return False
    cluster = cluster_of(rel)
    if not 2 <= len(cluster.members) <= MOST_RELATIONS or not cluster.is_distinct:
        return False
    # What may fail would be asked of rows that meet in no order of the query.
    return all(map(is_total, cluster.conditions))


def _join_changes(found: Binding, memo: Memo) -> None:
    rel, delta = found["rel"], found["delta"]
    cluster = cluster_of(rel)
    used = [memo.used(memo.tvr(member)) for member in cluster.members]
    if sum(map(len, used)) != len(frozenset().union(*used)):
        return  # a table that is joined with itself cannot change on one side alone
    changed = memo.tables.changed(delta.start, delta.end)
    columns = tuple(map(s.identity, rel.columns))
    terms = [
        o.Map(_term(cluster, place, delta, memo, rel), columns)
        for place, tables in enumerate(used)
        if tables & changed
    ]
    memo.fill(found["q"], delta, o.Add(tuple(terms), rel.columns))


def _term(cluster: Cluster, place: int, delta: SetDelta, memo: Memo, rel: Rel) -> Operator:
    """ΔRi with the views of all others, each as soon as it is connected."""
    earlier = frozenset[str]().union(
        *(memo.used(memo.tvr(member)) for member in cluster.members[:place])
    )
    version = memo.tables.step(delta.start, delta.end, earlier)
    member = cluster.members[place]
    rows: Operator = memo.ask(memo.tvr(member), delta, member.columns)
    own = conjunction(cluster.within([place]))
    if own is not None:
        rows = o.Select(rows, own)
    there, done = [place], set(cluster.within([place]))
    for part in cluster.components(place):
        done.update(cluster.within(part))
        open_ones = [c for c in cluster.conditions if c not in done]
        wanted = frozenset(c.id for c in rel.columns).union(*map(references, open_ones))
        view = cluster.joined(part, wanted)
        seen = memo.ask(memo.tvr(view), SetSnap(version), view.columns)
        there += part
        fresh = [c for c in cluster.within(there) if c not in done]
        done.update(fresh)
        rows = o.JoinBags(rows, seen, conjunction(fresh))
    return rows
