"""``slacktide bench``: the measurements of the performance page, repeatable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from slacktide.cli.access import AsJson, Views, names, spark_session
from slacktide.cli.bench_table import show
from slacktide.cli.screen import emit, quiet, say
from slacktide.cli.workplace import folder, spark_inside
from slacktide.errors import InvalidSettingError


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("bench")(bench)


def bench(
    *,
    scale: Annotated[float, typer.Option(help="Scale of TPC-H; 1 is about a gigabyte.")] = 0.1,
    nature: Annotated[
        list[str] | None,
        typer.Option(help="clustered, gaps or scattered; again for more. All if not given."),
    ] = None,
    share: Annotated[
        list[float] | None,
        typer.Option(
            help="Rows that an arrival changes, as a share; again for more. 0.01 if not given."
        ),
    ] = None,
    arrivals: Annotated[int, typer.Option(min=1, help="Arrivals of each nature and share.")] = 2,
    warming: Annotated[
        int, typer.Option(min=0, help="As many before these, in which Java compiles; not counted.")
    ] = 1,
    views: Views = None,
    memory: Annotated[str, typer.Option(help="Heap of Java, for both sides.")] = "4g",
    keep: Annotated[
        str | None, typer.Option(metavar="DIR", help="Work in this directory, and leave it there.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all figures to this JSON file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure refreshes against batch runs over the same rows, and compare their answers."""
    from slacktide.cli.measuring import Setting, measure
    from slacktide.workloads.tpch import NATURES, QUERIES

    _check(nature or (), share or (), out, NATURES)
    setting = Setting(
        scale=scale,
        natures=tuple(nature or NATURES),
        shares=tuple(share or (0.01,)),
        arrivals=arrivals,
        views=tuple(names(views) or QUERIES),
        warming=warming,
    )

    def written(found: dict[str, Any]) -> None:
        if out is not None:
            out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    with folder(keep) as root:
        conf = {"spark.driver.memory": memory, **spark_inside(root)}
        with spark_session("bench", conf=conf) as spark:
            found = measure(spark, root, setting, quiet if as_json else say, written)
    written(found)
    if as_json:
        emit(found)
    else:
        show(found)
    if any(cell["different"] for cell in found["cells"]):
        raise typer.Exit(1)


def _check(
    natures: Sequence[str], shares: Sequence[float], out: Path | None, known: Sequence[str]
) -> None:
    unknown = [name for name in natures if name not in known]
    if unknown:
        raise InvalidSettingError(f"nature {unknown[0]!r} is unknown", hint=", ".join(known))
    wrong = [one for one in shares if not 0 < one <= 1]
    if wrong:
        raise InvalidSettingError(f"share {wrong[0]} is not above 0 and at most 1", hint="as 0.01")
    if out is not None and out.is_dir():
        raise InvalidSettingError(f"{out} is a directory", hint="name a file in it")
    if out is not None and not out.parent.is_dir():
        raise InvalidSettingError(f"there is no directory {out.parent}", hint="make it first")
