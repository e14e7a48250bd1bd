"""Programs as text for people: a step per paragraph, an operator per line, inputs below.

An operator that several others read is written once, with a label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from slacktide.algebra.relation import Columns
from slacktide.algebra.scalar import Assignment
from slacktide.algebra.sql import column_name, scalar_sql
from slacktide.algebra.textual import to_text
from slacktide.common.tree import of_type
from slacktide.program import operator as o
from slacktide.program.operator import Operator, Program, Step, operator_inputs


def program_text(program: Program) -> str:
    """Give the text of a program."""
    return "\n".join(line for step in program.steps for line in _step(step))


def _step(step: Step) -> Iterator[str]:
    if isinstance(step, o.Save):
        yield f"save {step.chain} as {'a new base' if step.is_base else 'a segment'}"
    else:
        yield f"publish {step.view} {'anew' if step.is_base else 'by its change'}"
    yield from _tree(step.child)


def _tree(root: Operator) -> Iterator[str]:
    uses = Counter(
        below for operator in of_type(root, Operator) for below in operator_inputs(operator)
    )
    labels: dict[Operator, str] = {}
    stack = [(root, 1)]
    while stack:
        operator, depth = stack.pop()
        indent = "  " * depth
        if operator in labels:
            yield f"{indent}{labels[operator]}"
            continue
        label = ""
        if uses[operator] > 1:
            labels[operator] = f"%{len(labels) + 1}"
            label = f"{labels[operator]} = "
        first, *rest = describe(operator).splitlines()
        yield f"{indent}{label}{first}"
        yield from (f"{indent}    {line}" for line in rest)
        stack.extend((below, depth + 1) for below in reversed(operator_inputs(operator)))


def describe(operator: Operator) -> str:
    """Say what one operator does, without its inputs."""
    name = operator.tag.replace("_", " ")
    match operator:
        case o.ReadChanges():
            return f"{name} of {operator.source} [{_names(operator.fields)}]"
        case o.ReadSnapshot():
            return f"{name} of {operator.source} {operator.moment} [{_names(operator.fields)}]"
        case o.ReadBag() | o.ReadState() | o.ReadSaved():
            return f"{name} {operator.chain}"
        case o.Select():
            return f"{name} {scalar_sql(operator.predicate)}"
        case o.Map() | o.Finish():
            return f"{name} [{_assigned(operator.outputs)}]"
        case o.JoinBags():
            condition = "true" if operator.condition is None else scalar_sql(operator.condition)
            return f"{name} on {condition}"
        case o.Summarise():
            partials = ", ".join(
                f"{column_name(p.column.id)} := {p.function}({_argument(p)})"
                for p in operator.partials
            )
            return f"{name} by [{_assigned(operator.keys)}] [{partials}]"
        case o.Combine() | o.Touched():
            return f"{name} by [{_names(operator.keys)}]"
        case o.Evaluate():
            inputs = ", ".join(item.name for item in operator.inputs)
            return f"{name} over {inputs or 'nothing'}\n{to_text(operator.query)}"
        case _:
            return name


def _argument(partial: o.Partial) -> str:
    condition = "" if partial.filter is None else f" where {scalar_sql(partial.filter)}"
    return ("*" if partial.argument is None else scalar_sql(partial.argument)) + condition


def _names(columns: Columns) -> str:
    return ", ".join(column.name for column in columns)


def _assigned(assignments: tuple[Assignment, ...]) -> str:
    return ", ".join(
        f"{column_name(item.column.id)} := {scalar_sql(item.value)}" for item in assignments
    )
