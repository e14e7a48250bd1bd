"""Bring Spark's connectors for S3 and Avro: ``python -m tools.jars``; ``--lock`` writes ``locks/spark.jars`` anew.

Spark resolves the packages itself, as it does for a user who names them in ``spark.jars.packages``. What
came is then compared with the lock: the same files with the same digests, or nothing is used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tools.bootstrap import ROOT, SCRATCH, Unprepared, say
from tools.machine import JAVA_ADVICE, find_java

LOCK = ROOT / "locks" / "spark.jars"
# The version of hadoop-aws is that of the Hadoop client in PySpark; the SDK's is the one it was built with.
PACKAGES = (
    "org.apache.hadoop:hadoop-aws:3.4.2",
    "software.amazon.awssdk:s3:2.29.52",
    "software.amazon.awssdk:s3-transfer-manager:2.29.52",
    "software.amazon.awssdk:sts:2.29.52",
)
AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"
# The SDK for all services of AWS, 640 MB; the parts that S3A uses are named above.
EXCLUDED = ("software.amazon.awssdk:bundle",)
ATTEMPTS = 3


def main(options: list[str]) -> int:
    """Bring the jars, or lock what Spark resolves now."""
    try:
        if options == ["--lock"]:
            with alone(SCRATCH / "ivy"):
                found = digests(resolved(SCRATCH / "ivy"))
            LOCK.write_text(written(found), encoding="utf-8")
        else:
            print(*connector_jars(), sep="\n")
    except Unprepared as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def connector_jars(folder: Path = SCRATCH / "ivy", lock: Path = LOCK) -> list[Path]:
    """Give the jars of the lock, brought where they are not there yet.

    Raises:
        Unprepared: they cannot be brought, or are not what the lock says.
    """
    expected = read(lock)
    jars = [folder / "jars" / name for name in expected]
    with alone(folder):
        if not all(jar.is_file() for jar in jars):
            say("bringing Spark's connectors for S3 and Avro")
            resolved(folder)
    found = digests(folder / "jars")
    wrong = sorted(name for name in expected if found.get(name) != expected[name])
    if wrong:
        raise Unprepared(f"{folder / 'jars'} is not what {lock.name} says: {', '.join(wrong)}")
    return jars


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process brings jars into a folder: Ivy's cache is not made for two."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".alone").open("a") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        yield


def resolved(folder: Path) -> Path:
    """Let spark-submit resolve the packages into a folder of its own; give where the jars are.

    What a break of the network left out is asked for again; what came before it is in Ivy's cache.
    """
    import pyspark

    java = find_java(os.environ)
    if java is None:
        raise Unprepared(JAVA_ADVICE)
    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [str(program), *arguments(folder)]
    environ = os.environ | {"JAVA_HOME": str(java), "PYSPARK_PYTHON": sys.executable}
    said = ""
    for _ in range(ATTEMPTS):
        with tempfile.NamedTemporaryFile(suffix=".py") as nothing:
            done = subprocess.run(
                [*command, nothing.name],
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode == 0:
            return folder / "jars"
        said = done.stderr.strip()
    raise Unprepared(f"Spark could not resolve its connectors:\n{said}")


def arguments(folder: Path) -> list[str]:
    """Give what spark-submit is told."""
    return [
        *("--master", "local[1]", "--conf", f"spark.jars.ivy={folder}"),
        *("--packages", ",".join((*PACKAGES, AVRO)), "--exclude-packages", ",".join(EXCLUDED)),
    ]


def digests(folder: Path) -> dict[str, str]:
    """Give the SHA-256 of each jar in a folder."""
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in folder.glob("*.jar")}


def written(found: Mapping[str, str]) -> str:
    """Give the text of a lock."""
    return "".join(f"{name} sha256:{digest}\n" for name, digest in sorted(found.items()))


def read(lock: Path) -> dict[str, str]:
    """Give the digests that a lock holds."""
    lines = (line.split(" sha256:") for line in lock.read_text(encoding="utf-8").splitlines())
    return {line[0]: line[1] for line in lines}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
