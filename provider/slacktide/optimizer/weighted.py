"""Aggregates over a bag that add its multiplicities up, in the place of counting every row out.

What is evaluated as batch needs plain rows: a bag of what is stored and what has changed is grouped by all
of its columns, and each row repeated as often as it is there, before it is grouped once more. Sums and counts
follow from the multiplicities.
"""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra.scalar import Assignment, Column
from slacktide.algebra.tree import fresh_ids
from slacktide.algebra.types import DataType
from slacktide.optimizer.additive import is_additive
from slacktide.optimizer.states import finished, state_of
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_rowable
from slacktide.program.operator import Operator


def by_multiplicities(operator: Operator) -> Operator:
    """An evaluated aggregate by sums of multiplicities; what is no such one, or has plain rows, stays as it is."""
    if not isinstance(operator, o.Evaluate):
        return operator
    query, given = operator.query, operator.inputs
    if not isinstance(query, r.Aggregate) or not isinstance(query.child, r.Scan) or not given:
        return operator
    rows = given[0].operator
    if is_rowable(rows) or not is_additive(query):
        return operator
    ids = fresh_ids(query)

    def fresh(name: str, data_type: DataType) -> Column:
        return Column(next(ids), name, data_type, nullable=False)

    state = state_of(query, fresh)
    keys = tuple(
        Assignment(column, key.value) for column, key in zip(state.keys, query.keys, strict=True)
    )
    merged: Operator = o.Summarise(rows, keys, state.partials)
    if not state.keys:  # of nothing there is one row all the same
        merged = o.Combine(merged, ())
    return finished(query, state, merged)
