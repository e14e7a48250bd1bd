"""The application of spark-submit, which dies by SIGKILL at a chosen point, its Java with it.

python killed.py POINT --workspace ROOT --plan PLAN_ID
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import obstore
from pyspark.sql import SparkSession

from slacktide.cli import submit

GLANCE = 0.002


def die(*_: Any, **__: Any) -> None:
    """End this process and all that it started, at once."""
    os.killpg(0, signal.SIGKILL)


def dying(
    call: Callable[..., Any], below: str, number: int, *, is_done: bool
) -> Callable[..., Any]:
    """Die at the n-th call for a path that has a part, before it is done or after."""
    calls: list[int] = []

    def replaced(store: Any, path: str, *arguments: Any, **named: Any) -> Any:
        met = below in path
        calls.extend([1] if met else [])
        if met and len(calls) == number and not is_done:
            die()
        answer = call(store, path, *arguments, **named)
        if met and len(calls) == number:
            die()
        return answer

    return replaced


def die_with_a_new_folder(root: Path) -> None:
    """Die as soon as Spark has made the folder of a write."""

    def folders() -> set[Path]:
        return {*(root / "states").glob("*/*"), *(root / "views").glob("*/*")}

    def watch(known: set[Path]) -> None:
        while folders() == known:
            Event().wait(GLANCE)
        die()

    Thread(target=watch, args=(folders(),), daemon=True).start()


def prepare(point: str, root: Path) -> None:
    """Lay the trap."""
    match point:
        case "before any write":
            SparkSession.newSession = die  # type: ignore[assignment, method-assign]
        case "during a write":
            die_with_a_new_folder(root)
        case "between two writes":
            obstore.put = dying(obstore.put, ".parquet", 2, is_done=False)
        case "before the entry":
            obstore.put = dying(obstore.put, "log/", 1, is_done=False)
        case "after the entry":
            obstore.put = dying(obstore.put, "log/", 1, is_done=True)
        case _:
            raise ValueError(point)


if __name__ == "__main__":
    prepare(sys.argv[1], Path(sys.argv[3]))
    sys.exit(submit.main(sys.argv[2:]))
