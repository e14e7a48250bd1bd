"""Physical operators: the steps of a run as data.

Operators of the *bag* form give rows with a signed multiplicity ``__m``: positive for an insert,
negative for a delete. Operators of the *state* form give one additive partial aggregate per row,
without ``__m``: their hidden row count is a column of its own. Tempura calls the forms the multiplicity
and the attribute perspective.
"""

from __future__ import annotations

from slacktide.common.node import Node
from slacktide.program.operator.aggregates import (
    Combine,
    Finish,
    Nonzero,
    Pair,
    Partial,
    Regroup,
    Summarise,
    Touched,
)
from slacktide.program.operator.bags import (
    MOST_FIRST,
    Add,
    ByBalance,
    Consolidate,
    First,
    Negate,
    UpTo,
    consolidated,
)
from slacktide.program.operator.base import (
    INPUTS,
    MULTIPLICITY,
    Additive,
    Moment,
    Operator,
)
from slacktide.program.operator.evaluated import (
    Batch,
    Evaluate,
    Input,
    by_id,
    nothing,
)
from slacktide.program.operator.reads import (
    ReadBag,
    ReadChanges,
    ReadSaved,
    ReadSegments,
    ReadSnapshot,
    ReadState,
)
from slacktide.program.operator.rows import (
    ExpandBag,
    Flips,
    GenerateBag,
    JoinBags,
    Map,
    Select,
    SemiBags,
)
from slacktide.program.operator.step import (
    Merge,
    Program,
    Publish,
    Refill,
    Save,
    Step,
    appended_to,
    layout,
    leading,
    target,
)

CLASSES: tuple[type[Node], ...] = (
    ReadChanges,
    ReadSnapshot,
    ReadBag,
    ReadState,
    ReadSegments,
    ReadSaved,
    Select,
    Map,
    JoinBags,
    SemiBags,
    Flips,
    ExpandBag,
    GenerateBag,
    Add,
    Negate,
    Consolidate,
    ByBalance,
    First,
    UpTo,
    Partial,
    Summarise,
    Combine,
    Nonzero,
    Regroup,
    Pair,
    Touched,
    Finish,
    Input,
    Evaluate,
    Batch,
    Save,
    Refill,
    Publish,
    Merge,
    Program,
)


def operator_inputs(operator: Operator) -> tuple[Operator, ...]:
    """The operators that an operator reads directly."""
    found = (part.operator if isinstance(part, Input) else part for part in operator.parts)
    return tuple(part for part in found if isinstance(part, Operator))


__all__ = [
    "CLASSES",
    "INPUTS",
    "MOST_FIRST",
    "MULTIPLICITY",
    "Add",
    "Additive",
    "Batch",
    "ByBalance",
    "Combine",
    "Consolidate",
    "Evaluate",
    "ExpandBag",
    "Finish",
    "First",
    "Flips",
    "GenerateBag",
    "Input",
    "JoinBags",
    "Map",
    "Merge",
    "Moment",
    "Negate",
    "Nonzero",
    "Operator",
    "Pair",
    "Partial",
    "Program",
    "Publish",
    "ReadBag",
    "ReadChanges",
    "ReadSaved",
    "ReadSegments",
    "ReadSnapshot",
    "ReadState",
    "Refill",
    "Regroup",
    "Save",
    "Select",
    "SemiBags",
    "Step",
    "Summarise",
    "Touched",
    "UpTo",
    "appended_to",
    "by_id",
    "consolidated",
    "layout",
    "leading",
    "nothing",
    "operator_inputs",
    "target",
]
