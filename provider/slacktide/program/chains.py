"""Which of what is there before a run is read."""

from __future__ import annotations

from slacktide.common.node import Node
from slacktide.common.tree import of_type
from slacktide.program.operator import ReadBag, ReadSnapshot, ReadState


def chains_read(node: Node) -> set[str]:
    """The chains that a program or an operator reads as they were at the start of the run."""
    states = {read.chain for read in of_type(node, ReadState)}
    return states | {read.chain for read in of_type(node, ReadBag)}


def snapshots_read(node: Node) -> frozenset[str]:
    """The sources of which a program or an operator reads a snapshot, as of the start or the end of the run."""
    return frozenset(read.source for read in of_type(node, ReadSnapshot))
