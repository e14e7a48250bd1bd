"""Write the pages of ``provider/docs`` that are drawn from code: ``python -m tools.docs``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from slacktide.common.reasons import SENTENCES
from tools.bootstrap import ROOT

DOCS = ROOT / "provider" / "docs"
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


def pages() -> Mapping[Path, str]:
    """Give the text of every page that is drawn."""
    return {DOCS / "reasons.md": reasons_page()}


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
