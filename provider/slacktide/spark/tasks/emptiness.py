"""Leaving out what is known to be empty: mostly no key of a run's changes is one that was kept.

An update of columns that are not read leaves no row of a change, either. What joins with nothing is nothing, so that
the big table on the other side is not read, and what is left may be light. Spark finds that too where it sees the
rows, but plans all of it before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slacktide.common.tree import graft, of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator

Asked = o.ByBalance | o.Consolidate
"""What leaves out rows of a change, and may leave none."""
_NOTHING_OF_NOTHING = (
    o.Select,
    o.Map,
    o.Negate,
    o.Consolidate,
    o.ByBalance,
    o.JoinBags,
    o.Touched,
    o.Finish,
)


def without_empty(root: Operator, is_empty: Callable[[Asked], bool]) -> Operator:
    """Leave out the parts of an operator that give no rows.

    Args:
        root: an operator.
        is_empty: whether these rows of a change are known to be none.
    """
    operators = [*of_type(root, Operator)]
    empty = {one for one in operators if isinstance(one, Asked) and is_empty(one)}
    if not empty:
        return root
    left: dict[Operator, Operator | None] = {}
    for operator in operators:
        left[operator] = None if operator in empty else _left(operator, left)
    return left[root] or o.nothing(root.columns)


def _left(operator: Operator, left: Mapping[Operator, Operator | None]) -> Operator | None:
    """An operator over what is left of its inputs; None where it gives no rows."""
    below = {child: left[child] for child in o.operator_inputs(operator)}
    if isinstance(operator, o.Add):
        children = tuple(c for child in operator.children if (c := below[child]) is not None)
        return o.Add(children, operator.fields) if children else None
    if isinstance(operator, _NOTHING_OF_NOTHING) and None in below.values():
        return None
    if isinstance(operator, o.SemiBags) and below[operator.left] is None:
        return None
    if isinstance(operator, o.Combine) and operator.keys and below[operator.child] is None:
        return None  # no groups; without keys there is one
    return graft(operator, {c.digest: rest or o.nothing(c.columns) for c, rest in below.items()})
