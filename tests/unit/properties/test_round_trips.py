"""What is written down reads back to the same digest."""

from __future__ import annotations

import json

import hypothesis
from hypothesis import strategies as st

from slacktide.algebra.textual import from_text, to_text
from slacktide.algebra.tree import CLASSES, canonical
from slacktide.common import serde
from tests.harness.plans import relations, shapes

RANDOM = shapes().flatmap(relations)
SETTINGS = hypothesis.settings(max_examples=150, suppress_health_check=list(hypothesis.HealthCheck))


@SETTINGS
@hypothesis.given(relation=RANDOM)
def test_text_reads_back(relation) -> None:
    text = to_text(relation)
    assert from_text(text) == relation
    assert to_text(from_text(text)) == text


@SETTINGS
@hypothesis.given(relation=RANDOM)
def test_documents_read_back(relation) -> None:
    document = json.loads(json.dumps(serde.dump(relation)))
    assert serde.load(document, CLASSES) == (relation,)


@SETTINGS
@hypothesis.given(relation=RANDOM)
def test_canonical_text_reads_back_and_is_stable(relation) -> None:
    once = canonical(relation)
    assert canonical(once) == once
    assert from_text(to_text(once)) == once


@SETTINGS
@hypothesis.given(data=st.data())
def test_canonical_form_does_not_depend_on_ids(data) -> None:
    relation = data.draw(RANDOM)
    seed = data.draw(st.randoms(use_true_random=False))
    assert canonical(permuted(relation, seed)) == canonical(relation)


def permuted(relation, random):
    """The same relation with other ids."""
    from slacktide.algebra.scalar import Column, Reference
    from slacktide.common.tree import of_type, rewrite

    ids = sorted({column.id for column in of_type(relation, Column)})
    fresh = dict(zip(ids, random.sample(range(1000), len(ids)), strict=True))

    def move(node):
        if isinstance(node, Column):
            return Column(fresh[node.id], node.name, node.type, node.nullable)
        if isinstance(node, Reference):
            return Reference(fresh[node.column], node.type, node.nullable)
        return None

    return rewrite(relation, move)
