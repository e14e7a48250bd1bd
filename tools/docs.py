"""Write the pages of ``provider/docs`` that are drawn from code: ``python -m tools.docs``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path

from slacktide import errors
from slacktide.common.reasons import SENTENCES
from slacktide.errors import RetryableError, SlacktideError, UserError
from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.rules import RULES
from tools.bootstrap import ROOT
from tools.performance import performance_page

DOCS = ROOT / "provider" / "docs"
_DETAIL = "…"
BRANCHES = {SlacktideError, UserError, RetryableError}
"""Nothing is raised as one of them."""


def reasons_page() -> str:
    """Draw the table of reasons."""
    lines = [
        "# Reasons",
        "",
        "Every decision that a user could wonder about carries one of these codes. They stand in plans,",
        "reports and the status; the command line and the page in Airflow show the sentence, with what",
        f"it is about in the place of “{_DETAIL}”.",
        "",
        "*This page is written by `python -m tools.docs` from `slacktide.common.reasons`.*",
        "",
        "| code | sentence |",
        "|---|---|",
    ]
    for code, sentence in sorted(SENTENCES.items()):
        lines.append(f"| `{code}` | {sentence.format(detail=_DETAIL)} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Draw the table of errors."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    raised = [k for k in kinds if issubclass(k, SlacktideError) and k not in BRANCHES]
    lines = [
        "# Errors",
        "",
        "An error names the object and the fact, and then the way out. With `--json` a command prints it on its standard output, as",
        '`{"error": {"code", "message", "hint"}}`; in logs of Airflow stands the code or, where a retry may help, the class. The exit code says what a',
        "retry can help: 2 is for you to change, 3 may pass with the next attempt, 1 is a defect of ours.",
        "",
        "*This page is written by `python -m tools.docs` from `slacktide.errors`.*",
        "",
        "| code | exit code | class | means |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{kind.code}` | {kind.exit_code} | `{kind.__name__}` | {(kind.__doc__ or '').splitlines()[0]} |"
        for kind in sorted(raised, key=lambda kind: kind.code)
    ]
    return "\n".join(lines) + "\n"


def rules_page() -> str:
    """Draw the tables of delta rules and of the rules of the plan space."""
    lines = [
        "# Delta rules",
        "",
        "How the change of an operator follows from its inputs: X is a relation at the start of a run, X' at",
        "its end, ΔX what leads from one to the other. An operator without a rule is recomputed, with the reason",
        "`OPERATOR_NOT_INCREMENTAL`.",
        "",
        "Tempura is Z. Wang and others, *Tempura: A General Cost-Based Optimizer Framework for Incremental Data",
        "Processing*, PVLDB 14(1), 2020. ADR 0004 is [here](adr/0004-a-delta-for-every-operator.md).",
        "",
        "What each rule gives, and where it gives nothing, stands in the spec of its name, which tests execute: `tests/specs/rules`",
        "for those below, `tests/specs/memo` for those of the plan space, whose rows and forms are compared with batch.",
        "",
        "*This page is written by `python -m tools.docs` from `slacktide.optimizer.rules` and `slacktide.optimizer.methods`.*",
        "",
        "| rule | operator | identity | source |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{rule.name}` | {rule.node.tag} | {rule.identity} | {rule.source} |" for rule in RULES
    ]
    lines += [
        "",
        "## Rules of the plan space",
        "",
        "What the planner of [ADR 0008](adr/0008-a-memo-over-instants.md) knows of relations at several versions: v",
        "and w are versions, S a state of partial aggregates, QP and QN the parts of Q that never loses rows and that may.",
        "",
        "| rule | identity | source |",
        "|---|---|---|",
    ]
    lines += [f"| `{rule.name}` | {rule.identity} | {rule.source} |" for rule in all_rules()]
    return "\n".join(lines) + "\n"


def pages() -> Mapping[Path, str]:
    """Give the text of every page that is drawn."""
    return {
        DOCS / "errors.md": errors_page(),
        DOCS / "reasons.md": reasons_page(),
        DOCS / "rules.md": rules_page(),
        DOCS / "performance.md": performance_page(),
    }


def main() -> int:
    """Write the pages that are not current, and name them."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
