"""Errors, in one tree with three branches that a caller acts on.

    SlacktideError
    ├── UserError                    something must be changed by the user: exit code 2, never retried
    │   ├── DataError                rows contradict the declared history or fail in the query
    │   ├── FunctionError            a declared function cannot be used
    │   ├── InvalidNameError         a name that no object may have
    │   ├── InvalidSettingError      a setting, argument or variable has no such value
    │   ├── QueryError               the text of a view does not parse or resolve, or Spark cannot run it
    │   ├── SinkError                an answer cannot be published where it should be
    │   ├── SetupError               Java, Spark, a connector, an extra, a connection or a package is missing
    │   │   └── NotDefinedError      Airflow has no such Variable or connection, or could not say
    │   ├── SourceError              a source's files cannot be read as declared
    │   │   └── ArrivalChangedError  a file changed after it was accepted
    │   ├── UnknownObjectError       no source, view, function, plan or run has this name
    │   ├── ObjectExistsError        the name is taken
    │   ├── UnsupportedQueryError    the policy or the product excludes this query
    │   └── WorkspaceError           there is no usable workspace at the address
    │       ├── WorkspaceExistsError
    │       ├── WorkspaceMissingError
    │       └── NewerFormatError     written by a newer version
    ├── RetryableError               the same call may succeed later: exit code 3
    │   ├── CommitConflictError      somebody else changed what this one used
    │   ├── ExecutionError           Spark or Airflow failed for a reason outside the query
    │   └── StorageError             the object store failed
    │       └── DamagedFileError     a file of the workspace is missing, cut off or altered
    └── InvariantError               a defect of ours: exit code 1

A message names the object and the fact, the hint names the way out.
"""

from __future__ import annotations

from typing import ClassVar


class SlacktideError(Exception):
    """Root of all errors raised on purpose.

    Attributes:
        message: the object and the fact, one line.
        hint: the way out, one line; empty only where there is none.
    """

    code: ClassVar[str] = "SLACKTIDE"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = " ".join(message.split())
        self.hint = " ".join(hint.split())

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def to_dict(self) -> dict[str, str]:
        """Give the form that ``--json`` prints: code, message and hint."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class UserError(SlacktideError):
    """The user must change something; a retry cannot help."""

    code = "USER"
    exit_code = 2


class DataError(UserError):
    """Rows contradict the declared history, or fail in the query."""

    code = "DATA"


class FunctionError(UserError):
    """A declared function cannot be imported or used."""

    code = "FUNCTION"


class InvalidNameError(UserError, ValueError):
    """A name that no object of a workspace may have."""

    code = "INVALID_NAME"


class InvalidSettingError(UserError, ValueError):
    """A setting, an argument or the Airflow Variable has no such value."""

    code = "INVALID_SETTING"


class QueryError(UserError):
    """The text of a view does not parse or does not resolve."""

    code = "QUERY"


class SetupError(UserError):
    """Java, Spark, a connector, an extra, a connection or a package is missing, or cannot be used."""

    code = "SETUP"


class NotDefinedError(SetupError):
    """Airflow has no Variable or connection of this name, or its API server did not answer, of which Airflow says the same: tasks are retried."""

    code = "NOT_DEFINED"


class SinkError(UserError):
    """An answer cannot be published where the setting ``sink`` says."""

    code = "SINK"


class SourceError(UserError):
    """The files of a source cannot be read as declared."""

    code = "SOURCE"


class ArrivalChangedError(SourceError):
    """A file changed, or went away, after it was accepted."""

    code = "ARRIVAL_CHANGED"


class UnknownObjectError(UserError, KeyError):
    """No source, view, function, plan or run has this name."""

    code = "UNKNOWN_OBJECT"

    __str__ = SlacktideError.__str__


class ObjectExistsError(UserError):
    """The name is taken by another object of the workspace."""

    code = "OBJECT_EXISTS"


class UnsupportedQueryError(UserError):
    """The policy of the view, or the product, excludes this query."""

    code = "UNSUPPORTED_QUERY"


class WorkspaceError(UserError):
    """There is no usable workspace at the address."""

    code = "WORKSPACE"


class WorkspaceExistsError(WorkspaceError, FileExistsError):
    """A workspace exists already at the address."""

    code = "WORKSPACE_EXISTS"

    __str__ = SlacktideError.__str__


class WorkspaceMissingError(WorkspaceError, FileNotFoundError):
    """No workspace exists at the address."""

    code = "WORKSPACE_MISSING"

    __str__ = SlacktideError.__str__


class NewerFormatError(WorkspaceError):
    """A record was written by a newer version of Slacktide."""

    code = "NEWER_FORMAT"


class RetryableError(SlacktideError):
    """The same call may succeed later, unchanged."""

    code = "RETRYABLE"
    exit_code = 3


class CommitConflictError(RetryableError):
    """Somebody else changed what this one used: another run, or whoever writes landed files."""

    code = "COMMIT_CONFLICT"


class ExecutionError(RetryableError):
    """Spark or Airflow failed for a reason outside the query."""

    code = "EXECUTION"


class StorageError(RetryableError):
    """The object store failed."""

    code = "STORAGE"


class DamagedFileError(StorageError):
    """A file of the workspace is missing, cut off or altered.

    Attributes:
        chain: the state, mirror or answer that it belongs to.
    """

    code = "DAMAGED_FILE"

    def __init__(self, message: str, *, chain: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.chain = chain


class InvariantError(SlacktideError):
    """A defect of ours; never caught except at the edge of a command or task."""

    code = "INVARIANT"
