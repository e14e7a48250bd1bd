"""Failures of Spark as errors of ours, at the edge of this layer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from slacktide.common.change_feed import CHANGE_TYPE, DELETE, INSERT, POSTIMAGE, PREIMAGE
from slacktide.errors import (
    DamagedFileError,
    DataError,
    ExecutionError,
    SlacktideError,
    SourceError,
    StorageError,
    UnsupportedQueryError,
)
from slacktide.spark.failures.python_failures import of_python
from slacktide.spark.failures.reaching import missing_format, store_failure
from slacktide.spark.texts import marks
from slacktide.store.failures import MAKE_ROOM, is_disk_full
from slacktide.store.layout import chain_in
from slacktide.store.record import FunctionRecord

_STATE = re.compile(r"SQLSTATE: (\w{5})")
_NAMED = re.compile(r"\[([A-Z][A-Z_]+)[.\]]")
# What several stages that fail at once are reported as; the failures themselves stand inside.
_WRAPPERS = ("STAGE_MATERIALIZATION_MULTIPLE_FAILURES",)
_READ = re.compile(r"while reading file (\S+?)\.?\s")
_SAID = re.compile(
    r"^(?:Caused by)?: .+(?:\n(?![\t ]+(?:at |\.\.\.)|Caused by: |:).+)*", re.MULTILINE
)
"""What each exception of a trace says."""
_MALFORMED = "MALFORMED_RECORD"
_FILES = (
    "FAILED_READ_FILE",
    "PATH_NOT_FOUND",
    "CANNOT_READ",
    _MALFORMED,
    "UNABLE_TO_INFER",
)
_AGAIN = "deliver the file again under a new name and leave this arrival out with 'slacktide source skip'"
_OTHER_WAYS = {
    _MALFORMED: ", or add the source with --quarantine, which keeps rows that do not fit apart",
    "CSV header": ", or add the source with the columns that its headers name, or with --option enforceSchema=true, "
    "by which columns go by their places",
}
_OVERFLOWS = (
    "ARITHMETIC_OVERFLOW",
    "BINARY_ARITHMETIC_OVERFLOW",
    "CAST_OVERFLOW",
    "NUMERIC_VALUE_OUT_OF_RANGE",
)
_DATA = (
    *_OVERFLOWS,
    "CAST_INVALID_INPUT",
    "DATETIME_OVERFLOW",
    "DIVIDE_BY_ZERO",
    "INVALID_ARRAY_INDEX",
    "REMAINDER_BY_ZERO",
    "SCALAR_SUBQUERY_TOO_MANY_ROWS",
    "USER_RAISED_EXCEPTION",
)
_OF_ROWS = ("21", "22", "23", "54", "P0")
"""Classes of SQLSTATE of what a row does: cardinality, data, constraints, sizes past a limit, and what a query raises."""
_RAISED = re.compile(
    r"java\.lang\.ArithmeticException|java\.time\.DateTimeException"
    r"|java\.util\.regex\.PatternSyntaxException|java\.util\.\w*Format\w*Exception"
    r"|(?:IllegalArgument|NumberFormat|SparkRuntime)Exception\b[^\n]*(?:\n(?!\s+at )[^\n]*)*"
    r"(?:\n\s+at (?:java|jdk|scala)\.[^\n]*)*"
    r"\n\s+at org\.apache\.spark\.(?:unsafe\.|sql\.catalyst\.(?:expressions|util)\.|sql\.errors\.QueryExecutionErrors)"
)
"""What some functions raise over a row without an SQLSTATE, as `timestamp_seconds` does past its range. Some kinds tell
that by themselves; the last three Spark raises for much else, and are of a row where an expression raised them, itself or
by Java's library: generated code stands further down in every trace."""
_NOT_OF_ROWS = ("21S", "22022", "22KD")
"""Of settings, modules and tables, though of these classes."""
_UNPLANNED = "INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND"
"""The condition of a program that Spark's optimiser has broken; others of its kind may pass with the next attempt."""


@contextmanager
def translated(
    what: str, functions: Sequence[FunctionRecord] = (), *, reads_text: bool = True
) -> Iterator[None]:
    """Raise what Spark raises inside as an error of ours.

    Args:
        what: the object that the work is for, as "view revenue".
        functions: of the user, that the work may call.
        reads_text: whether it may read csv or json files: else a malformed record is a value of a row, which a
            function parses.

    Raises:
        FunctionError: a function of the user raised, or is not where Spark's workers run.
        StorageError: a disk is full, or an object store cannot be reached.
        SourceError: a file cannot be read as declared.
        DamagedFileError: a file of the workspace cannot be read.
        SetupError: Spark has no connector for it, or is refused.
        DataError: rows contradict the declared history, or fail in the query.
        UnsupportedQueryError: Spark does not accept the program.
        ExecutionError: anything else; a retry may help.
    """
    try:
        yield
    except SlacktideError:
        raise
    except (PySparkException, Py4JJavaError) as failure:
        raise _translate(what, failure, functions, reads_text=reads_text) from failure
    except Py4JError as failure:
        raise ExecutionError(
            f"{what}: the connection to Spark failed: {first_line(failure)}",
            hint="run the refresh again",
        ) from failure


def is_overflow(error: SlacktideError) -> bool:
    """Whether an error stands for an overflow in Spark."""
    failure = error.__cause__
    if not isinstance(failure, PySparkException | Py4JJavaError):
        return False
    return _condition(failure).startswith(_OVERFLOWS) or marks.OVERFLOW in str(failure)


def is_cancelled(failure: BaseException) -> bool:
    """Whether Spark says of a failure that a job of it was cancelled."""
    is_of_spark = isinstance(failure, PySparkException | Py4JJavaError)
    return is_of_spark and "JOB_CANCELLED" in _whole(failure)


def _translate(
    what: str,
    failure: PySparkException | Py4JJavaError,
    functions: Sequence[FunctionRecord],
    *,
    reads_text: bool,
) -> SlacktideError:
    outside = _outside(what, failure, functions)
    if outside is not None:
        return outside
    text, condition = str(failure), _condition(failure)
    chain = chain_in(text)
    if condition.startswith(_FILES) and chain:
        return DamagedFileError(
            f"{what}: a file of the workspace cannot be read: {first_line(failure)}",
            chain=chain,
            hint="restore the file, or drop the view and add it again: its readers begin anew",
        )
    own = _own(what, text) if condition == "USER_RAISED_EXCEPTION" else None
    if own is not None:
        return own
    is_of_row = condition.startswith(_MALFORMED) and not reads_text
    if condition.startswith(_FILES) and not is_of_row:
        line, whole = first_line(failure), _whole(failure)
        read = _READ.search(whole)
        named = read[1] if read and read[1] not in line else "a file"
        ways = [way for sign, way in _OTHER_WAYS.items() if sign in whole]
        return SourceError(f"{what}: {named} cannot be read: {line}", hint="".join((_AGAIN, *ways)))
    is_of_row |= _is_of_rows(_state(failure)) or _RAISED.search(_whole(failure)) is not None
    if is_of_row or condition.startswith(_DATA):
        return DataError(
            f"{what}: a row fails in the query: {first_line(failure)}",
            hint="correct the query (try_… functions give NULL) or the row; "
            "the last answer stays as it was",
        )
    if isinstance(failure, AnalysisException) or condition == _UNPLANNED:
        return UnsupportedQueryError(
            f"{what}: Spark refuses the program: {first_line(failure)}",
            hint="change the query as Spark says, or report it",
        )
    return ExecutionError(f"{what}: {first_line(failure)}", hint="run the refresh again")


def _outside(
    what: str, failure: PySparkException | Py4JJavaError, functions: Sequence[FunctionRecord]
) -> SlacktideError | None:
    """What a failure says of disks, functions of the user and object stores; None for all else."""
    text = str(failure)
    if is_disk_full(text):
        return StorageError(
            f"{what}: no space is left on a disk that Spark writes to, that of the workspace or a "
            "local one of Spark",
            hint=MAKE_ROOM,
        )
    told = of_python(what, text, functions) or missing_format(what, text)
    condition = _condition(failure)
    if told is not None or (condition and not condition.startswith(_FILES)):
        return told
    return store_failure(what, _whole(failure), first_line(failure))


def _own(what: str, text: str) -> SlacktideError | None:
    """What an error that our programs raise says; None for one that the author's text raises."""
    mark, _, rest = (marks.MARK + text.partition(marks.MARK)[2]).partition(" ")
    fact = rest.split(" SQLSTATE")[0].split("\n")[0].strip()
    match mark:
        case marks.CHANGE_TYPE:
            return SourceError(
                f"{what}: {fact}",
                hint=f"{CHANGE_TYPE} is {INSERT}, {DELETE}, {PREIMAGE} or {POSTIMAGE}; leave the "
                "arrival out with 'slacktide source skip'",
            )
        case marks.APPEND_ONLY:
            return SourceError(
                f"{what}: {fact} takes a row away, and the source is append_only",
                hint="leave the arrival out with 'slacktide source skip'",
            )
        case marks.OVERFLOW:
            return DataError(f"{what}: {fact}", hint="widen the type of what is summed")
        case marks.NEGATIVE:
            return DataError(
                f"{what}: {fact}",
                hint="a delete has come for a row that never was, or came twice: leave the arrival "
                "out with 'slacktide source skip', or 'slacktide source reset'",
            )
        case _:
            return None


def _condition(failure: PySparkException | Py4JJavaError) -> str:
    """Spark's name for a failure; PySpark does not give it for all that comes from the JVM."""
    given = failure.getCondition() if isinstance(failure, PySparkException) else None
    named = [*([given] if given else []), *_NAMED.findall(str(failure))]
    return next((name for name in named if name not in _WRAPPERS), "")


def _is_of_rows(state: str) -> bool:
    return state.startswith(_OF_ROWS) and not state.startswith(_NOT_OF_ROWS)


def _state(failure: PySparkException | Py4JJavaError) -> str:
    """The SQLSTATE of a failure, of which the class says what kind of thing has failed; empty where it has none."""
    found = _STATE.search(str(failure))  # that of what stands inside of a wrapper comes first
    return found[1] if found else ""


def _whole(failure: PySparkException | Py4JJavaError) -> str:
    """What a failure says, its causes included; PySpark keeps these apart."""
    return f"{failure}\n{getattr(failure, '_stackTrace', '')}"


def first_line(failure: BaseException) -> str:
    """What a failure says, in one line, without Spark's trace."""
    text = str(failure).strip() or type(failure).__name__
    if isinstance(failure, Py4JJavaError):
        said = _SAID.findall(text)
        # The outermost tells of jobs and stages in lines of its own; the innermost tells the fact in all of its lines.
        lines = [said[0].splitlines()[0], said[-1]] if said else []
        told = [" ".join(map(str.strip, one.split(": ", 2)[-1].splitlines())) for one in lines]
        text = "; ".join(dict.fromkeys(told)) or text
    return text.splitlines()[0][:500]
