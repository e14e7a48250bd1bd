"""Failures of Spark's connectors, to object stores or for a format: a store out of reach is no damaged file."""

from __future__ import annotations

import re
from typing import Final

from slacktide.errors import SetupError, SlacktideError, StorageError

_CONNECTOR: Final = re.compile(
    r"Class (?P<class>org\.apache\.hadoop\.fs\.\S+|com\.google\.\S+) not found"
    r"|No FileSystem for scheme \"?(?P<scheme>[a-z0-9]+)"
)
_FORMAT: Final = re.compile(r"Failed to find data source: (?P<format>\w+)")
_REFUSED: Final = re.compile(
    r"NoAuthWithAWSException|CredentialInitializationException|AWSNoAccessException"
    r"|UnauthorizedException|AccessDeniedException: (?:s3a|abfss|gs)://"
)
_UNREACHED: Final = re.compile(
    r"SdkClientException|AWSClientIOException|AWSServiceThrottledException|AWSStatus5\w+Exception"
    r"|ConnectTimeoutException|SocketTimeoutException|UnknownHostException"
    r"|java\.net\.(?:Connect|NoRouteToHost)Exception|HttpConnectTimeoutException"
)


def missing_format(what: str, text: str) -> SetupError | None:
    """Give the error where Spark cannot read a format without a package of its own.

    Args:
        what: the object that the work is for, as "view revenue".
        text: what Spark says.
    """
    found = _FORMAT.search(text)
    if found is None:
        return None
    return SetupError(
        f"{what}: Spark has no connector for files of the format {found['format']}",
        hint=f"name org.apache.spark:spark-{found['format']}_2.13, in the version of Spark, in "
        "spark.jars.packages, under spark.packages in the Variable or in spark-defaults.conf",
    )


def store_failure(what: str, text: str, line: str) -> SlacktideError | None:
    """Give the error where a connector is missing, is refused, or cannot reach its store.

    Args:
        what: the object that the work is for, as "view revenue".
        text: all that Spark says, causes included.
        line: the same in one line.
    """
    missing = _CONNECTOR.search(text)
    if missing:
        return SetupError(
            f"{what}: Spark has no connector for the object store"
            f" ({missing['class'] or missing['scheme']} is missing)",
            hint="give Spark its jars as spark.jars.packages, under spark.packages in the Variable "
            "or in spark-defaults.conf; see 'On an object store' in the README",
        )
    if _REFUSED.search(text):
        return SetupError(
            f"{what}: the object store refuses Spark: {line}",
            hint="give credentials in the Airflow connection or the environment, with the right to "
            "read, write, list and delete",
        )
    if _UNREACHED.search(text):
        return StorageError(
            f"{what}: Spark does not reach the object store: {line}",
            hint="the same call may succeed when repeated",
        )
    return None
