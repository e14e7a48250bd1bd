"""Walking and rewriting nodes."""

from __future__ import annotations

from slacktide.algebra import relation as r
from slacktide.algebra import scalar as s
from slacktide.algebra.textual import from_text
from slacktide.common.tree import of_type, postorder, rewrite, with_parts

SHARED = from_text("""union 2 [k#9:INT]
  %1 = filter (#1 > 0)
    scan l [k#1:INT]
  %1
""")


def test_every_distinct_node_comes_once_and_after_its_parts() -> None:
    seen: set = set()
    for node in postorder(SHARED):
        assert node not in seen
        assert all(part in seen for part in node.parts)
        seen.add(node)
    assert SHARED in seen


def test_parts_are_in_the_order_of_the_fields() -> None:
    assert [part.tag for part in SHARED.parts] == ["filter", "filter", "column"]


def test_a_rule_sees_parts_that_are_rewritten_already() -> None:
    def widen(node):
        if isinstance(node, s.Literal):
            return s.Literal("1", "INT", nullable=False)
        if isinstance(node, s.Call):
            assert node.arguments[1] == s.Literal("1", "INT", nullable=False)
        return None

    changed = rewrite(SHARED, widen)
    assert changed != SHARED
    assert len(list(of_type(changed, r.Filter))) == 1


def test_a_rule_without_effect_keeps_the_very_node() -> None:
    assert rewrite(SHARED, lambda _: None) is SHARED
    assert with_parts(SHARED, lambda part: part) is SHARED
