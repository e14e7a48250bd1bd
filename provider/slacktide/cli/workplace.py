"""Where commands work that make data of their own: a folder that goes away whatever ends them."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from slacktide.errors import InvalidSettingError

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


@contextmanager
def folder(keep: str | None) -> Iterator[Path]:
    """Give an empty folder: a temporary one, or the one to keep.

    Raises:
        InvalidSettingError: the one to keep is not empty.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="slacktide-", ignore_cleanup_errors=True) as name:
            yield Path(name).resolve()
        return
    root = Path(keep).expanduser().resolve()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InvalidSettingError(f"{root} is not an empty directory", hint="name a new one")
    root.mkdir(parents=True, exist_ok=True)
    yield root


@contextmanager
def heeding_termination() -> Iterator[None]:
    """Clean up after SIGTERM and a closed terminal, too; signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _terminated) for number in _ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminated(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_SIGNALLED + number)
