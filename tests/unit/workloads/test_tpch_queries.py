from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from slacktide.errors import InvalidSettingError
from slacktide.workloads import tpch
from slacktide.workloads.tpch.parameters import PARAMETERS


def test_there_are_22_without_open_places() -> None:
    assert list(tpch.QUERIES) == [f"q{number}" for number in range(1, 23)]
    for text in tpch.QUERIES.values():
        assert text.startswith(("SELECT", "WITH"))
        assert "{" not in text
        assert ";" not in text


def test_defaults_are_the_validation_values() -> None:
    q3 = tpch.query("q3")
    assert q3 == tpch.query("q3", segment="BUILDING", date="1995-03-15") == tpch.QUERIES["q3"]
    assert "c_mktsegment = 'BUILDING'" in q3
    assert "o_orderdate < DATE '1995-03-15'" in q3


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_in_its_text(name: str) -> None:
    other: dict[type, Any] = {int: 77, str: "x y", Decimal: Decimal("0.77"), tuple: None}
    for parameter, declared in PARAMETERS[name].items():
        value: Any = date(2001, 2, 3) if parameter == "date" else other[type(declared.default)]
        if value is not None:
            assert tpch.query(name, **{parameter: value}) != tpch.QUERIES[name]


def test_one_value_is_an_equality_and_several_are_a_list() -> None:
    assert "r_name = 'ASIA'" in tpch.query("q5", region=["ASIA"])
    assert "r_name IN ('ASIA', 'EUROPE')" in tpch.query("q5", region=("ASIA", "EUROPE"))
    assert "p_size IN (1, 2)" in tpch.query("q2", size=[1, 2])


def test_texts_are_quoted() -> None:
    assert r"c_mktsegment = 'O\'Neil \\ 1'" in tpch.query("q3", segment="O'Neil \\ 1")


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("q23", {}, "no query 'q23'"),
        ("q1", {"gamma": 1}, "no parameter 'gamma'"),
        ("q1", {"delta": "90"}, "'delta'"),
        ("q1", {"delta": True}, "'delta'"),
        ("q3", {"date": "15.3.1995"}, "'date'"),
        ("q3", {"date": 1995}, "'date'"),
        ("q3", {"segment": 5}, "'segment'"),
        ("q5", {"region": []}, "'region'"),
        ("q6", {"discount": "much"}, "'discount'"),
        ("q6", {"discount": float("nan")}, "'discount'"),
        ("q6", {"discount": None}, "'discount'"),
        ("q9", {"color": "gr%n"}, "'color'"),
        ("q9", {"color": "' OR 1=1"}, "'color'"),
    ],
)
def test_bad_parameters_are_refused(name: str, parameters: dict, told: str) -> None:
    with pytest.raises(InvalidSettingError, match=told) as caught:
        tpch.query(name, **parameters)
    assert caught.value.hint


@pytest.mark.parametrize("scale", [0.001, 0.01, 0.1, 1, 100])
def test_workable_parameters_fit_every_query(scale: float) -> None:
    found = tpch.workable_parameters(scale)
    assert list(found) == list(tpch.QUERIES)
    for name, parameters in found.items():
        tpch.query(name, **parameters)


def test_workable_parameters_are_the_benchmarks_at_scale_1() -> None:
    found = tpch.workable_parameters(1)
    assert {name: tpch.query(name, **found[name]) for name in found} == dict(tpch.QUERIES)
    assert tpch.workable_parameters(100)["q11"]["fraction"] == Decimal("0.000001")


def test_workable_parameters_need_a_scale() -> None:
    with pytest.raises(InvalidSettingError, match="not positive"):
        tpch.workable_parameters(0)
