"""Base data of TPC-H as the first arrival of eight change feeds.

The rows come from the program ``tpchgen-cli`` of the wheel of that name, table by table, and pass
through one record batch at a time.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TYPE_CHECKING

from slacktide.common.change_feed import INSERT
from slacktide.common.extras import install
from slacktide.errors import InvalidSettingError, SetupError, SourceError
from slacktide.workloads.tpch.feed import arrow_schema, as_changes, publish, write_hidden
from slacktide.workloads.tpch.schema import TABLES, Table

if TYPE_CHECKING:
    import pyarrow as pa

STREAM = ".stream"
_RECORD = "base.json"
_PROGRAM = "tpchgen-cli"
_LARGE = ("orders", "lineitem")
_ROW_GROUP = 256 * 1024
_FILE_SCALE = 4.0  # lineitem at this scale is about a gigabyte: the most that one file takes
_ADVICE = install("workloads")


@dataclass(frozen=True, slots=True)
class Base:
    """What was generated: the scale, and the rows of each table."""

    scale: float
    rows: Mapping[str, int]


def generate_base(root: Path, *, scale: float) -> None:
    """Write the base of each table to ``<root>/<table>/`` as inserts.

    Raises:
        InvalidSettingError: a scale that is not positive.
        SetupError: the generator is not installed, or fails.
        SourceError: the root holds a base already.
    """
    if not (scale > 0 and math.isfinite(scale)):
        raise InvalidSettingError(f"scale {scale!r} is not positive", hint="such as 0.01 or 1")
    record = root / STREAM / _RECORD
    if record.exists():
        raise SourceError(f"{root} holds a base already", hint="choose an empty directory")
    program = _find_program()
    scratch = root / STREAM / "generated"
    rows = dict.fromkeys(TABLES, 0)
    for tables, part, parts in _runs(scale):
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        command = [program, "parquet", f"--scale-factor={scale}", f"--tables={','.join(tables)}"]
        command += [f"--output-dir={scratch}", "--quiet", f"--parts={parts}", f"--part={part}"]
        _run(command)
        for name in tables:
            target = root / name / f"base-{part - 1:05d}.parquet"
            rows[name] += _write_base(scratch / name, TABLES[name], target)
    shutil.rmtree(scratch)
    write_json(record, {"format": 1, "scale": scale, "rows": rows})


def read_base(root: Path) -> Base:
    """Read what `generate_base` wrote down.

    Raises:
        SourceError: there is no base.
    """
    record = root / STREAM / _RECORD
    if not record.exists():
        raise SourceError(f"{root} holds no base of TPC-H", hint="call generate_base first")
    document = json.loads(record.read_text(encoding="utf-8"))
    return Base(document["scale"], document["rows"])


def write_json(target: Path, document: object) -> None:
    """Write a record whole or not at all."""
    hidden = target.with_name(f".{target.name}.part")
    hidden.write_text(json.dumps(document, indent=1, sort_keys=True), encoding="utf-8")
    hidden.replace(target)


def _find_program() -> str:
    """Find the generator: in its wheel's own record, beside this Python, or on the PATH."""
    name = _PROGRAM + (".exe" if os.name == "nt" else "")
    try:
        recorded = [Path(str(file.locate())) for file in files(_PROGRAM) or ()]
    except PackageNotFoundError:
        recorded = []
    beside = [Path(sysconfig.get_path("scripts")) / name, Path(sys.executable).parent / name]
    for path in [path for path in recorded if path.name == name] + beside:
        if path.is_file():
            return str(path.resolve())
    found = shutil.which(name)
    if found is None:
        raise SetupError(f"the program {_PROGRAM} is not installed", hint=_ADVICE)
    return found


def _runs(scale: float) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Give the tables, part and number of parts of each run: one run as long as files stay small.

    The start of the generator takes longer than a small base.
    """
    parts = max(1, math.ceil(scale / _FILE_SCALE))
    if parts == 1:
        yield tuple(TABLES), 1, 1
        return
    yield tuple(name for name in TABLES if name not in _LARGE), 1, 1
    for part in range(1, parts + 1):
        yield _LARGE, part, parts


def _write_base(directory: Path, table: Table, target: Path) -> int:
    """Rewrite what the generator wrote as inserts; give the number of rows."""
    import pyarrow.parquet as pq

    (source,) = directory.glob("*.parquet")
    with pq.ParquetFile(source) as file:
        batches = _distinct(file.iter_batches(batch_size=_ROW_GROUP), table)
        write_hidden(target, table, (as_changes(batch, INSERT, 0) for batch in batches))
    publish(target)
    source.unlink()
    return int(pq.read_metadata(target).num_rows)


def _distinct(batches: Iterable[pa.RecordBatch], table: Table) -> Iterator[pa.RecordBatch]:
    """Give each key once, in our types.

    Below scale 0.01 the benchmark's formula lets one supplier offer a part twice. The offers of a
    part stand together, and a batch holds those of whole parts.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    for batch in batches:
        rows = batch.cast(schema)
        if table.name == "partsupp":
            place = pa.array(range(len(rows)), pa.int64())
            keyed = pa.table([*rows.select(table.key).columns, place], [*table.key, "place"])
            first = keyed.group_by(list(table.key)).aggregate([("place", "min")])
            rows = rows.take(first.column("place_min").combine_chunks().sort())
        yield rows


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be run: {error}", hint=_ADVICE) from error
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise SetupError(f"{_PROGRAM} failed: {said}", hint=_ADVICE)
