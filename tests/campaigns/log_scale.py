"""A log of 10,000 entries with a million pinned files, opened by new processes.

python -m tests.campaigns.log_scale --out tests/campaigns/log_scale.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from slacktide import store as s
from slacktide.store.checkpoint import EVERY
from tests.harness.long_log import build
from tests.harness.versions import versions

ENTRIES = 10_000 + EVERY - 1
"""As many entries after the newest checkpoint as there can be."""
FILES = 1_000_000
TIMES = 5
OPEN = """
import json, sys, time
start = time.perf_counter()
from slacktide.common.clock import system_clock
from slacktide.store.store import Store
imported = time.perf_counter()
world = Store.open(sys.argv[1], clock=system_clock).world()
opened = time.perf_counter()
source = world.sources["orders"]
rows = source.rows_at(source.version)
summed = time.perf_counter()
newest = source.arrivals[source.version - 1]
found = time.perf_counter()
print(json.dumps({
    "entries": world.number + 1, "files": source.arrivals.file_count, "rows": rows,
    "import_seconds": imported - start, "open_seconds": opened - imported,
    "sum_seconds": summed - opened, "newest_arrival_seconds": found - summed,
}))
"""


def main() -> int:
    """Build the log, open it several times, and keep what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        objects = s.connect(s.parse_address(root), create=True)
        build(objects, entries=arguments.entries, files=arguments.files)
        runs = [_opened(root) for _ in range(TIMES)]
    found = {**versions(), "runs": runs}
    arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    slowest = max(run["open_seconds"] for run in runs)
    sys.stdout.write(f"{runs[0]['entries']} entries, {runs[0]['files']} files: {slowest:.2f} s\n")
    return 0 if slowest < 1 else 1


def _opened(root: str) -> dict[str, float]:
    ran = subprocess.run(
        [sys.executable, "-c", OPEN, root], check=True, capture_output=True, text=True
    )
    measured: dict[str, float] = json.loads(ran.stdout)
    return {name: round(value, 4) for name, value in measured.items()}


if __name__ == "__main__":
    raise SystemExit(main())
