"""Write the pages of ``provider/docs`` that are drawn from code: ``python -m tools.docs``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from slacktide.cli.bench_table import HEADS, Cell, grouped, rows, sums
from slacktide.common.reasons import SENTENCES
from slacktide.optimizer.rules import RULES
from tools.bootstrap import ROOT

DOCS = ROOT / "provider" / "docs"
BENCH = ROOT / "tests" / "campaigns" / "bench_tpch.json"
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
    """Draw the table of delta rules."""
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
        "*This page is written by `python -m tools.docs` from `slacktide.optimizer.rules`.*",
        "",
        "| rule | operator | identity | source |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{rule.name}` | {rule.node.tag} | {rule.identity} | {rule.source} |" for rule in RULES
    ]
    return "\n".join(lines) + "\n"


def performance_page() -> str:
    """Draw the tables of the last bench that is committed."""
    found = json.loads(BENCH.read_text(encoding="utf-8"))
    setting, first = found["setting"], found["first_build"]
    lines = [
        "# Performance",
        "",
        "All 22 TPC-H views in one workspace: what one refresh takes after an arrival, beside a batch run of each",
        "query over plain Parquet tables of the same rows, which writes its answer, too. Both run in one warm session,",
        "in turns; every answer was compared and is equal. The foreign keys that TPC-H declares were checked once, by",
        "`verify --references`, after the first refresh. Figures are sums over the arrivals of a nature. *Of batch* is a",
        "ratio: below 1 the refresh is cheaper.",
        "",
        (
            f"Scale {setting['scale']:g}, {setting['arrivals']} arrival(s) of each nature, Spark {found['spark']},"
            f" {found['cores']} cores, Slacktide {found['slacktide']}. To repeat it:"
        ),
        "",
        "```sh",
        f"slacktide bench --scale {setting['scale']:g}"
        + "".join(f" --nature {nature}" for nature in setting["natures"])
        + "".join(f" --share {share:g}" for share in setting["shares"])
        + f" --arrivals {setting['arrivals']} --warming {setting['warming']} --out {BENCH.relative_to(ROOT)}",
        "```",
        "",
        "Natures: *clustered* arrivals append orders above the greatest key and delete the oldest ones; *scattered*",
        "ones update, insert and delete rows anywhere in every table.",
        "",
        found.get("remark", ""),
        "",
        "*This page is written by `python -m tools.docs` from that file.*",
        "",
    ]
    lines += _cells(found["cells"])
    lines += [
        "## First build and what is kept",
        "",
        (
            f"The first refresh took {first['java_cpu_seconds']:.0f} s of Java CPU, and the check of keys and foreign keys "
            f"after it {found['references']['java_cpu_seconds']:.0f} s. Kept: states of "
            f"{found['state_bytes'] / 1e6:.1f} MB and mirrors of {found['mirror_bytes'] / 1e6:.1f} MB, beside plain tables of "
            f"{found['plain_bytes'] / 1e6:.1f} MB."
        ),
        "",
        "## Reading the tables",
        "",
        "* A refresh has a fixed price: each job, stage and plan costs Java some tenths of a second, whatever the rows.",
        "  A query that batch answers in half a second of CPU gains nothing at this scale.",
        "* Clustered: Q9 and Q17 go from what changed to parts, whose keys lie anywhere, so that the ranges of the",
        "  changed keys cover most of the large tables. Q13 and Q22 read all customers.",
        "* Scattered: when every table changes a little everywhere, each of them leads to a term that reads the others",
        "  nearly whole, and no range of keys helps. There the refresh costs more than batch, Q21 far more, whose",
        "  conditions over a self-join are tested before and after the change. When this was measured, the share of",
        "  changed rows was all that a choice went by; now such a view is computed in full ([ADR 9](adr/0009-costs.md)).",
        "* What Spark counts as bytes read leaves out vectored reads of Parquet, so that plain tables seem to cost",
        "  next to none. Rows are counted alike on both sides, after row groups and pages were skipped.",
    ]
    return "\n".join(lines) + "\n"


def _cells(cells: Sequence[Cell]) -> list[str]:
    lines: list[str] = []
    for (nature, share), alike in grouped(cells).items():
        lines += [f"## {nature.capitalize()}, {share:.2%} of the rows", ""]
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
