"""What the generator of random plans reaches: nothing that the planner must know is rare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

import hypothesis

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.node import Node
from slacktide.common.tree import postorder
from tests.harness.plans import DOMAINS, relations, shapes

EXAMPLES = 1000
LEAST = 0.004  # draws come in clusters: of 500 by six seeds, the rarest came from 4 to 10 times


def kinds(node: Node) -> Iterator[str]:
    match node:
        case r.Join():
            yield f"{node.kind} join"
            if is_null_aware(node):
                yield "null-aware join"
        case r.Generate():
            yield "outer generate" if node.outer else "generate"
        case r.Relation() | s.Subquery():
            yield node.tag
        case s.WindowCall():
            yield f"frame of {node.frame.partition(' ')[0] or 'its own'}"
        case s.Column():
            yield node.type
        case s.AggregateCall() if node.distinct:
            yield "distinct aggregate"
        case s.AggregateCall() if node.filter:
            yield "aggregate with filter"


def is_null_aware(join: r.Join) -> bool:
    condition = join.condition
    return join.kind == "anti" and isinstance(condition, s.Call) and condition.function == "or"


def test_every_node_is_drawn_often() -> None:
    found: Counter[str] = Counter()

    @hypothesis.settings(
        max_examples=EXAMPLES,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.seed(1)
    @hypothesis.given(relation=shapes().flatmap(relations))
    def draw(relation: r.Rel) -> None:
        found.update({kind for node in postorder(relation) for kind in kinds(node)})

    draw()
    wanted = {f"{kind} join" for kind in get_args(r.JoinKind)}
    wanted |= {"null-aware join", "generate", "outer generate", "subquery"}
    wanted |= {"frame of ROWS", "frame of RANGE", "frame of its own"}
    wanted |= {"distinct aggregate", "aggregate with filter"}
    wanted |= {kind.tag for kind in get_args(r.Rel)} - {"join"}
    wanted |= set(DOMAINS)
    assert [kind for kind in sorted(wanted) if found[kind] < LEAST * EXAMPLES] == []
