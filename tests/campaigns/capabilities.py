"""Every construct under every kind of change, equal to batch each time; writes the page.

python -m tests.campaigns.capabilities
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from slacktide.spark.session import local_session
from tests.harness.capabilities import CHANGES, PAGE, page, play
from tests.harness.constructs import CONSTRUCTS


def main() -> int:
    """Run the campaign."""
    spark = local_session("capabilities")
    with tempfile.TemporaryDirectory() as folder:
        found = play(spark, Path(folder), [*CONSTRUCTS], [*CHANGES])
    PAGE.write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
