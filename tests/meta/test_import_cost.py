"""Importing the product is cheap: what a layer must not load, it does not load, in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.tree import PLUGINS, PROVIDER, sources

HEAVY = ("pyspark", "py4j", "airflow", "pandas", "numpy", "pyarrow")
LIGHT_MODULES = {
    "slacktide": HEAVY,
    "slacktide.errors": HEAVY,
    "slacktide.algebra": HEAVY,
    "slacktide.program": HEAVY,
    "slacktide.store": HEAVY,
    "slacktide.optimizer": HEAVY,
    "slacktide.engine": HEAVY,
    "slacktide.engine.workspace": HEAVY,
    "slacktide.spark": HEAVY,
    "slacktide.workloads": HEAVY,
    "slacktide.cli.main": HEAVY,
    "slacktide.orchestration.provider_info": HEAVY,
}


def loaded(modules: str, watched: tuple[str, ...], **environ: str) -> str:
    """Import modules in a fresh interpreter and name the watched packages that came with them."""
    names = f"set({watched!r}) & set(sys.modules)"
    program = f"import sys, {modules}; print('loaded', *sorted({names}))"
    path = os.pathsep.join([str(PROVIDER.parent), str(PLUGINS.parent)])
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path} | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.rpartition("loaded")[2].strip()


@pytest.mark.parametrize("module", sorted(LIGHT_MODULES))
def test_loads_nothing_heavy(module: str) -> None:
    assert loaded(module, LIGHT_MODULES[module]) == ""


@pytest.mark.airflow
def test_parsing_a_dag_loads_neither_spark_nor_the_planner(tmp_path: Path) -> None:
    stems = [path.stem for path in sources(PROVIDER / "orchestration") if path.stem != "__init__"]
    modules = ", ".join(f"slacktide.orchestration.{stem}" for stem in stems)
    watched = ("pyspark", "py4j", "pandas", "pyarrow", "slacktide.optimizer", "slacktide.program")
    assert loaded(modules, watched, AIRFLOW_HOME=str(tmp_path)) == ""


def test_sees_what_is_loaded() -> None:
    assert loaded("pyarrow", HEAVY).split()[-1] == "pyarrow"
