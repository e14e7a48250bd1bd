"""Files of ours as Spark reads them: each page by its checksum, each file by its length and its seal.

Spark passes over a file without a byte, as if it had no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from slacktide.errors import DamagedFileError
from slacktide.spark.files.reading import STRICT
from slacktide.spark.files.seals import altered
from slacktide.store.layout import from_attempt

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slacktide.store.record import StoredFile
    from slacktide.store.store import Store

_OPTIONS = MappingProxyType(
    {
        "parquet.page.verify-checksum.enabled": "true",
        # A dictionary would be decoded once for each bound of each range of keys. Files lie sorted by key,
        # so that their footers and the indexes of their pages tell already what can be skipped.
        "parquet.filter.dictionary.enabled": "false",
        **STRICT,
    }
)


def stored_frame(
    session: SparkSession,
    store: Store,
    chain: str,
    schema: str,
    paths: Sequence[str],
    files: Sequence[StoredFile],
) -> DataFrame:
    """The rows of some Parquet files of ours, with what Spark knows of the files.

    Args:
        session: that reads them.
        store: in which they are.
        chain: to which they belong.
        schema: of the rows, as DDL.
        paths: of the files, as Spark takes them.
        files: as the log knows them; there is one.

    Raises:
        DamagedFileError: a file has not the length with which it was written, or its end is another one.
    """
    frame = session.read.schema(schema).options(**_OPTIONS).parquet(*paths)
    location = frame._jdf.queryExecution().analyzed().relation().location()
    if int(location.sizeInBytes()) != sum(file.size for file in files):
        raise _cut(chain, files, dict(_lengths(location)))
    wrong = altered(store, files)
    if wrong is not None:
        raise _damaged(chain, f"{wrong.path} was altered since it was written")
    return frame


def _lengths(location: Any) -> Iterator[tuple[str, int]]:
    """The files that Spark has found, each by the end of its path, and their lengths."""
    found = location.allFiles()
    for place in range(int(found.size())):
        status = found.apply(place)
        yield from_attempt(str(status.getPath().toString())), int(status.getLen())


def _cut(chain: str, files: Sequence[StoredFile], lengths: dict[str, int]) -> DamagedFileError:
    wrong = next((f for f in files if lengths.get(from_attempt(f.path)) != f.size), files[0])
    found = lengths.get(from_attempt(wrong.path), 0)
    return _damaged(chain, f"{wrong.path} has {found} bytes where {wrong.size} were written")


def _damaged(chain: str, fact: str) -> DamagedFileError:
    return DamagedFileError(
        f"a file of the workspace cannot be read: {fact}",
        chain=chain,
        hint="restore the file, or drop the view and add it again: its readers begin anew",
    )
