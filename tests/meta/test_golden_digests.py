"""Digests name states on disk: these never change without a new version of the algorithm.

The tier is run a second time under another hash seed, so that an order of Python's own cannot slip in.
"""

from __future__ import annotations

import pytest

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.common.digest import VERSION, digest_of
from slacktide.common.node import Node
from slacktide.program import operator as o

A = s.Column(0, "a", "BIGINT", nullable=False)
B = s.Column(1, "b", "DECIMAL(12,2)", nullable=True)
IS_LARGE = s.Call(
    ">",
    (s.Reference(0, "BIGINT", nullable=False), s.Literal("9L", "BIGINT", nullable=False)),
    "BOOLEAN",
    nullable=False,
)
SCAN = r.Scan("t", (A, B))
PLANS: dict[str, Node] = {
    "scan": SCAN,
    "filter": r.Filter(SCAN, IS_LARGE),
    "union": r.Union((SCAN, r.Filter(SCAN, IS_LARGE)), (A, B)),
    "changes": o.Select(o.ReadChanges("t", (A, B)), IS_LARGE),
}
PLAN_DIGESTS = {
    "scan": "62dcf4827f5d8cb84357f3a9c4a79fec",
    "filter": "218d5d7ba6d7cbe9fa2edc07fe49c6a1",
    "union": "e21de0f295e48baf2f3a318a276b02ef",
    "changes": "e91911c1ce18ef6f080ffdb25d016f0f",
}
GOLDEN = {
    "nothing": (),
    "values": (None, True, False, 0, 1, -7, "", "ä", b"\x00\xff"),
    "nesting": (("a", ("b", (), ("c",))), ["a", 1]),
    "large": (10**40, "x" * 10_000),
}
DIGESTS = {
    "nothing": "e54def2d8ed013c71850a58cfe589379",
    "values": "6a9e81990cf8c6dae3d6514fe98a04e4",
    "nesting": "f95cfcafc6fc8bca2ae484953fbbaa0f",
    "large": "cf87f16d27367e0eb86f93d2313a73bb",
}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_is_what_it_always_was(name: str) -> None:
    assert VERSION == 1
    assert digest_of(*GOLDEN[name]).hex() == DIGESTS[name]


@pytest.mark.parametrize("name", sorted(PLANS))
def test_a_plan_is_what_it_always_was(name: str) -> None:
    assert PLANS[name].digest.hex() == PLAN_DIGESTS[name]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1,), ("1",)),
        ((1,), (True,)),
        ((0,), (False,)),
        ((None,), ("",)),
        (("ab",), (b"ab",)),
        (("a", "b"), ("ab",)),
        ((("a",), "b"), ("a", ("b",))),
        (((),), ()),
        (("a", ("b",)), (("a", "b"),)),
        (("1:s", "x"), ("1:s1:x",)),
    ],
)
def test_different_trees_differ(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert digest_of(*one) != digest_of(*other)


def test_a_part_is_worth_its_digest() -> None:
    class Part:
        digest = digest_of("part")

    assert digest_of("whole", Part()) == digest_of("whole", Part())
    assert digest_of("whole", Part()) != digest_of("whole", Part.digest)


def test_refuses_what_has_no_digest() -> None:
    with pytest.raises(TypeError, match="cannot digest a float"):
        digest_of(1.5)
