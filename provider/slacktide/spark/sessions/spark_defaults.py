"""What a user's `spark-defaults.conf` says, which goes before our own defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(r"\s*([^#!\s=:]\S*?)\s*[=:\s]\s*(.*?)\s*")


def spark_defaults(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read the settings that Spark will take from its file of defaults; empty where there is none.

    Spark looks in `SPARK_CONF_DIR`, else in `conf` below its home, as PySpark finds that.

    Args:
        environment: in place of that of the process.
    """
    surroundings = os.environ if environment is None else environment
    given = surroundings.get("SPARK_CONF_DIR")
    folder = Path(given) if given else _home(surroundings) / "conf"
    try:
        text = (folder / "spark-defaults.conf").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}  # Spark says what is wrong with it
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return {one[1]: one[2] for one in found if one is not None and one[1].startswith("spark.")}


def _home(surroundings: Mapping[str, str]) -> Path:
    import pyspark

    return Path(surroundings.get("SPARK_HOME") or Path(pyspark.__file__).parent)
