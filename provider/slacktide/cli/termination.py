"""How a command ends that is told to: by SIGTERM, or as its terminal closes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED: Final = 128


class Terminated(SystemExit):
    """A command was told to end; what it is doing is cleaned up on the way.

    Attributes:
        name: of the signal.
        exit_code: as shells count signals.
    """

    def __init__(self, number: int) -> None:
        self.name = signal.Signals(number).name
        self.exit_code = _SIGNALLED + number
        super().__init__(self.exit_code)


@contextmanager
def heeding_termination() -> Iterator[None]:
    """Raise `Terminated` where a signal says so, whatever else fails after it.

    A signal for a whole group of processes ends Java too, and those who clean up find that it does not
    answer. Signals that are ignored stay so, as nohup has it; they reach the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[Terminated] = []

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        told.append(Terminated(number))
        raise told[-1]

    before = {number: signal.getsignal(number) for number in _ENDINGS}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, end)
    try:
        yield
    except BaseException as error:
        if not told or error is told[0]:
            raise
        raise told[0] from error
    finally:
        for number in heeded:
            signal.signal(number, before[number])
