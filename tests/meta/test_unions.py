"""A new node reaches every place that must know it: unions, the reader of stored plans, the interpreters."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from slacktide.algebra import relation, scalar
from slacktide.algebra.relation import Relation
from slacktide.common.node import Node
from slacktide.optimizer.plan import CLASSES
from slacktide.program.operator import Operator
from tests.meta.tree import PROVIDER, node_classes, sources

CONCRETE = [kind for kind in node_classes() if kind.tag]
RELATIONS = [kind for kind in CONCRETE if issubclass(kind, Relation)]
OPERATORS = [kind for kind in CONCRETE if issubclass(kind, Operator)]
INTERPRETERS = {
    "reference": sources(PROVIDER / "program" / "reference"),
    "spark": sources(PROVIDER / "spark"),
    "statistics": sources(PROVIDER / "optimizer" / "statistics"),
}


def names_in(files: list[Path]) -> set[str]:
    """Every name and attribute that some modules mention in code."""
    found = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
    return found


def test_stored_plans_can_hold_every_node() -> None:
    assert sorted(kind.tag for kind in CLASSES) == sorted(kind.tag for kind in CONCRETE)


def test_the_union_of_relations_is_whole() -> None:
    assert set(get_args(relation.Rel)) == set(RELATIONS)


def test_members_of_the_union_of_scalars_are_expressions() -> None:
    assert set(get_args(scalar.Scalar)) <= set(CONCRETE)


@pytest.mark.parametrize("name", sorted(INTERPRETERS))
@pytest.mark.parametrize("kinds", [RELATIONS, OPERATORS], ids=["relations", "operators"])
def test_interpreters_know_every_node(name: str, kinds: list[type[Node]]) -> None:
    known = names_in(INTERPRETERS[name])
    assert [kind.__name__ for kind in kinds if kind.__name__ not in known] == []
