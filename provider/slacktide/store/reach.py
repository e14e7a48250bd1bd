"""How object stores are reached: one set of options, for obstore here and for Spark's connector.

Options are obstore's names for a scheme, those of its HTTP client among them or under
``client_options``. What they do not say, the environment does (``AWS_REGION``, …). An endpoint that is
spelled ``http://`` may be used so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from obstore.store import from_url

from slacktide.errors import InvalidSettingError
from slacktide.store.address import Address

if TYPE_CHECKING:
    import obstore
    from obstore.store import ClientConfig, S3Config

Options = Mapping[str, Any]
HTTP: Final = frozenset(
    {
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "http1_only",
        "http2_only",
        "pool_idle_timeout",
        "pool_max_idle_per_host",
        "proxy_ca_certificate",
        "proxy_excludes",
        "proxy_url",
        "randomize_addresses",
        "read_timeout",
        "root_certificate",
        "timeout",
        "user_agent",
    }
)
_S3: Final = "s3"
_NESTED: Final = "client_options"
_ENDPOINTS: Final = ("endpoint", "endpoint_url")
_TRUE: Final = frozenset({"1", "true", "on", "yes", "y"})
_ANONYMOUS: Final = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
# Whoever calls tries again; a page and a sensor that look at several stores have others to look at.
_PATIENCE: Final = timedelta(seconds=60)
# obstore signs for this region where none is named.
_REGION: Final = "us-east-1"


def reach(address: Address, options: Options | None) -> obstore.store.ObjectStore:
    """Make obstore's client of the bucket of an address.

    Raises:
        InvalidSettingError: an option is not of the form that it must have.
        Exception: as obstore raises it; the caller knows what the address is for.
    """
    config, http = _parted(options or {})
    if address.scheme == _S3:
        http = _with_environment(http, config)
    # The key is kept out of the URL, where obstore would decode percent signs in it.
    url = f"{address.scheme}://{address.authority}"
    return from_url(
        url,
        config=cast("S3Config", config) or None,
        client_options=cast("ClientConfig", http) or None,
        retry_config={"retry_timeout": _PATIENCE},
    )


def spark_settings(
    options: Options | None, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Give the settings with which Spark's S3A connector reaches what obstore reaches.

    Only what options or environment say is set; the connector's own defaults do for the rest. They
    hold credentials where the options do, and belong into settings of a session, never into a
    command line.
    """
    config, _ = _parted(options or {})
    given = _Given(config, os.environ if environment is None else environment)
    found: dict[str, str | None] = {
        "fs.s3a.access.key": given("access_key_id"),
        "fs.s3a.secret.key": given("secret_access_key"),
        "fs.s3a.session.token": given("session_token", "token"),
        "fs.s3a.endpoint.region": given("region", "default_region"),
    }
    endpoint = given.endpoint
    if endpoint is not None and not given.flag("virtual_hosted_style_request"):
        found["fs.s3a.endpoint"] = endpoint
        found["fs.s3a.path.style.access"] = "true"
        found["fs.s3a.endpoint.region"] = found["fs.s3a.endpoint.region"] or _REGION
    if given.flag("skip_signature"):
        found["fs.s3a.aws.credentials.provider"] = _ANONYMOUS
    return {name: value for name, value in found.items() if value is not None}


class _Given:
    """What options and environment say of S3, the options first."""

    def __init__(self, config: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._config = {name.lower().removeprefix("aws_"): text for name, text in config.items()}
        self._environment = environment

    def __call__(self, *names: str) -> str | None:
        spelled = (self._environment.get(f"AWS_{name.upper()}") for name in names)
        said = (*(self._config.get(name) for name in names), *spelled)
        return next((text for text in said if text), None)

    def flag(self, name: str) -> bool:
        return (self(name) or "").lower() in _TRUE

    @property
    def endpoint(self) -> str | None:
        # obstore takes this variable before all others, and before its own option.
        return self._environment.get("AWS_ENDPOINT_URL_S3") or self(*_ENDPOINTS)


def _parted(options: Options) -> tuple[dict[str, str], dict[str, Any]]:
    """Part options of the store, as texts, from those of the HTTP client.

    obstore ends the process with a panic where it finds the latter among the former.
    """
    config: dict[str, str] = {}
    http: dict[str, Any] = {}
    for name, value in options.items():
        plain = name.lower().removeprefix("aws_")
        if value is None:
            continue
        if name == _NESTED:
            http |= _nested(value)
        elif plain in HTTP:
            http[plain] = _text(value)
        else:
            config[name] = _text(value)
    return config, http


def _nested(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidSettingError(
            f"the storage option {_NESTED} is a {type(value).__name__}, which is not a mapping",
            hint='write it as in {"client_options": {"timeout": "30s"}}',
        )
    return value


def _with_environment(http: dict[str, Any], config: Mapping[str, str]) -> dict[str, Any]:
    """Complete options of the HTTP client; obstore asks the environment only where there are none."""
    given = _Given(config, os.environ)
    plain = (given.endpoint or "").lower().startswith("http://")
    spoken = {
        name: text for name in sorted(HTTP) if (text := os.environ.get(f"AWS_{name.upper()}"))
    }
    return {**({"allow_http": "true"} if plain else {}), **spoken, **http}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
