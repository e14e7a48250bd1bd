"""One set of options reaches an object store, from here and from Spark."""

from __future__ import annotations

from typing import Any

import obstore
import pytest

from slacktide.store import parse_address
from slacktide.store.reach import reach, spark_settings
from tests.harness.s3 import KEY, REGION, S3, SECRET

LAKE = parse_address("s3://lake/ws")
KEYS = {"access_key_id": "k", "secret_access_key": "s"}
CREDENTIALS = {"fs.s3a.access.key": "k", "fs.s3a.secret.key": "s"}


def at(url: str, region: str = "us-east-1") -> dict[str, str]:
    return {
        "fs.s3a.endpoint": url,
        "fs.s3a.endpoint.region": region,
        "fs.s3a.path.style.access": "true",
    }


SPELLINGS: list[tuple[dict[str, Any], dict[str, str], dict[str, str]]] = [
    ({}, {}, {}),
    ({"region": "r"}, {}, {"fs.s3a.endpoint.region": "r"}),
    ({"aws_default_region": "r"}, {}, {"fs.s3a.endpoint.region": "r"}),
    ({"region": "r"}, {"AWS_REGION": "other"}, {"fs.s3a.endpoint.region": "r"}),
    ({}, {"AWS_DEFAULT_REGION": "r"}, {"fs.s3a.endpoint.region": "r"}),
    (KEYS, {}, CREDENTIALS),
    ({"AWS_ACCESS_KEY_ID": "k", "aws_secret_access_key": "s"}, {}, CREDENTIALS),
    ({}, {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}, CREDENTIALS),
    ({**KEYS, "token": "t"}, {}, {**CREDENTIALS, "fs.s3a.session.token": "t"}),
    ({"endpoint": "http://h:1"}, {}, at("http://h:1")),
    ({"endpoint_url": "http://h:1", "region": "r"}, {}, at("http://h:1", "r")),
    ({}, {"AWS_ENDPOINT_URL": "http://h:1"}, at("http://h:1")),
    ({"endpoint": "http://h:1"}, {"AWS_ENDPOINT_URL": "http://other"}, at("http://h:1")),
    ({"endpoint": "http://other"}, {"AWS_ENDPOINT_URL_S3": "http://h:1"}, at("http://h:1")),
    ({"endpoint": "https://b.h", "virtual_hosted_style_request": True}, {}, {}),
    (
        {"skip_signature": "true", "timeout": "5s", "client_options": {"allow_http": True}},
        {},
        {
            "fs.s3a.aws.credentials.provider": (
                "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
            )
        },
    ),
    ({"region": None}, {"AWS_REGION": ""}, {}),
]


@pytest.mark.parametrize(("options", "environment", "settings"), SPELLINGS)
def test_spark_is_told_what_obstore_is_told(
    options: dict[str, Any], environment: dict[str, str], settings: dict[str, str]
) -> None:
    assert spark_settings(options, environment) == settings
    reach(LAKE, options)


REACHING: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"endpoint": "{}", **KEYS}, {}),
    ({"endpoint": "{}", **KEYS, "timeout": "60s"}, {}),
    ({"endpoint": "{}", **KEYS, "aws_allow_http": True, "connect_timeout": "9s"}, {}),
    ({"endpoint": "{}", **KEYS, "client_options": {"allow_http": True, "timeout": "60s"}}, {}),
    ({"endpoint": "{}", "skip_signature": True, "region": 7}, {}),
    (KEYS, {"AWS_ENDPOINT_URL": "{}"}),
    ({**KEYS, "timeout": "60s"}, {"AWS_ENDPOINT_URL": "{}", "AWS_CONNECT_TIMEOUT": "9s"}),
    ({**KEYS, "endpoint": "http://127.0.0.1:1"}, {"AWS_ENDPOINT_URL_S3": "{}"}),
    ({}, {"AWS_ENDPOINT_URL": "{}", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}),
]


@pytest.mark.parametrize(("options", "environment"), REACHING)
def test_reaches_an_endpoint_however_it_is_named(
    s3: S3, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], environment: dict[str, str]
) -> None:
    bucket = s3.bucket()
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(s3.url))
    given = {
        name: value.format(s3.url) if isinstance(value, str) else value
        for name, value in options.items()
    }
    obstore.put(reach(bucket.address("ws"), given), "key", b"here")
    assert bucket.read("key") == b"here"
    assert spark_settings(given)["fs.s3a.endpoint"] == s3.url


def test_plain_http_may_be_forbidden(s3: S3) -> None:
    bucket = s3.bucket()
    client = reach(bucket.address(), {**bucket.options, "allow_http": False})
    with pytest.raises(obstore.exceptions.GenericError):
        obstore.head(client, "key")


def test_the_harness_says_the_same_in_both_ways(s3: S3) -> None:
    settings = spark_settings(s3.options, {})
    assert settings == spark_settings({}, s3.environment)
    assert settings == {
        **at(s3.url, REGION),
        "fs.s3a.access.key": KEY,
        "fs.s3a.secret.key": SECRET,
    }
