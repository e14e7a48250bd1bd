"""Programs as text for people: the steps in order, an operator per line, what it reads below.

Columns and expressions are written as `slacktide.algebra.textual` writes them. What is used twice in
a program is written once, as ``%1 = …``, and is ``%1`` after that. ::

    save segment states/5f0c…
      summarise key=[flag#21 := #3] [__n#22:BIGINT! := count()]
        select (#4 > 0)
          read_changes lineitem [l_returnflag#3:STRING, l_quantity#4:INT]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Column
from slacktide.algebra.textual import to_text
from slacktide.algebra.textual.vocabulary import DEEPEST, INDENT, spell_name
from slacktide.algebra.textual.writing import Pen, spell_column, spell_columns
from slacktide.common.tree import of_type
from slacktide.program import operator as o


def program_text(program: o.Program) -> str:
    """Write the steps of a program."""
    return "".join(f"{line}\n" for _, line in program_lines(program))


def program_lines(program: o.Program) -> list[tuple[o.Operator | o.Step | None, str]]:
    """The lines of the steps of a program, each with the node that it names; None for all others.

    A node that is read again is named once.
    """
    reads = Counter(
        below.digest
        for operator in of_type(program, o.Operator)
        for below in o.operator_inputs(operator)
    )
    reads.update(step.child.digest for step in program.steps)
    labels: dict[bytes, int] = {}
    lines: list[tuple[o.Operator | o.Step | None, str]] = []
    stack: list[tuple[o.Operator | o.Step | str, int]] = []
    for step in reversed(program.steps):
        stack += [(step.child, 1), (step, 0)]
    while stack:
        item, depth = stack.pop()
        indent = " " * (INDENT * min(depth, DEEPEST))
        if isinstance(item, str):
            lines.extend((None, indent + line) for line in item.splitlines())
            continue
        if not isinstance(item, o.Operator):
            lines.append((item, indent + _step(item)))
            continue
        if item.digest in labels:
            lines.append((None, f"{indent}%{labels[item.digest]}"))
            continue
        label = ""
        below = o.operator_inputs(item)
        if reads[item.digest] > 1 and below:
            labels[item.digest] = len(labels) + 1
            label = f"%{labels[item.digest]} = "
        lines.append((item, f"{indent}{label}{_head(item)}"))
        stack.extend((part, depth + 1) for part in reversed(_parts(item, below)))
    return lines


def _step(step: o.Step) -> str:
    match step:
        case o.Save():
            return f"save {_form(step)} {step.chain}{_order(step)}"
        case o.Refill():
            return f"refill least={step.least} {step.chain}"
        case o.Publish():
            return f"publish {_form(step)} {step.view}"
        case o.Merge():
            return f"merge from={step.first} {step.chain}{_order(step)}"


def _form(step: o.Save | o.Publish) -> str:
    return "base" if step.is_base else "segment"


def _order(step: o.Save | o.Merge) -> str:
    return f" by=[{', '.join(f'#{c}' for c in step.order)}]" if step.order else ""


def _parts(operator: o.Operator, below: tuple[o.Operator, ...]) -> list[o.Operator | str]:
    """What stands below an operator; an evaluated query and the names of its inputs too."""
    if not isinstance(operator, o.Evaluate):
        return list(below)
    parts: list[o.Operator | str] = [to_text(operator.query)]
    for item in operator.inputs:
        parts += [f"input {item.name}", item.operator]
    return parts


def _head(operator: o.Operator) -> str:
    known: list[Column] = [
        column for below in o.operator_inputs(operator) for column in below.columns
    ]
    head = _HEADS.get(type(operator))
    rest = head(operator, Pen(known)) if head else ""
    return f"{operator.tag} {rest}".rstrip()


def _stored(operator: o.ReadBag | o.ReadState | o.ReadSaved, _: Pen) -> str:
    return f"{operator.chain} {spell_columns(operator.fields)}"


def _segments(operator: o.ReadSegments, _: Pen) -> str:
    return f"{operator.chain} from={operator.first} {spell_columns(operator.fields)}"


def _summarise(operator: o.Summarise, pen: Pen) -> str:
    partials = ", ".join(_partial(partial, pen) for partial in operator.partials)
    return f"key={pen.assignments(operator.keys)} [{partials}]"


def _partial(partial: o.Partial, pen: Pen) -> str:
    argument = pen.scalar(partial.argument) if partial.argument else ""
    where = f" where {pen.scalar(partial.filter)}" if partial.filter else ""
    return f"{spell_column(partial.column)} := {partial.function}({argument}{where})"


def _finish(operator: o.Finish, pen: Pen) -> str:
    form = "global " if operator.is_global else ""
    return f"{form}count=#{operator.count} {pen.assignments(operator.outputs)}"


def _regroup(operator: o.Regroup, pen: Pen) -> str:
    where = f"where {pen.scalar(operator.predicate)} " if operator.predicate else ""
    return f"{where}key={pen.assignments(operator.keys)} {pen.assignments(operator.partials)}"


def _touched(operator: o.Touched, _: Pen) -> str:
    own, other = Pen(list(operator.child.columns)), Pen(list(operator.by.columns))
    pairs = [f"{own.scalar(pair.own)} <=> {other.scalar(pair.other)}" for pair in operator.keys]
    return f"key=[{', '.join(pairs)}]"


def _semi(operator: o.SemiBags, pen: Pen) -> str:
    form = "anti " if operator.negated else ""
    return f"{form}on {pen.scalar(operator.condition)}" if operator.condition else form


def _expand(operator: o.ExpandBag, pen: Pen) -> str:
    rows = ", ".join(
        f"[{', '.join(pen.scalar(value) for value in projection)}]"
        for projection in operator.projections
    )
    return f"{spell_columns(operator.fields)} {rows}"


def _generate(operator: o.GenerateBag, pen: Pen) -> str:
    kept = ", ".join(f"#{reference.column}" for reference in operator.kept)
    form = "outer " if operator.outer else ""
    made = f"{pen.scalar(operator.generator)} {spell_columns(operator.fields)}"
    return f"{form}keep=[{kept}] {made}"


def _ids(columns: Columns) -> str:
    return f"key=[{', '.join(f'#{column.id}' for column in columns)}]"


_HEADS: Final[Mapping[type[o.Operator], Callable[[Any, Pen], str]]] = {
    o.ReadChanges: lambda node, _: f"{spell_name(node.source)} {spell_columns(node.fields)}",
    o.ReadSnapshot: lambda node, _: (
        f"{spell_name(node.source)} {node.moment} {spell_columns(node.fields)}"
    ),
    o.ReadBag: _stored,
    o.ReadState: _stored,
    o.ReadSegments: _segments,
    o.ReadSaved: _stored,
    o.Select: lambda node, pen: pen.scalar(node.predicate),
    o.Map: lambda node, pen: pen.assignments(node.outputs),
    o.JoinBags: lambda node, pen: f"on {pen.scalar(node.condition)}" if node.condition else "",
    o.Add: lambda node, _: spell_columns(node.fields),
    o.ByBalance: lambda node, _: f"{node.balance} {_ids(node.keys)}",
    o.First: lambda node, pen: f"{node.count} {pen.sort_keys(node.order)}",
    o.UpTo: lambda node, pen: pen.sort_keys(node.order),
    o.Summarise: _summarise,
    o.Combine: lambda node, _: _ids(node.keys),
    o.Nonzero: lambda node, _: _ids(node.keys),
    o.Regroup: _regroup,
    o.Touched: _touched,
    o.SemiBags: _semi,
    o.Flips: lambda node, pen: f"on {pen.scalar(node.condition)}" if node.condition else "",
    o.ExpandBag: _expand,
    o.GenerateBag: _generate,
    o.Finish: _finish,
    o.Batch: lambda node, _: f"{node.view} {spell_columns(node.fields)}",
}
