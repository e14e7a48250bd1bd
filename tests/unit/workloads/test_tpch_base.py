from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from slacktide.errors import InvalidSettingError, SetupError, SourceError
from slacktide.workloads import tpch
from slacktide.workloads.tpch import base as base_module
from slacktide.workloads.tpch.feed import hidden_name, publish
from tests.harness.tpch_history import History, feed_rows


def test_base_is_one_arrival_of_inserts_per_table(base: Path) -> None:
    rows = {}
    for table in tpch.TABLES.values():
        (file,) = (base / table.name).iterdir()
        changes = feed_rows(file)
        assert {kind for kind, _ in changes} == {"insert"}
        rows[table.name] = len(changes)
        names = [*(column.name for column in table.columns), "_change_type", "_commit_version"]
        assert pq.read_schema(file).names == names
    assert rows == rows | {"region": 5, "nation": 25, "customer": 150, "orders": 1500}
    assert rows["lineitem"] > 5000


def test_base_is_a_legal_database(base: Path) -> None:
    History(base).assert_legal()


def test_types_are_the_generators(base: Path) -> None:
    schema = pq.read_schema(base / "lineitem" / "base-00000.parquet")
    assert str(schema.field("l_quantity").type) == "decimal128(15, 2)"
    assert str(schema.field("l_shipdate").type) == "date32[day]"
    assert str(schema.field("l_linenumber").type) == "int32"
    assert str(schema.field("l_comment").type) == "string"
    assert not schema.field("l_orderkey").nullable


def test_references_name_keys() -> None:
    for table in tpch.TABLES.values():
        for column, target in table.references.items():
            name, key = target.split(".")
            assert tpch.TABLES[name].key == (key,)
            assert column in {column.name for column in table.columns}


def test_nothing_hidden_remains(base: Path) -> None:
    assert not [path for path in base.rglob(".*") if path.name != ".stream"]
    assert [path.name for path in (base / ".stream").iterdir()] == ["base.json"]


def test_second_base_is_refused(root: Path) -> None:
    with pytest.raises(SourceError, match="holds a base already"):
        tpch.generate_base(root, scale=0.001)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_scale_must_be_positive(tmp_path: Path, scale: float) -> None:
    with pytest.raises(InvalidSettingError, match="scale"):
        tpch.generate_base(tmp_path, scale=scale)
    assert not list(tmp_path.iterdir())


def test_missing_generator_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_module, "_PROGRAM", "tpchgen-that-is-not-there")
    with pytest.raises(SetupError) as caught:
        tpch.generate_base(tmp_path / "root", scale=0.001)
    assert ".[workloads]" in caught.value.hint
    assert not (tmp_path / "root").exists()


def test_failing_generator_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_module, "_PROGRAM", "false")
    assert shutil.which("false")
    with pytest.raises(SetupError, match="failed: exit code 1"):
        tpch.generate_base(tmp_path, scale=0.001)


def test_large_scales_are_generated_in_parts() -> None:
    runs = list(base_module._runs(10.0))
    assert runs[0][0] == tuple(name for name in tpch.TABLES if name not in {"orders", "lineitem"})
    assert runs[1:] == [(("orders", "lineitem"), part, 3) for part in (1, 2, 3)]
    assert list(base_module._runs(1.0)) == [(tuple(tpch.TABLES), 1, 1)]


def test_publishing_twice_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "file.parquet"
    hidden_name(target).write_text("rows")
    publish(target)
    publish(target)
    assert [path.name for path in tmp_path.iterdir()] == ["file.parquet"]
