"""The compose file: valid by the schema of the compose specification, pinned, checked and private."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
import yaml

FILE = Path(__file__).parents[3] / "docker-compose.yaml"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((folder / "compose-spec.json").read_text(encoding="utf-8"))
    return jsonschema.validators.validator_for(schema)(schema)


def test_it_is_valid_by_the_compose_specification(compose, validator):
    assert [error.message for error in validator.iter_errors(compose)] == []


def test_the_schema_refuses_what_is_wrong(compose, validator):
    wrong = {**compose, "services": {"x": {"imagee": "a:1"}}}
    assert not validator.is_valid(wrong)


def test_every_image_has_a_fixed_tag(compose):
    images = {service["image"] for service in compose["services"].values()}
    build = compose["services"]["airflow-init"]["build"]["dockerfile_inline"]
    images |= {line.split()[1] for line in build.splitlines() if line.startswith("FROM")}
    for image in images:
        tag = image.rpartition(":")[2]
        assert any(sign.isdigit() for sign in tag), image


def test_what_keeps_running_has_a_health_check(compose):
    for name, service in compose["services"].items():
        assert ("healthcheck" in service) == (service["restart"] != "no"), name


def test_the_parts_are_there(compose):
    services = compose["services"]
    commands = {" ".join(service.get("command", [])) for service in services.values()}
    assert {"api-server", "scheduler", "dag-processor", "triggerer"} <= commands
    masters = [s for s in services.values() if "deploy.master.Master" in str(s.get("entrypoint"))]
    workers = [s for s in services.values() if "deploy.worker.Worker" in str(s.get("entrypoint"))]
    assert (len(masters), len(workers)) == (1, 2)
    url = services["airflow-scheduler"]["environment"]["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
    assert url.startswith("postgresql")


def test_ports_are_open_to_this_machine_only(compose):
    for service in compose["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_names_that_are_used_are_declared(compose):
    services = compose["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        named = {volume.split(":")[0] for volume in service.get("volumes", [])}
        assert {name for name in named if not name.startswith(".")} <= set(compose["volumes"])


def test_nothing_secret_is_written_down(compose):
    environment = compose["services"]["airflow-scheduler"]["environment"]
    for key in environment:
        if key.endswith(("SECRET", "SECRET_KEY", "FERNET_KEY", "PASSWORD")):
            pytest.fail(f"{key} holds a value")
    assert "${POSTGRES_PASSWORD" in environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"]
