"""What is written whole, as a base that its readers read as it is: answers, and what is stored for later runs."""

from __future__ import annotations

from slacktide.algebra.relation import Scan
from slacktide.program import operator as o
from slacktide.program.multiplicity import is_plain, is_rowable
from slacktide.program.operator import Operator


def publish_whole(view: str, answer: Operator) -> o.Publish:
    """Give the step that publishes a new answer, whatever operators give it.

    A row that came and went is not in it: no rows are counted out of two that cancel each other.
    """
    return o.Publish(view, _as_rows(answer), is_base=True)


def save_whole(chain: str, rows: Operator) -> o.Save:
    """Give the step that stores a bag or partial aggregates whole, sorted by the leading column."""
    return o.Save(chain, o.consolidated(rows), is_base=True, order=o.leading(rows))


def _as_rows(answer: Operator) -> Operator:
    if is_plain(answer):
        return answer
    if is_rowable(answer):
        scan = Scan(o.INPUTS[0], o.by_id(answer.columns))
        return o.Evaluate(scan, (o.Input(o.INPUTS[0], answer),))
    return o.consolidated(answer)
