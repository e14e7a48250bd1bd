"""Write the pages of ``provider/docs`` that are drawn from code: ``python -m tools.docs``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slacktide.cli.bench_table import HEADS, Cell, grouped, rows, sums
from slacktide.common.reasons import SENTENCES
from slacktide.optimizer.expand import all_rules
from slacktide.optimizer.rules import RULES
from tools.bootstrap import ROOT

DOCS = ROOT / "provider" / "docs"
BENCHES = sorted((ROOT / "tests" / "campaigns").glob("bench_tpch_*.json"))
_DETAIL = "…"


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


def performance_page() -> str:
    """Draw the tables of the benches that are committed."""
    found = {path: json.loads(path.read_text(encoding="utf-8")) for path in BENCHES}
    lines = [
        "# Performance",
        "",
        "All 22 TPC-H views in one workspace: what one refresh takes after an arrival, beside a batch run of each",
        "query over plain Parquet tables of the same rows, which writes its answer, too. Both run in one warm session,",
        "in turns; every answer was compared and is equal. The foreign keys that TPC-H declares were checked once, by",
        "`verify --references`, after the first refresh. Figures are sums over the arrivals of a nature. *Of batch* is a",
        "ratio: below 1 the refresh is cheaper. A view is incremental where it reads less than half of what batch reads.",
        "",
        "Natures: *clustered* arrivals append orders above the greatest key and delete the oldest ones; *scattered*",
        "ones update, insert and delete rows anywhere in every table.",
        "",
        "*This page is written by `python -m tools.docs` from the files that its commands wrote.*",
        "",
    ]
    for path, bench in found.items():
        lines += _bench(path, bench)
    lines += [
        "## Reading the tables",
        "",
        "* A refresh has a fixed price: each job, stage and plan costs Java some hundredths of a second, whatever the",
        "  rows. A query that batch answers in half a second of CPU gains nothing at this scale.",
        "* Clustered: Q9 and Q17 go from what changed to parts, whose keys lie anywhere, so that the ranges of the",
        "  changed keys cover most of the large tables. Q13 and Q22 read all customers.",
        "* Scattered: when every table changes a little everywhere, each of them leads to a term that reads the others",
        "  nearly whole, and no range of keys helps. Increments then cost more than batch, Q21's far more. Where a run has",
        "  shown that, the next is computed in full ([ADR 9](adr/0009-costs.md)).",
        "* What Spark counts as bytes read leaves out vectored reads of Parquet, so that plain tables seem to cost",
        "  next to none. Rows are counted alike on both sides, after row groups and pages were skipped.",
    ]
    return "\n".join(lines) + "\n"


def _bench(path: Path, found: Mapping[str, Any]) -> list[str]:
    setting, first, keys = found["setting"], found["first_build"], found["references"]
    command = (
        f"slacktide bench --scale {setting['scale']:g}"
        + "".join(f" --nature {nature}" for nature in setting["natures"])
        + "".join(f" --share {share:g}" for share in setting["shares"])
        + f" --arrivals {setting['arrivals']} --warming {setting['warming']} --out {path.relative_to(ROOT)}"
    )
    kept = (
        f"The first refresh took {first['java_cpu_seconds']:.0f} s of Java CPU, and the check of keys and references "
        f"after it {keys['java_cpu_seconds']:.0f} s. Kept: states of {found['state_bytes'] / 1e6:.1f} MB and mirrors of "
        f"{found['mirror_bytes'] / 1e6:.1f} MB, beside plain tables of {found['plain_bytes'] / 1e6:.1f} MB."
    )
    return [
        f"## {' and '.join(setting['natures']).capitalize()} changes",
        "",
        f"Spark {found['spark']}, {found['cores']} cores, Slacktide {found['slacktide']}. To repeat it:",
        "",
        "```sh",
        command,
        "```",
        "",
        *([found["remark"], ""] if "remark" in found else []),
        *_cells(found["cells"]),
        kept,
        "",
    ]


def _cells(cells: Sequence[Cell]) -> list[str]:
    lines: list[str] = []
    for (nature, share), alike in grouped(cells).items():
        lines += [f"### {nature.capitalize()}, {share:.2%} of the rows", ""]
        lines += [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
        lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows(alike)]
        lines += ["", *(f"* {line}" for line in sums(alike)), ""]
    return lines


def _cell(value: object) -> str:
    match value:
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.2f}"
        case _:
            return str(value)


def pages() -> Mapping[Path, str]:
    """Give the text of every page that is drawn."""
    return {
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
