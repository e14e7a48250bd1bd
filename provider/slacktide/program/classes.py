"""All classes of nodes that a program holds, by which a stored one is read."""

from __future__ import annotations

from slacktide.common.node import Node
from slacktide.program import operator as o

CLASSES: tuple[type[Node], ...] = (
    o.ReadChanges,
    o.ReadSnapshot,
    o.ReadBag,
    o.ReadState,
    o.ReadSegments,
    o.ReadSaved,
    o.Select,
    o.Map,
    o.JoinBags,
    o.SemiBags,
    o.Flips,
    o.ExpandBag,
    o.GenerateBag,
    o.Add,
    o.Negate,
    o.Consolidate,
    o.ByBalance,
    o.First,
    o.UpTo,
    o.Partial,
    o.Summarise,
    o.Combine,
    o.Nonzero,
    o.Pair,
    o.Touched,
    o.Finish,
    o.Input,
    o.Evaluate,
    o.Batch,
    o.Save,
    o.Refill,
    o.Publish,
    o.Merge,
    o.Program,
)
