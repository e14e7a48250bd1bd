"""Nodes are compared by content alone: no subclass brings the generated methods back."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from slacktide.common.node import Node
from tests.meta.tree import node_classes

CLASSES = node_classes()
CONCRETE = [kind for kind in CLASSES if kind.tag]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
@pytest.mark.parametrize("method", ["__eq__", "__hash__", "__repr__"])
def test_inherits_what_compares(kind: type[Node], method: str) -> None:
    assert getattr(kind, method) is getattr(Node, method)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
def test_is_a_frozen_dataclass_with_slots(kind: type[Node]) -> None:
    options = kind.__dataclass_params__  # type: ignore[attr-defined]
    assert options.frozen
    assert not options.eq
    assert "__slots__" in vars(kind)


def test_tags_are_unique() -> None:
    shared = [tag for tag, count in Counter(kind.tag for kind in CONCRETE).items() if count > 1]
    assert shared == []


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__qualname__)
def test_tag_is_its_own(kind: type[Node]) -> None:
    assert "tag" in vars(kind), "a tag outlives renames, so every class says its own"


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__qualname__)
def test_fields_have_no_defaults_that_change(kind: type[Node]) -> None:
    made = [
        f.name for f in dataclasses.fields(kind) if f.default_factory is not dataclasses.MISSING
    ]
    assert made == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
def test_is_matched_by_all_of_its_fields(kind: type[Node]) -> None:
    """These names are what a digest is made of: a field that is missing would make two nodes equal."""
    named = tuple(f.name for f in dataclasses.fields(kind) if f.init)
    assert kind.__match_args__ == named
