"""Runs the ``.spec`` files beside this one; one test per file.

A case is: comments, a directive with ``key=value`` arguments, a relation as text, ``----``, what is
expected, a blank line. ``REWRITE=1 pytest tests/specs`` writes what was found into the files.

Directives:
    delta changed=a,b    the change of the relation when these sources change, or ``no change``; with
                         ``remembered=few`` or ``many``, joins inside are remembered and have so many rows
    verdict              the reasons for which the view is recomputed, or ``maintained``
    check                random data and changes through all programs: ``equal`` to batch
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
from slacktide.optimizer.derivation import Derivation
from slacktide.optimizer.maintainability import Maintainability
from slacktide.program.operator import Program, Publish
from slacktide.program.textual import program_text
from tests.harness.histories import next_changes, shapes_of
from tests.harness.maintained import Maintained
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
    kept: dict[Rel, bool] = {
        one: arguments["remembered"] == "few"
        for one in relations(relation)
        if "remembered" in arguments and isinstance(one, Join) and one != relation
    }
    derivation = Derivation(
        "v", Maintainability(relation), changed=changed, rebuilds=False, remembered=kept
    )
    change = derivation.delta(relation)
    if change is None:
        return "no change"
    program = Program(derivation.steps(Publish("v", change, is_base=False)))
    return CHAIN.sub("states/…", program_text(program)).rstrip("\n")


def verdict(relation: Rel, _: Arguments) -> str:
    reasons = Maintainability(relation).verdict()
    return "\n".join(str(reason) for reason in reasons) or "maintained"


def check(relation: Rel, _: Arguments) -> str:
    shapes = shapes_of(relation)
    for seed in range(20):
        source = random.Random(seed)  # noqa: S311
        maintained = Maintained(Case(relation, shapes))
        present: dict[str, list] = {shape.name: [] for shape in shapes}
        for _batch in range(4):
            maintained.arrive({s.name: next_changes(source, s, present[s.name]) for s in shapes})
            maintained.refresh()
    return "equal"


DIRECTIVES: dict[str, Callable[[Rel, Arguments], str]] = {
    "delta": delta,
    "verdict": verdict,
    "check": check,
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
