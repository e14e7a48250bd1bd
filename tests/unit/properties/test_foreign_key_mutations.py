"""Every sign and every balance in a program that goes by foreign keys matters: turned, it is caught."""

from __future__ import annotations

import pytest

from slacktide.common.tree import graft, of_type
from slacktide.program import operator as o
from slacktide.program.balance import Balance
from tests.harness.rule_cases import CASES
from tests.unit.properties.test_mutations import mutants, survivors

BALANCES: tuple[Balance, ...] = ("gone", "kept", "came")


def turned(program: o.Program) -> list[o.Program]:
    """The program with one sign or one balance turned."""
    found = mutants(program)
    balanced = list(of_type(program, o.ByBalance))
    assert balanced
    for node in balanced:
        for other in BALANCES:
            if other == node.balance:
                continue
            swapped = o.ByBalance(node.child, node.keys, other)
            found.append(graft(program, {node.digest: swapped}))
    return found


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.foreign_keys])
def test_what_is_turned_is_caught(name: str) -> None:
    assert not survivors(CASES[name], turned)
