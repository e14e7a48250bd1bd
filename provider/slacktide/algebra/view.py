"""What the plan reader says of a query: its relation, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from slacktide.algebra.relation import Rel
from slacktide.algebra.scalar import Column, SortKey
from slacktide.algebra.tree import CLASSES
from slacktide.common import serde
from slacktide.common.reasons import Reason


@dataclass(frozen=True, slots=True)
class ReadView:
    """A query as read.

    Attributes:
        relation: the meaning over sources; None when a node or expression is not read. Its columns
            are `outputs` in their order, then hidden columns that only the order needs.
        outputs: names, types and nullability that readers see.
        order: the order that readers get, over the relation's columns; empty for none.
        reasons: why the query is not read, not deterministic or asks the clock.
        sources: names of the sources that the text reads, sorted.
        views: names of the other views that the text reads, and of those that these read.
        deterministic: whether equal inputs give equal answers.
        clock: whether the text asks for the time.
        conf: SQL settings that change the meaning, as they were.
    """

    relation: Rel | None
    outputs: tuple[Column, ...]
    order: tuple[SortKey, ...] = ()
    reasons: tuple[Reason, ...] = ()
    sources: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    deterministic: bool = True
    clock: bool = False
    conf: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the stored form."""
        roots = (*([] if self.relation is None else [self.relation]), *self.outputs, *self.order)
        return {
            "is_read": self.relation is not None,
            "outputs": len(self.outputs),
            "nodes": serde.dump(*roots),
            "reasons": [str(reason) for reason in self.reasons],
            "sources": list(self.sources),
            "views": list(self.views),
            "deterministic": self.deterministic,
            "clock": self.clock,
            "conf": dict(self.conf),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ReadView:
        """Read the stored form.

        Raises:
            NewerFormatError: it holds what this version does not know.
        """
        roots = list(serde.load(document["nodes"], CLASSES))
        relation = cast("Rel", roots.pop(0)) if document["is_read"] else None
        count = document["outputs"]
        return cls(
            relation=relation,
            outputs=tuple(cast("list[Column]", roots[:count])),
            order=tuple(cast("list[SortKey]", roots[count:])),
            reasons=tuple(Reason.parse(text) for text in document["reasons"]),
            sources=tuple(document["sources"]),
            views=tuple(document["views"]),
            deterministic=document["deterministic"],
            clock=document["clock"],
            conf=document["conf"],
        )
