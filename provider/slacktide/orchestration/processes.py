"""Ends processes by the session that they were started in, and none besides."""

from __future__ import annotations

import os
import signal
import time

_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.1


def session_members(session: int) -> list[int]:
    """Give the ids of the living processes of a session, its leader included."""
    import psutil  # type: ignore[import-untyped]

    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def end_session(session: int) -> None:
    """Ask every process of a session to end, and make those end that do not in time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in session_members(session):
            _send(pid, number)
        end = time.monotonic() + _WAIT_SECONDS
        while session_members(session):
            if time.monotonic() > end:
                break
            time.sleep(_POLL_SECONDS)
        else:
            return


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
