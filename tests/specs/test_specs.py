"""Runs the ``.spec`` files beside this one; one test per file.

A case is: comments, a directive with ``key=value`` arguments, a relation as text, ``----``, what is
expected, a blank line. ``REWRITE=1 pytest tests/specs`` writes what was found into the files.

Directives:
    delta changed=a,b    the change of the relation when these sources change, or ``no change``; with
                         ``remembered=few`` or ``many``, joins inside are remembered and have so many rows; with
                         ``refers=a.x,b.k`` a foreign key holds; changes of ``netted=a,b`` are netted
    verdict              the reasons for which the view is recomputed, or ``maintained``
    check                random data and changes through all programs: ``equal`` to batch
    apply rule=NAME      what a rule of the plan space adds to the memo of the relation, Q, over two instants, for the last
                         one; ``no match`` where that is nothing. Rows and forms are compared with batch under random changes.
                         ``instants=3`` are more, ``append_only=a,b`` names tables whose rows never go, ``keys=a.k,b.k``
                         declared keys
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from slacktide.algebra.relation import Join, Rel
from slacktide.algebra.textual import from_text
from slacktide.algebra.tree import relations
from slacktide.optimizer.programs.derivation import Derivation, Premises
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.rule_parts.foreign_keys import ForeignKey
from slacktide.program.operator import Program, Publish
from slacktide.program.textual import program_text
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
from tests.harness.planner.told import Told
from tests.harness.plans import Case

HERE = Path(__file__).parent
CASE = re.compile(
    r"(?P<head>(?:#[^\n]*\n)*(?P<directive>\w+)(?P<arguments>[^\n]*)\n(?P<body>.*?)----\n)"
    r"(?P<expected>(?:[^\n]+\n)*)",
    re.DOTALL,
)
CHAIN = re.compile(r"states/[0-9a-f]+")
Arguments = dict[str, str]


def delta(relation: Rel, arguments: Arguments) -> str:
    changed = frozenset(filter(None, arguments["changed"].split(",")))
    remembered = frozenset(
        one
        for one in relations(relation)
        if "remembered" in arguments and isinstance(one, Join) and one != relation
    )
    derivation = Derivation(
        "v",
        Maintainability(relation),
        changed=changed,
        premises=Premises(
            _foreign_keys(arguments.get("refers", "")),
            remembered,
            remembered if arguments.get("remembered") == "few" else frozenset(),
            frozenset(arguments.get("netted", "").split(",")),
        ),
    )
    change = derivation.delta(relation)
    if change is None:
        return "no change"
    program = Program(derivation.steps(Publish("v", change, is_base=False)))
    return CHAIN.sub("states/…", program_text(program)).rstrip("\n")


def _foreign_keys(text: str) -> frozenset[ForeignKey]:
    if not text:
        return frozenset()
    (source, column), (target, key) = (name.split(".") for name in text.split(","))
    return frozenset({ForeignKey(source, (column,), target, (key,))})


def verdict(relation: Rel, _: Arguments) -> str:
    reasons = Maintainability(relation).verdict()
    return "\n".join(str(reason) for reason in reasons) or "maintained"


def check(relation: Rel, _: Arguments) -> str:
    shapes = shapes_of(relation)
    for seed in range(8):
        source = random.Random(seed)  # noqa: S311
        maintained = Maintained(Case(relation, shapes))
        present: dict[str, list] = {shape.name: [] for shape in shapes}
        for _batch in range(4):
            maintained.arrive({s.name: next_changes(source, s, present[s.name]) for s in shapes})
            maintained.refresh()
    return "equal"


def apply(relation: Rel, arguments: Arguments) -> str:
    keys: dict[str, tuple[str, ...]] = {}
    for pair in filter(None, arguments.get("keys", "").split(",")):
        table, _, column = pair.partition(".")
        keys[table] = (*keys.get(table, ()), column)
    append_only = filter(None, arguments.get("append_only", "").split(","))
    instants = int(arguments.get("instants", "2"))
    told = Told(relation, arguments["rule"], instants, append_only, keys)
    assert told.differing() == []
    return "\n".join(told.lines()) or "no match"


DIRECTIVES: dict[str, Callable[[Rel, Arguments], str]] = {
    "delta": delta,
    "verdict": verdict,
    "check": check,
    "apply": apply,
}


def run(case: re.Match[str]) -> str:
    arguments = dict(pair.split("=", 1) for pair in case["arguments"].split())
    return DIRECTIVES[case["directive"]](from_text(case["body"]), arguments)


@pytest.mark.parametrize(
    "path", sorted(HERE.rglob("*.spec")), ids=lambda path: str(path.relative_to(HERE))
)
def test_spec(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [(case, run(case)) for case in CASE.finditer(text)]
    written = "\n\n".join(case["head"] + result for case, result in found) + "\n"
    if "REWRITE" in os.environ:
        path.write_text(written, encoding="utf-8")
        return
    assert found
    assert written == text
