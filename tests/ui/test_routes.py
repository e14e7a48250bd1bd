"""The routes of the plugin inside Airflow's own application: who may ask what, and what comes with it."""

from __future__ import annotations

import json

import pytest

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.filterwarnings("ignore:Using `httpx` with"),  # what Airflow itself is locked to
]

PAGES = (
    "/slacktide/",
    "/slacktide/static/page.js",
    "/slacktide/static/page.css",
    "/slacktide/static/icon.svg",
    "/slacktide/static/icon-dark.svg",
    "/slacktide/api/workspaces",
    "/slacktide/api/workspaces/shop",
)
CLOSED = ("/slacktide/docs", "/slacktide/redoc", "/slacktide/openapi.json")
ROLES = ("viewer", "user", "admin")


@pytest.fixture(scope="module")
def airflow_app(tmp_path_factory):
    """Airflow's root application with our plugin mounted, on a database of its own."""
    home = tmp_path_factory.mktemp("airflow")
    variable = {"workspaces": {"shop": {"root": str(home / "no <b>such</b> workspace")}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{home}/airflow.db")
        patch.setenv("AIRFLOW__API_AUTH__JWT_SECRET", "s" * 64)
        patch.setenv("AIRFLOW_VAR_SLACKTIDE", json.dumps(variable))
        from airflow import settings
        from airflow.utils import db

        settings.configure_vars()
        settings.configure_orm()
        db.initdb()
        from airflow.api_fastapi.app import create_app, purge_cached_app

        purge_cached_app()
        yield create_app(apps="core")
        purge_cached_app()
        settings.dispose_orm()


@pytest.fixture
def client(airflow_app):
    from starlette.testclient import TestClient

    return TestClient(airflow_app, raise_server_exceptions=False)


def headers(role):
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="x", role=role))
    return {"Authorization": f"Bearer {token}"}


def mounted(app):
    (mount,) = [route for route in app.routes if getattr(route, "path", "") == "/slacktide"]
    return mount.app


def test_every_route_is_in_the_table_and_only_reads(airflow_app):
    routes = [route for route in mounted(airflow_app).routes if hasattr(route, "methods")]
    listed = {f"/slacktide{route.path}" for route in routes}
    assert listed == {
        "/slacktide/",
        "/slacktide/static/{name}",
        "/slacktide/api/workspaces",
        "/slacktide/api/workspaces/{name}",
    }
    assert {method for route in routes for method in route.methods} == {"GET"}


@pytest.mark.parametrize("path", PAGES)
def test_nobody_reads_without_signing_in(client, path):
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"Authorization": "Bearer forged"}).status_code in {401, 403}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("role", ROLES)
def test_whoever_is_signed_in_reads(client, path, role):
    answer = client.get(path, headers=headers(role))
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("path", CLOSED)
def test_there_is_no_public_description(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_changed(client, method):
    for path in PAGES:
        assert client.request(method, path, headers=headers("admin")).status_code == 405


@pytest.mark.parametrize("role", [None, "admin"])
def test_browsers_are_told_to_be_careful(client, role):
    answer = client.get("/slacktide/", headers=headers(role) if role else {})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_page_has_no_script_or_style_of_its_own(client):
    text = client.get("/slacktide/", headers=headers("viewer")).text
    assert "<style" not in text
    assert " style=" not in text
    assert text.count("<script") == text.count('<script src="static/page.js" defer></script>') == 1


@pytest.mark.parametrize("name", ["nothing.js", "..%2Fapi.py", "%2e%2e%2fmodel.py"])
def test_no_other_file_is_served(client, name):
    answer = client.get(f"/slacktide/static/{name}", headers=headers("admin"))
    assert answer.status_code == 404


def test_a_workspace_that_cannot_be_read_is_shown_with_the_reason(client):
    shown = client.get("/slacktide/api/workspaces/shop", headers=headers("viewer")).json()
    assert shown["error"]["code"] == "WORKSPACE_MISSING"
    assert shown["error"]["hint"]


def test_an_unknown_workspace_is_not_found(client):
    answer = client.get("/slacktide/api/workspaces/other", headers=headers("viewer"))
    assert answer.status_code == 404


@pytest.mark.parametrize("text", [None, "{", '{"workspaces": {"a b": {"root": "/x"}}}'])
def test_a_variable_that_is_missing_or_wrong_is_shown_with_the_reason(client, monkeypatch, text):
    if text is None:
        monkeypatch.delenv("AIRFLOW_VAR_SLACKTIDE")
    else:
        monkeypatch.setenv("AIRFLOW_VAR_SLACKTIDE", text)
    shown = client.get("/slacktide/api/workspaces", headers=headers("viewer")).json()
    assert shown["workspaces"] == []
    assert "Variable slacktide" in shown["error"]["message"]


def test_the_page_is_in_the_navigation(client):
    plugins = client.get("/api/v2/plugins", headers=headers("admin")).json()["plugins"]
    (plugin,) = [plugin for plugin in plugins if plugin["name"] == "slacktide"]
    (view,) = plugin["external_views"]
    assert (view["href"], view["url_route"], view["destination"]) == (
        "/slacktide/",
        "slacktide",
        "nav",
    )
