"""How well the cost model tells of TPC-H, and which way it would have chosen, by the figures of a bench.

    python -m tests.campaigns.cost_model --out tests/campaigns/cost_model.json

Spark reads the 22 queries, and runs nothing else. The bench says how many rows there are and change, how
large states are, and what each way took; `tests.campaigns.tpch_columns` says what footers tell. Slacktide's own text way was not measured, so that the batch run
over plain tables stands for it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from slacktide.algebra.view import ReadView
from slacktide.cli.showcase import Showcase
from slacktide.engine.planning.sizes import column_facts
from slacktide.engine.workspace import Workspace
from slacktide.optimizer.costs import (
    DEFAULTS,
    Candidate,
    Evidence,
    PastRun,
    Prediction,
    Sample,
    Vector,
    fit,
    predict,
    program_work,
)
from slacktide.optimizer.programs.full import from_snapshots
from slacktide.optimizer.programs.maintainability import Maintainability
from slacktide.optimizer.programs.maintenance import maintain, rebuild
from slacktide.optimizer.programs.upkeep import state_sources
from slacktide.optimizer.statistics import (
    ChangeFacts,
    Figure,
    SourceFacts,
    Statistics,
    StoredFacts,
    with_columns,
)
from slacktide.optimizer.statistics.spans import reached
from slacktide.program.operator import Program
from slacktide.store.record import ColumnStatistics
from tests.harness.planner.tpch_views import ROW_BYTES, WIDTHS
from tests.harness.versions import versions

BENCH = Path(__file__).with_name("bench_tpch.json")
COLUMNS = Path(__file__).with_name("tpch_columns.json")
ROWS = {
    "lineitem": 6_001_215,
    "orders": 1_500_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "supplier": 10_000,
    "nation": 25,
    "region": 5,
}
FLOOR = 0.05
CLOSE = 0.01
"""The share of the range of orders in which those of a clustered arrival lie."""
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """One cell of the bench: the program's work by the model, and what it took."""

    program: str
    work: Vector
    took: Figures


def read_views() -> tuple[dict[str, ReadView], dict[str, tuple[str, ...]]]:
    """The queries as Spark reads them, and the declared keys of the sources."""
    from slacktide.cli.access import spark_session

    with tempfile.TemporaryDirectory() as folder, spark_session("cost model") as spark:
        case = Showcase(Path(folder) / "case", 0.01, [f"q{n}" for n in range(1, 23)])
        case.root.mkdir()
        case.generate()
        workspace = Workspace.create(str(case.workspace))
        keys = {}
        for name, declared in case.sources().items():
            keys[name] = tuple(workspace.add_source(name, **declared).arguments.get("key") or ())
        views = {
            name: workspace.draft_view(spark, name, text).view
            for name, text in case.queries().items()
        }
    return views, keys


class Bench:
    """The figures of a bench with one arrival of each nature."""

    def __init__(self, found: Figures, keys: Mapping[str, tuple[str, ...]]) -> None:
        self.first: Figures = found["first_build"]["views"]
        self.cells = {cell["nature"]: cell for cell in found["cells"]}
        self._keys = keys
        self._columns = json.loads(COLUMNS.read_text(encoding="utf-8"))
        self._states: dict[str, float] = {}
        for views in [self.first, *(cell["slacktide"]["views"] for cell in found["cells"])]:
            for label, rows in _operators(views):
                self._states[label] = max(self._states.get(label, 1.0), rows)

    def changes(self, nature: str) -> dict[str, float]:
        """Rows of the changes of each source: as many as the most of its scans have given."""
        views = self.cells[nature]["slacktide"]["views"]
        prefix = "changes of "
        found: dict[str, float] = {}
        for label, rows in _operators(views):
            name = label.removeprefix(prefix)
            if label.startswith(prefix) and rows and rows < 0.02 * ROWS[name]:
                found[name] = max(found.get(name, 0.0), rows)
        return found

    def statistics(self, name: str, view: ReadView, nature: str = "", *, first: bool) -> Statistics:
        """What the log would know at the first build, or at the arrival of a nature."""
        changed = self.changes(nature) if nature else {}
        sources = {
            source: self._source(source, changed.get(source, 0.0), nature) for source in ROWS
        }
        assert view.relation is not None
        sources = reached(view.relation, sources)
        if first:
            return Statistics(sources)
        stored = {
            chain: StoredFacts(self._states.get(chain, 1.0), 40.0 * self._states.get(chain, 1.0))
            for chain in state_sources(view)
        }
        stored[f"views/{name}"] = StoredFacts(float(self.first[name]["rows_out"]), 10_000.0)
        return with_columns(Statistics(sources, stored), view.relation)

    def _source(self, name: str, changed: float, nature: str) -> SourceFacts:
        rows, key = float(ROWS[name]), self._keys[name]
        told = {column: ColumnStatistics(**known) for column, known in self._columns[name].items()}
        return SourceFacts(
            rows=Figure(rows, "observed"),
            bytes=ROW_BYTES[name] * rows,
            files=8 if rows > 1e6 else 1,
            changes=(
                ChangeFacts(
                    Figure(changed, "observed"),
                    ROW_BYTES[name] * changed,
                    covered=covered(nature, told),
                ),
            ),
            width=WIDTHS[name],
            columns=column_facts(told, key, Figure(rows, "observed")),
        )


def covered(nature: str, columns: Iterable[str]) -> dict[str, Figure]:
    """Where the keys of a nature lie: of clustered orders at both ends, everything else anywhere."""
    close = ("l_orderkey", "o_orderkey") if nature == "clustered" else ()
    return {c: Figure(CLOSE if c in close else 1.0, "observed") for c in columns if "key" in c}


def _operators(views: Figures) -> Iterator[tuple[str, float]]:
    for view in views.values():
        for one in view.get("operators", ()):
            if one["rows"] is not None:
                yield one["operator"], float(one["rows"])


@dataclass(frozen=True)
class Case:
    """One view: what its ways are, and took."""

    name: str
    built: Measured
    rebuild: Vector
    text: dict[str, Measured]
    incremental: dict[str, Measured]

    @property
    def evidence(self) -> Evidence:
        """What is known after the first build."""
        took = self.built.took
        measured = Vector.of_report(took)
        run = PastRun(1, "rebuild", "r", self.built.work, measured, took["cpu_seconds"])
        return Evidence([run])

    def predicted(self, nature: str) -> tuple[Prediction, Prediction, Prediction]:
        """The ways as expected at an arrival: by increments, states anew, text."""
        evidence, own = self.evidence, Candidate("r", self.rebuild)
        return (
            predict(evidence, "incremental", Candidate("i", self.incremental[nature].work)),
            predict(evidence, "rebuild", own),
            predict(evidence, "text", Candidate("t", self.text[nature].work), own),
        )


def make_case(name: str, view: ReadView, bench: Bench) -> Case:
    """Work out the programs of a view, and set what they took beside them."""
    assert view.relation is not None
    analysis = Maintainability(view.relation, view.conf)
    anew, text = rebuild(name, analysis), from_snapshots(name, view)

    def work(program: Program, nature: str = "", *, first: bool = False) -> Vector:
        known = bench.statistics(name, view, nature, first=first)
        return program_work(program, known, view.relation)

    texts, increments = {}, {}
    for nature, cell in bench.cells.items():
        texts[nature] = Measured("t", work(text), cell["batch"]["views"][name])
        changed = frozenset(bench.changes(nature)) & frozenset(view.sources)
        took = cell["slacktide"]["views"][name]
        if changed and took["method"] != "full":
            program = maintain(name, analysis, changed).program
            increments[nature] = Measured("i", work(program, nature), took)
    built = Measured("r", work(anew, first=True), bench.first[name])
    return Case(name, built, work(anew), texts, increments)


def factors(pairs: Iterable[tuple[float, float]]) -> dict[str, float]:
    """How far predictions are from what was measured: the larger over the smaller."""
    found = [max(max(p, FLOOR) / max(m, FLOOR), max(m, FLOOR) / max(p, FLOOR)) for p, m in pairs]
    return {
        "cells": len(found),
        "median": round(median(found), 2),
        "tail": round(quantiles(found, n=10, method="inclusive")[-1], 2),
        "worst": round(max(found), 2),
    }


def price(took: Figures) -> float:
    """What a run cost in all: measured in tasks, reckoned outside of them."""
    return float(took["cpu_seconds"]) + DEFAULTS.outside(Vector.of_report(took))


def counted(cases: Iterable[Case]) -> list[tuple[str, Sample]]:
    """The work that was counted in each cell, by view, and what it took."""
    return [
        (case.name, Sample(Vector.of_report(one.took), one.took["cpu_seconds"]))
        for case in cases
        for one in (case.built, *case.text.values(), *case.incremental.values())
    ]


def errors(cases: Iterable[Case]) -> dict[str, Any]:
    """CPU of tasks: by the model and the first build; and by the work that was measured."""
    cases = list(cases)
    found: dict[str, Any] = {}
    for nature in ("clustered", "scattered"):
        seen = [case for case in cases if nature in case.incremental]
        for at, way in ((0, "incremental"), (2, "text")):
            took = [getattr(case, way)[nature].took["cpu_seconds"] for case in seen]
            predicted = [case.predicted(nature)[at].in_tasks for case in seen]
            found[f"{way}, {nature}"] = factors(zip(predicted, took, strict=True))
        for count in ("rows_read", "jobs"):
            found[f"{count} of increments, {nature}"] = factors(
                (getattr(cell.work, count), float(cell.took[count]))
                for cell in (case.incremental[nature] for case in seen)
            )
    samples = counted(cases)
    held_out: list[tuple[float, float]] = []
    weighed: list[tuple[float, float]] = []
    fitted: dict[str, list[tuple[float, float]]] = {"clustered": [], "scattered": []}
    for case in cases:
        rates = fit([one for name, one in samples if name != case.name], DEFAULTS).coefficients
        known = replace(case.evidence, coefficients=rates)
        for nature, cell in case.incremental.items():
            told = predict(known, "incremental", Candidate("i", cell.work)).in_tasks
            fitted[nature].append((told, cell.took["cpu_seconds"]))
        own = [one for name, one in samples if name == case.name]
        held_out += [(rates.in_tasks(one.work), one.seconds) for one in own]
        weight = Evidence(
            [replace(past, expected=past.measured) for past in case.evidence.runs], rates
        ).weight()
        weighed += [(weight * rates.in_tasks(one.work), one.seconds) for one in own[1:]]
    found["measured work, defaults"] = factors(
        (DEFAULTS.in_tasks(one.work), one.seconds) for _, one in samples
    )
    found["measured work, fitted to the other views"] = factors(held_out)
    found["the same, weighed by the first build"] = factors(weighed)
    for nature, pairs in fitted.items():
        found[f"incremental, {nature}, fitted to the other views"] = factors(pairs)
    return found


def choices(cases: Iterable[Case], nature: str) -> dict[str, Any]:
    """The first arrival of a nature after the first build: what is chosen, and what the best was."""
    spent = {"chosen": 0.0, "always incremental": 0.0, "best": 0.0}
    right, wrong, count = 0, [], 0
    for case in cases:
        if nature not in case.incremental:
            continue
        incremental, rebuilt, text = case.predicted(nature)
        own = price(case.incremental[nature].took)
        full = {"rebuild": price(case.built.took), "text": price(case.text[nature].took)}
        # Of two that cost the same the text is taken, as `weigh` does.
        taken = min((incremental, text, rebuilt), key=lambda one: one.price)
        cost, best = full.get(taken.way, own), min(own, full["text"])
        spent["chosen"] += cost
        spent["always incremental"] += own
        spent["best"] += best
        count += 1
        right += cost <= max(1.1 * best, best + 0.1)
        if cost > max(1.1 * best, best + 0.1):
            wrong.append([case.name, taken.way, round(cost, 2), round(best, 2)])
    rounded = {way: round(seconds, 1) for way, seconds in spent.items()}
    return {"views": count, "right": right, "seconds": rounded, "wrong": wrong}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out: Path = parser.parse_args(arguments).out
    bench = json.loads(BENCH.read_text(encoding="utf-8"))
    views, keys = read_views()
    figures = Bench(bench, keys)
    cases = [make_case(name, view, figures) for name, view in views.items()]
    natures = {nature: choices(cases, nature) for nature in ("clustered", "scattered")}
    prices = fit([sample for _, sample in counted(cases)], DEFAULTS).coefficients
    found = {
        **versions(),
        "bench": bench["slacktide"],
        "fitted prices": prices.to_dict(),
        "errors": errors(cases),
        "choices": natures,
    }
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
