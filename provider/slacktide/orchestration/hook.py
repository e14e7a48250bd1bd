"""The connection type ``slacktide``: where a workspace is, and how its storage is reached."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook

from slacktide.errors import InvalidSettingError, NotDefinedError, SetupError, SlacktideError

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace

CONNECTION_TYPE = "slacktide"
_HAS_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]+)?/+[^/]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|[/~]")


def same_for_all(what: str, root: str) -> str:
    """Give a root back that is one place for all processes of Airflow.

    Raises:
        InvalidSettingError: it is a relative path, which begins where a process runs.
    """
    if _ABSOLUTE.match(root) is None:
        raise InvalidSettingError(
            f"{what} is at {root!r}, which is another place for each process of Airflow",
            hint="give it as s3://…, gs://… or abfss://…, or as a path that begins with /",
        )
    return root


class SlacktideHook(BaseHook):
    """Opens the workspace that a connection names.

    The host of the connection is the root of the workspace; its extra holds the storage options of
    the object store, by name.

    Args:
        slacktide_conn_id: the id of a connection of type ``slacktide``.
    """

    conn_name_attr = "slacktide_conn_id"
    default_conn_name = "slacktide_default"
    conn_type = CONNECTION_TYPE
    hook_name = "Slacktide"

    def __init__(self, slacktide_conn_id: str = default_conn_name, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.slacktide_conn_id = slacktide_conn_id

    @classmethod
    def get_ui_field_behaviour(cls) -> dict[str, Any]:
        """Say how the form of a connection looks: an address, and options in the extra."""
        return {
            "hidden_fields": ["schema", "login", "password", "port"],
            "relabeling": {"host": "Workspace root", "extra": "Storage options"},
            "placeholders": {"host": "s3://lake/slacktide/shop or /data/slacktide/shop"},
        }

    def address(self) -> tuple[str, dict[str, Any]]:
        """Give the root of the workspace and the storage options.

        Raises:
            NotDefinedError: there is no such connection, or Airflow did not say.
            SetupError: it is of another type, or it has no root.
            InvalidSettingError: the root is a relative path, or a part of it is read as a login or a port.
        """
        connection = self._connection()
        if connection.conn_type != CONNECTION_TYPE:
            raise SetupError(
                f"connection {self.slacktide_conn_id} is of type {connection.conn_type!r}",
                hint="make a connection of type slacktide, its host being the workspace root",
            )
        root = self._root(connection)
        if not root:
            raise SetupError(
                f"connection {self.slacktide_conn_id} names no workspace",
                hint="put the workspace root into its host",
            )
        told = same_for_all(f"connection {self.slacktide_conn_id}", root)
        return told, storage_options(connection.extra_dejson)

    def _root(self, connection: Any) -> str:
        """The address; of ``slacktide://s3://lake/shop`` Airflow makes a host and a schema."""
        if connection.login or connection.port:
            raise InvalidSettingError(
                f"connection {self.slacktide_conn_id} has a login or a port, which no workspace root has",
                hint='give it as JSON: {"conn_type": "slacktide", "host": ROOT, "extra": {…}}',
            )
        host, schema = connection.host or "", connection.schema
        if not schema:
            return host
        if _HAS_PATH.match(host):
            raise InvalidSettingError(
                f"connection {self.slacktide_conn_id} has the host {host} and the schema {schema}",
                hint="give the whole address as host, and no schema",
            )
        return f"{host.rstrip('/')}/{schema}"

    def get_conn(self) -> Workspace:
        """Open the workspace.

        Raises:
            WorkspaceMissingError: there is none at the address.
        """
        from slacktide.engine.workspace import Workspace

        root, options = self.address()
        return Workspace.open(root, storage_options=options or None)

    def test_connection(self) -> tuple[bool, str]:
        """Try to open the workspace; serves the button in the form of the connection."""
        try:
            workspace = self.get_conn()
        except SlacktideError as error:
            return False, str(error)
        return True, f"opened {workspace.root}"

    def _connection(self) -> Any:
        from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

        try:
            return self.get_connection(self.slacktide_conn_id)
        except (AirflowNotFoundException, AirflowRuntimeError) as error:
            raise NotDefinedError(
                f"connection {self.slacktide_conn_id} is not defined, or Airflow's API server did not answer",
                hint="add a connection of type slacktide under that id, its host being the root",
            ) from error


def storage_options(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Give the storage options that the extra of a connection holds."""
    return {str(name): value for name, value in extra.items() if value is not None}
