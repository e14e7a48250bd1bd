"""How Spark is told to read any file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# A session may be told to skip corrupt or missing files, which would silently drop rows: options of a read
# override it.
STRICT: Final[Mapping[str, str]] = MappingProxyType(
    {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
)
