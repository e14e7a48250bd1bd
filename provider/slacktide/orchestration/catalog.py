"""The workspaces that Airflow knows: names resolved to configuration, configuration opened.

Reads the Variable and the connections, hence runs in tasks, triggers and the API server only, never
while a DAG file is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from slacktide.errors import (
    NotDefinedError,
    RetryableError,
    SlacktideError,
    UnknownObjectError,
    WorkspaceExistsError,
    WorkspaceMissingError,
)
from slacktide.orchestration.hook import SlacktideHook, same_for_all
from slacktide.orchestration.variable import DEFAULT_KEY, WorkspaceConfig, parse

if TYPE_CHECKING:
    from slacktide.engine.workspace import Workspace


def configured(key: str = DEFAULT_KEY) -> dict[str, WorkspaceConfig]:
    """Read the Variable: every workspace it configures, by name.

    Raises:
        NotDefinedError: there is no such Variable, or Airflow did not say.
        InvalidSettingError: it is not as its schema says.
    """
    from airflow.sdk import Variable

    text = Variable.get(key, default=None)
    if text is None:
        raise NotDefinedError(
            f"Variable {key} is not defined, or Airflow's API server did not answer",
            hint=f"set it, as in airflow variables set {key} '{{\"workspaces\": {{…}}}}'",
        )
    return parse(text, key=key)


def resolve(
    workspace: str | None, slacktide_conn_id: str | None, key: str = DEFAULT_KEY
) -> WorkspaceConfig:
    """Give the configuration of one workspace: from its connection alone, or from the Variable.

    Raises:
        UnknownObjectError: the Variable has no workspace of this name.
    """
    if slacktide_conn_id:
        return WorkspaceConfig(name=workspace or slacktide_conn_id, conn_id=slacktide_conn_id)
    known = configured(key)
    if workspace in known:
        return known[workspace]
    if workspace is None and len(known) == 1:
        return next(iter(known.values()))
    raise UnknownObjectError(
        f"Variable {key} has no workspace {workspace!r}",
        hint=f"it has {', '.join(sorted(known))}",
    )


def address(config: WorkspaceConfig) -> tuple[str, dict[str, Any]]:
    """Give root and storage options of a workspace.

    Raises:
        InvalidSettingError: the root is a relative path.
    """
    if config.root is not None:
        return same_for_all(f"workspace {config.name}", config.root), {}
    return SlacktideHook(config.conn_id or SlacktideHook.default_conn_name).address()


def open_workspace(config: WorkspaceConfig, *, create: bool = False) -> Workspace:
    """Open a workspace; with ``create``, make the one that the Variable declares and nobody made.

    Raises:
        WorkspaceMissingError: there is none, and nothing is declared for it.
    """
    from slacktide.engine.workspace import Workspace

    root, options = address(config)
    try:
        return Workspace.open(root, storage_options=options or None)
    except WorkspaceMissingError:
        if not (create and config.declarations):
            raise
    try:
        return Workspace.create(root, storage_options=options or None, **config.settings)
    except WorkspaceExistsError:  # another planner has made it meanwhile
        return Workspace.open(root, storage_options=options or None)


@contextmanager
def task_errors() -> Iterator[None]:
    """Turn our errors into Airflow's: a retry follows only where it can help.

    Raises:
        AirflowException: something is not defined, as Airflow says also where its API server is away for a while.
        AirflowFailException: the user must change something, or the defect is ours.
    """
    from airflow.sdk.exceptions import AirflowException, AirflowFailException

    try:
        yield
    except RetryableError:
        raise
    except NotDefinedError as error:
        raise AirflowException(f"{error.code}: {error}") from error
    except SlacktideError as error:
        raise AirflowFailException(f"{error.code}: {error}") from error
