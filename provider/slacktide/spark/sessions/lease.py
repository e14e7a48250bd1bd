"""A session for one command: started where none runs, and stopped by whoever started it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import IO, TYPE_CHECKING

from slacktide.common.extras import install
from slacktide.common.session_settings import USUAL
from slacktide.errors import ExecutionError, SetupError
from slacktide.spark.sessions.session import is_running, start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STREAMS = (1, 2)
_ENDING_SECONDS = 20.0
_BROKEN_SECONDS = 2.0  # a process that is killed has ended by then
_TALKERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def leased_session(
    app: str,
    *,
    conf: Mapping[str, str] | None = None,
    starting: Callable[[], AbstractContextManager[None]] = nullcontext,
    loud: bool = False,
) -> Iterator[SparkSession]:
    """Give the session of this process; one that ran before goes on running afterwards.

    Args:
        app: its name.
        conf: settings besides those of `start_session`, for a session that is started.
        starting: entered while it starts, to tell the user.
        loud: let what Java prints reach the user's screen.

    Raises:
        SetupError: PySpark or Java is missing, or Spark does not start.
        ExecutionError: Java ended while the session was in use.
    """
    with ExitStack() as stack:
        if not loud:
            stack.enter_context(_silent())
        if is_running():
            yield start_session(app)
            return
        with starting(), _own_interrupts():
            session = start_session(app, conf=conf) if loud else _started_quietly(stack, app, conf)
        try:
            with _java_heeded():
                yield session
        finally:
            try:
                _stop(session)
            finally:
                _end_java()


@contextmanager
def _java_heeded() -> Iterator[None]:
    """Say that Java has ended, where calls to it fail for that.

    Raises:
        ExecutionError: Java has ended; the failure of the call is its cause.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        yield
    except (Py4JError, ConnectionRefusedError, ConnectionResetError, ExecutionError) as failure:
        lost = failure.__cause__ if isinstance(failure, ExecutionError) else failure
        # What Java itself has thrown, it has lived to tell.
        is_lost = isinstance(lost, Py4JError | OSError) and not isinstance(lost, Py4JJavaError)
        if not is_lost or not _java_has_ended():
            raise
        raise ExecutionError(
            "Spark's Java ended in mid-work: it was killed, or ran out of memory",
            hint="run it again, with more spark.driver.memory if the machine has it",
        ) from failure


def _java() -> subprocess.Popen[bytes] | None:
    """The process of Spark's Java; None where this process has started none."""
    from pyspark import SparkContext

    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process


def _java_has_ended() -> bool:
    process = _java()
    if process is None:
        return False
    try:
        process.wait(_BROKEN_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _stop(session: SparkSession) -> None:
    """Stop a session; where its Java has ended already, whoever noticed has told what ended it."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    with warnings.catch_warnings(), suppress(Py4JError, OSError):
        warnings.simplefilter("ignore", RuntimeWarning)  # of PySpark: "unable to cleanly shutdown"
        session.stop()
    SparkContext._active_spark_context = None  # PySpark leaves it where Java refused the call


def _end_java() -> None:
    """Wait for Java to end, as it would else go on for a moment after Python, and write."""
    from pyspark import SparkContext

    gateway, process = SparkContext._gateway, _java()
    if gateway is None or process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep the handler of Ctrl-C: PySpark's own calls Java from within a call to Java, and fails."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _started_quietly(stack: ExitStack, app: str, conf: Mapping[str, str] | None) -> SparkSession:
    """Start a session whose Java prints into a file: its lines would tear documents and tables."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError:
        return start_session(app, conf=conf)  # says what is missing
    log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the session
    stack.enter_context(log)
    try:
        with _redirected(log):
            return start_session(app, conf=conf)
    except (Py4JError, PySparkException) as error:
        raise SetupError(
            f"Spark did not start: {_last_line(log) or error}",
            hint="SLACKTIDE_DEBUG=1 shows all that it printed",
        ) from error


@contextmanager
def _redirected(log: IO[bytes]) -> Iterator[None]:
    """Let processes that start meanwhile print into a file, for as long as they run."""
    saved = {stream: os.dup(stream) for stream in _STREAMS}
    try:
        for stream in _STREAMS:
            os.dup2(log.fileno(), stream)
        yield
    finally:
        for stream, copy in saved.items():
            os.dup2(copy, stream)
            os.close(copy)


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


@contextmanager
def submitted_session() -> Iterator[SparkSession]:
    """Give the session of a submitted application; what spark-submit was told goes before ours.

    Raises:
        SetupError: PySpark is missing in the Python of the driver.
    """
    try:
        from pyspark.conf import SparkConf
        from pyspark.sql import SparkSession
    except ImportError as missing:
        raise SetupError(
            "PySpark is not installed in the Python of the driver",
            hint=f"{install('spark')} there",
        ) from missing
    given = SparkConf()
    builder = SparkSession.builder
    for key, value in USUAL.items():
        if not given.contains(key):
            builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        with _hushed():
            yield session
    finally:
        session.stop()


@contextmanager
def _silent() -> Iterator[None]:
    """Keep libraries from logging: what goes wrong is told in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep PySpark from logging, stack and all, errors that are told in one line."""
    loggers = [logging.getLogger(name) for name in _TALKERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
