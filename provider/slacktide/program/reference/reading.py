"""Operators that read the world, what the run wrote, and relations over other operators."""

from __future__ import annotations

from typing import Final

from slacktide.algebra.relation import Scan
from slacktide.errors import InvariantError
from slacktide.program import operator as o
from slacktide.program.reference.bags import Bag, expand
from slacktide.program.reference.relations import Evaluation, Rows
from slacktide.program.reference.steps import Operators, StepRun
from slacktide.program.reference.world import Data


def _read_saved(run: StepRun, node: o.ReadSaved) -> Data:
    saved = run.outcome.saved.get(node.chain)
    if saved is None:
        raise InvariantError(f"no earlier step saved {node.chain}")
    if saved.is_state == node.is_bag:
        raise InvariantError(f"{node.chain} was saved in another form")
    if [column.type for column in saved.columns] != [column.type for column in node.fields]:
        raise InvariantError(f"{node.chain} was saved with other columns")
    return saved.data


def _evaluate(run: StepRun, node: o.Evaluate) -> Bag:
    inputs = {
        item.name: (
            [column.id for column in item.operator.columns],
            expand(run.bag(item.operator), f"the input {item.name}"),
        )
        for item in node.inputs
    }

    def read(scan: Scan) -> Rows:
        ids, rows = inputs[scan.source]
        places = [ids.index(field.id) for field in scan.fields]
        return [tuple(row[place] for place in places) for row in rows]

    return [(row, 1) for row in Evaluation(read).rows(node.query)]


OPERATORS: Final[Operators] = {
    o.ReadChanges: lambda run, node: run.world.changes(node.source, node.fields),
    o.ReadSnapshot: lambda run, node: run.world.snapshot(node.source, node.fields, node.moment),
    o.ReadBag: lambda run, node: run.world.bag(node.chain, node.fields),
    o.ReadState: lambda run, node: run.world.state(node.chain, node.fields),
    o.ReadSegments: lambda run, node: run.world.pieces(
        node.chain, node.fields, node.first, is_bag=node.is_bag
    ),
    o.ReadSaved: _read_saved,
    o.Batch: lambda run, node: [(row, 1) for row in run.world.batch(node.view)],
    o.Evaluate: _evaluate,
}
