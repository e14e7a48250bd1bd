"""Every construct under every kind of change, equal to batch each time, and its costs; writes the page.

python -m tests.campaigns.capabilities
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from slacktide.spark.sessions.session import start_session
from tests.harness.capabilities import CHANGES, PAGE, page, played
from tests.harness.constructs import CONSTRUCTS
from tests.harness.small_changes import shares


def main() -> int:
    """Run the campaign."""
    spark = start_session("capabilities")
    with tempfile.TemporaryDirectory() as folder:
        found = played(spark, Path(folder) / "all", [*CONSTRUCTS], [*CHANGES])
        read = shares(spark, Path(folder) / "large", CONSTRUCTS)
    PAGE.write_text(page(found, read), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
