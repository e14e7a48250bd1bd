"""Write the locks: ``python -m tools.lock [--upgrade]``, called by ``make lock``.

The widest lock is made first and constrains the others, so that a package has one version in all of
them. They hold names, versions and hashes; where packages come from is the reader's setting.
"""

from __future__ import annotations

import sys

from tools.bootstrap import ROOT, Unprepared, find_uv, run

_PROJECT = str(ROOT / "pyproject.toml")
_EVERYTHING = "locks/dev.txt"
_CONTENT = {
    _EVERYTHING: [_PROJECT, "--all-extras", "--group", f"{_PROJECT}:dev"],
    "locks/airflow.txt": [_PROJECT, "--all-extras", "--group", f"{_PROJECT}:build"],
    "locks/spark.txt": [_PROJECT, "--extra", "spark"],
    "locks/core.txt": [_PROJECT],
    "locks/uv.txt": ["--group", f"{_PROJECT}:installer"],
}
_FORM = [
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--no-emit-index-url",
    "--quiet",
]


def main(options: list[str]) -> int:
    """Write every lock; ``--upgrade`` takes the newest versions instead of keeping the locked ones."""
    try:
        uv = find_uv()
        for path, content in _CONTENT.items():
            limits = options if path == _EVERYTHING else ["--constraint", str(ROOT / _EVERYTHING)]
            target = ["--output-file", str(ROOT / path)]
            run(uv, "pip", "compile", *_FORM, *limits, *content, *target)
    except Unprepared as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
