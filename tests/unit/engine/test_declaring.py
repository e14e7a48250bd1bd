"""What the Variable declares against what the workspace has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slacktide.algebra.view import ReadView
from slacktide.common.clock import system_clock
from slacktide.engine.definitions.catalogue import Catalogue
from slacktide.engine.definitions.declaring import declare, outstanding, stated
from slacktide.engine.plan import Alteration, Declared, Plan, Registration
from slacktide.errors import InvalidNameError, InvalidSettingError, ObjectExistsError
from slacktide.store import update as u
from slacktide.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "orders").mkdir()
    pq.write_table(pa.table({"id": [1]}), tmp_path / "orders" / "a.parquet")
    return Store.create(str(tmp_path / "ws"), settings={}, clock=system_clock)


def run(store: Store, **declarations: Any) -> Declared:
    return declare(Catalogue(store), store.world(), declarations)


def source(store: Store, **more: Any) -> dict[str, Any]:
    return {"kind": "files", "path": str(Path(store.root).parent / "orders"), **more}


def have_view(store: Store, sql: str = "SELECT 1") -> None:
    read = ReadView(None, ()).to_dict()
    settings = {"policy": "auto"}
    store.commit([u.AddView("totals", sql, settings, {}, read)])


def test_missing_sources_come_at_once_and_views_with_the_run(store: Store) -> None:
    found = run(store, sources={"orders": source(store)}, views={"totals": {"sql": "SELECT 1"}})
    assert "orders" in store.world().sources
    assert found == Declared((Registration("totals", "SELECT 1", {}),), ())


def test_what_is_declared_as_it_is_says_nothing(store: Store) -> None:
    have_view(store)
    both = {"sources": {"orders": source(store)}}
    run(store, **both)
    views = {"totals": {"sql": "SELECT 1", "policy": "auto"}}
    assert run(store, **both, views=views) == Declared((), ())


def test_what_differs_is_reported_and_stays(store: Store) -> None:
    have_view(store)
    run(store, sources={"orders": source(store)})
    found = run(
        store,
        sources={"orders": source(store, key=["id"])},
        views={"totals": {"sql": "SELECT 2", "policy": "auto"}},
    )
    assert found.register == ()
    assert [notice.split()[:2] for notice in found.notices] == [
        ["source", "orders"],
        ["view", "totals"],
    ]


def test_apply_replaces_a_view_and_never_a_source(store: Store) -> None:
    have_view(store)
    run(store, sources={"orders": source(store)})
    found = run(
        store,
        sources={"orders": source(store, key=["id"])},
        views={"totals": {"sql": "SELECT 2", "policy": "full"}},
        apply=True,
    )
    former = stated(store.world().views["totals"])
    assert found.register == (Registration("totals", "SELECT 2", {"policy": "full"}, former),)
    assert [notice.split()[0] for notice in found.notices] == ["source"]


def test_what_a_run_would_change_is_outstanding_until_it_has(store: Store) -> None:
    have_view(store)
    run(store, sources={"orders": source(store, schema="id BIGINT")})
    wide = {"orders": source(store, schema="id BIGINT, more INT")}
    other = {"totals": {"sql": "SELECT 2", "policy": "auto"}}
    both = {"apply": True, "sources": wide, "views": other}
    assert outstanding(store.world(), both) == ["source orders", "view totals"]
    assert outstanding(store.world(), {**both, "apply": False}) == []
    as_it_is = {"totals": {"sql": "SELECT 1", "policy": "auto"}, "new": {"sql": "SELECT 3"}}
    assert outstanding(store.world(), {"apply": True, "views": as_it_is}) == []


def test_a_source_that_gains_columns_is_altered_where_declarations_apply(store: Store) -> None:
    run(store, sources={"orders": source(store)})
    wider = {"orders": source(store, schema="id BIGINT, more INT")}
    found = run(store, sources=wider)
    assert (found.alter, len(found.notices)) == ((), 1)
    assert "declared with more columns" in found.notices[0]
    found = run(store, sources=wider, apply=True)
    assert found == Declared((), (), (Alteration("orders", "id BIGINT, more INT"),))
    Catalogue(store).alter_source(None, "orders", "id BIGINT, more INT")
    assert run(store, sources=wider, apply=True) == Declared((), ())
    assert run(store, sources={"orders": source(store)}) == Declared((), ()), "it says no columns"
    keyed = {"orders": source(store, schema="id BIGINT, more INT, x INT", key=["id"])}
    found = run(store, sources=keyed, apply=True)
    assert (found.alter, [notice.split()[1] for notice in found.notices]) == ((), ["orders"])


@pytest.mark.parametrize(
    ("schema", "fact"),
    [
        ("more INT", "does not keep the column id BIGINT"),
        ("id INT, more INT", "does not keep the column id BIGINT"),
        ("id BIGINT, more INT NOT NULL", "says NOT NULL of more"),
    ],
    ids=["dropped", "retyped", "not null"],
)
def test_columns_that_a_source_cannot_have_are_refused_where_they_apply(
    store: Store, schema: str, fact: str
) -> None:
    run(store, sources={"orders": source(store)})
    other = {"orders": source(store, schema=schema)}
    before = store.world().number
    (notice,) = run(store, sources=other).notices
    assert "source orders is declared" in notice
    with pytest.raises(InvalidSettingError, match=fact) as refused:
        run(store, sources=other, apply=True)
    assert refused.value.hint
    with pytest.raises(InvalidSettingError, match="schema is None, which is not a text"):
        Catalogue(store).alter_source(None, "orders", None)  # type: ignore[arg-type]
    assert store.world().number == before


def test_a_function_is_declared_as_it_is_with_and_without_what_is_usual(store: Store) -> None:
    as_typed = {"kind": "python", "deterministic": True}
    Catalogue(store).add_function("f", "os:getpid", "int", as_typed)
    short = {"target": "os:getpid", "returns": "int"}
    assert run(store, functions={"f": short}).notices == ()
    assert run(store, functions={"f": {**short, **as_typed}}).notices == ()
    for other in ({"deterministic": False}, {"kind": "pandas"}, {"returns": "bigint"}):
        (notice,) = run(store, functions={"f": {**short, **other}}).notices
        assert notice == "function f is declared otherwise; drop it to change it"


def test_a_plan_keeps_what_was_declared() -> None:
    plan = Plan(
        now="2026-01-01T00:00:00.000000Z",
        views=(),
        mirrors={},
        register=(Registration("totals", "SELECT 2", {}, "of another text"),),
        versions={"orders": 1},
        notices=("source orders is declared otherwise",),
        alter=(Alteration("orders", "id BIGINT, more INT"),),
    )
    assert Plan.from_dict(plan.to_dict()) == plan
    assert plan.summary[2:] == [
        "versions: orders to 1",
        "source orders gains columns: id BIGINT, more INT",
        "source orders is declared otherwise",
    ]


@pytest.mark.parametrize(
    ("views", "error"),
    [
        ({"to/tals": {"sql": "SELECT 1"}}, InvalidNameError),
        ({"totals": {}}, InvalidSettingError),
        ({"totals": {"sql": "SELECT 1", "colour": "red"}}, InvalidSettingError),
        ({"totals": {"sql": "SELECT 1", "policy": "sometimes"}}, InvalidSettingError),
    ],
)
def test_wrong_declarations(store: Store, views: dict[str, Any], error: type[Exception]) -> None:
    before = store.world().number
    with pytest.raises(error, match="to"):
        run(store, views=views)
    assert store.world().number == before


@pytest.mark.parametrize(
    ("declarations", "fact"),
    [
        ({"sources": {"orders": {"path": "/in"}}}, "source orders has no kind"),
        ({"sources": {"orders": {"kind": True, "path": "/in"}}}, "source orders has no kind"),
        ({"sources": {"orders": True}}, "source orders is declared as True"),
        ({"sources": ["orders"]}, r"sources is \['orders'\], which is not a mapping"),
        ({"functions": {"f": {"returns": "double"}}}, "function f has no target"),
        ({"functions": {"f": {"target": "m:f"}}}, "function f has no returns"),
        ({"views": {"totals": "SELECT 1"}}, "view totals is declared as 'SELECT 1'"),
    ],
)
def test_declarations_that_lack_something(
    store: Store, declarations: dict[str, Any], fact: str
) -> None:
    with pytest.raises(InvalidSettingError, match=fact) as refused:
        run(store, **declarations)
    assert "declare" in refused.value.hint


def test_options_may_be_of_any_plain_type(store: Store) -> None:
    options = {"header": True, "maxColumns": 10, "sep": ";"}
    declared = {"orders": source(store, format="csv", schema="id BIGINT", options=options)}
    assert run(store, sources=declared) == run(store, sources=declared) == Declared((), ())
    assert store.world().sources["orders"].arguments["options"] == options


def test_the_same_facts_in_other_words_are_no_change(store: Store) -> None:
    given = {"format": "csv", "schema": "id BIGINT, n INT", "options": {"header": True}}
    run(store, sources={"orders": source(store, **given)})
    same = {**given, "schema": "id bigint,\n  n integer", "options": {"HEADER": "true"}}
    assert run(store, sources={"orders": source(store, **same)}, apply=True) == Declared((), ())
    for other in ({"schema": "id BIGINT, n STRING"}, {"options": {"header": "false"}}):
        (notice,) = run(store, sources={"orders": source(store, **{**same, **other})}).notices
        assert notice.startswith("source orders is declared otherwise")


def test_what_another_planner_has_added_since_is_taken_as_it_is(store: Store) -> None:
    """Two planners meet at a new workspace; both looked before either wrote."""
    both = {
        "sources": {"orders": source(store)},
        "functions": {"shout": {"target": "str:upper", "returns": "string"}},
    }
    before = store.world()
    run(store, **both)
    assert declare(Catalogue(store), before, both) == Declared((), ())
    other = {**both, "sources": {"orders": source(store, key=["id"])}}
    (notice,) = declare(Catalogue(store), before, other).notices
    assert notice.startswith("source orders is declared otherwise")
    have_view(store)
    with pytest.raises(ObjectExistsError, match="the name totals is taken by view totals"):
        run(store, sources={"totals": source(store)})
