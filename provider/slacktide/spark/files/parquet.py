"""How Parquet files are written, whoever writes them: by Spark or by Arrow, for us or for other readers."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# Of the files of a workspace; those of a sink are for readers of any kind.
COMPRESSION: Final = "zstd"
PUBLISHED_COMPRESSION: Final = "snappy"
# A log or a pointer says which files there are; a file that says so in a directory is one too many.
SPARK_OPTIONS: Final = MappingProxyType(
    {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
)
