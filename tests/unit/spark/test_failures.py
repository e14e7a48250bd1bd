"""What Spark raises becomes one of our errors, by the name that Spark gives it."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, PySparkException

from slacktide import errors as e
from slacktide.spark.failures.translation import translated

OURS = "/w/views/revenue/0123456789abcdef0123456789abcdef/base/part-00000-c000.zstd.parquet"
FORMER = OURS.replace("revenue", "revenue@7")
TEXTS = {
    "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012": e.DataError,
    "java.lang.IllegalArgumentException: requirement failed\n\tat scala.Predef$.require(Predef.scala:337)"
    "\n\tat org.apache.spark.sql.catalyst.expressions.Sequence.eval(collectionOperations.scala:1)": e.DataError,
    "java.lang.IllegalArgumentException: Illegal base64 character\n\tat java.base/java.util.Base64$Decoder.decode"
    "\n\tat org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIterator.next": e.DataError,
    "java.lang.IllegalArgumentException: Size exceeds Integer.MAX_VALUE\n\tat sun.nio.ch.FileChannelImpl.map"
    "\n\tat org.apache.spark.storage.DiskStore.getBytes"
    "\n\tat org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIterator.next": e.ExecutionError,
    "[CAST_INVALID_INPUT.X] The value 'x' is not an INT.": e.DataError,
    "[USER_RAISED_EXCEPTION] SLACKTIDE_NEGATIVE a group has fewer rows SQLSTATE: P0001": e.DataError,
    "[STAGE_MATERIALIZATION_MULTIPLE_FAILURES] Multiple failures (2) in stage materialization:\n"
    "1. SparkRuntimeException: [USER_RAISED_EXCEPTION] SLACKTIDE_NEGATIVE a group has fewer rows"
    " SQLSTATE: P0001\n2. the same": e.DataError,
    "[USER_RAISED_EXCEPTION] SLACKTIDE_CHANGE_TYPE source t, file f: unknown": e.SourceError,
    "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file s3a://lake/t/1": e.SourceError,
    f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {OURS}.": e.DamagedFileError,
    f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {FORMER}.": e.DamagedFileError,
    "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found": (
        e.SetupError
    ),
    'UnsupportedFileSystemException: No FileSystem for scheme "gs"': e.SetupError,
    f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {OURS}.\n"
    "Caused by: java.nio.file.AccessDeniedException: s3a://lake/w: 403": e.SetupError,
    f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {OURS}.\n"
    "Caused by: software.amazon.awssdk.core.exception.SdkClientException: refused": e.StorageError,
    "[USER_RAISED_EXCEPTION] java.net.ConnectException": e.DataError,
    "[CANNOT_PARSE_TIMESTAMP] Text 'n/a' could not be parsed. SQLSTATE: 22007": e.DataError,
    "[NULL_MAP_KEY] Cannot use null as map key. SQLSTATE: 2200E": e.DataError,
    "[INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND] Could not find a#1 in [b#2]. SQLSTATE: XX000": (
        e.UnsupportedQueryError
    ),
    "[INTERNAL_ERROR_NETWORK] a block is gone SQLSTATE: XX000": e.ExecutionError,
    "[SOMETHING_ELSE] the cluster is gone": e.ExecutionError,
    "the cluster is gone": e.ExecutionError,
}


@pytest.mark.parametrize("text", TEXTS)
def test_errors_by_name(text: str) -> None:
    with pytest.raises(e.SlacktideError, match=r"view v: ") as caught, translated("view v"):
        raise PySparkException(message=text)
    assert type(caught.value) is TEXTS[text]
    assert caught.value.hint


def test_rows_that_do_not_fit_have_another_way_out() -> None:
    """Spark names the row, or the file and the row as the cause."""
    row = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected: [x]."
    unread = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file /in/a.csv."
    texts = (row, f"{unread}\nCaused by: {row}", unread)
    hints = []
    for text in texts:
        with pytest.raises(e.SourceError) as caught, translated("view v"):
            raise PySparkException(message=text)
        hints.append(caught.value.hint)
    assert all("slacktide source skip" in hint for hint in hints)
    assert ["--quarantine" in hint for hint in hints] == [True, True, False]


def test_a_value_that_a_function_cannot_parse_is_of_its_row() -> None:
    text = "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are detected: [x]."
    with pytest.raises(e.DataError), translated("view v", reads_text=False):
        raise PySparkException(message=text)
    with pytest.raises(e.SourceError), translated("view v", reads_text=False):
        raise PySparkException(message=f"[FAILED_READ_FILE.NO_HINT] of /in/a.\nCaused by: {text}")


def test_what_spark_refuses_to_analyse() -> None:
    with pytest.raises(e.UnsupportedQueryError), translated("view v"):
        raise AnalysisException(message="[UNRESOLVED] no")


def test_our_own_errors_pass() -> None:
    with pytest.raises(e.SourceError, match=r"^as it is$"), translated("view v"):
        raise e.SourceError("as it is")
