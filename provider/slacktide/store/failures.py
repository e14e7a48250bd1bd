"""What failures of disks and object stores mean, and what to do about them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from obstore import exceptions as failure

from slacktide.errors import (
    InvalidSettingError,
    SetupError,
    SlacktideError,
    StorageError,
    WorkspaceError,
)

MAKE_ROOM: Final = (
    "make room there, then repeat the call: nothing is committed and the last answers stay; "
    "'slacktide gc' removes what nobody needs"
)
_FULL: Final = ("No space left on device", "Disk quota exceeded")
GIVE_CREDENTIALS: Final = (
    "give credentials in the Airflow connection or in the environment (AWS_ACCESS_KEY_ID and others; those of a "
    "profile are printed by: aws configure export-credentials --format env)"
)
_AGAIN: Final = "the same call may succeed when repeated"
_MACHINE: Final = ("169.254.169.254", "169.254.170.2")
"""Addresses at which machines of Amazon tell their roles, and containers theirs."""
_TOLD = re.compile(r"<(Code|Message)>([^<]*)</")
_CREDENTIALS: Final = frozenset(
    {"ExpiredToken", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"}
)
_REGIONS: Final = frozenset(
    {"AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException"}
)


def is_denied(path: Path, mode: int = os.R_OK | os.W_OK) -> bool:
    """Ask the file system itself, since obstore says "generic error" for a local refusal."""
    if os.access(path, mode, effective_ids=True):
        return False
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return not os.access(path, mode, effective_ids=True)


def advice_on(fact: str) -> str:
    """What to do about a failure of a store: where no credentials are given, it asks the machine for its role."""
    asked = any(address in fact for address in _MACHINE)
    return f"{GIVE_CREDENTIALS}; where the machine has a role, repeat the call" if asked else _AGAIN


def is_disk_full(text: str) -> bool:
    """Whether what a system says of a failure is that a disk, or a share of it, is full."""
    return any(sign in text for sign in _FULL)


def fact_of(error: Exception) -> str:
    """What a failure says in one line: of S3 its code and its message, which stand in XML."""
    told = {name: text for name, text in _TOLD.findall(str(error)) if text}
    if "Code" in told:
        return ": ".join(told[name] for name in ("Code", "Message") if name in told)
    return next(iter(str(error).splitlines()), type(error).__name__)


def setup_error_of(error: Exception, where: str) -> SetupError | None:
    """What must be changed before the same call can succeed; None where S3 names nothing of that kind."""
    fact = fact_of(error)
    code = fact.partition(":")[0]
    if code in _CREDENTIALS:
        return SetupError(
            f"{where} cannot be reached with these credentials: {fact}", hint=GIVE_CREDENTIALS
        )
    if code in _REGIONS:
        return SetupError(
            f"{where} is in another region: {fact}",
            hint="give the region of the bucket, as the storage option region or as AWS_REGION",
        )
    if code == "NoSuchBucket":
        return SetupError(
            f"there is no bucket of {where}: {fact}", hint="create it, or name another"
        )
    return None


def translated_failure(error: Exception, where: str, *, denied: bool) -> SlacktideError:
    """The error of ours that stands for one of the file system or of obstore.

    Args:
        error: as it was raised.
        where: the address.
        denied: whether the file system refuses this user.
    """
    fact = fact_of(error)
    if denied or isinstance(error, failure.PermissionDeniedError | PermissionError):
        return WorkspaceError(
            f"{where} may not be read or written by this user",
            hint="grant access to it, or run as a user that has it",
        )
    if isinstance(error, failure.UnauthenticatedError):
        return SetupError(
            f"{where} cannot be reached without credentials: {fact}", hint=GIVE_CREDENTIALS
        )
    if isinstance(error, failure.UnknownConfigurationKeyError):
        return InvalidSettingError(fact, hint="see the options of obstore for this scheme")
    if isinstance(error, failure.NotSupportedError | failure.InvalidPathError | ValueError):
        return WorkspaceError(
            f"{where} cannot be used: {fact}", hint="choose another address for the workspace"
        )
    if (found := setup_error_of(error, where)) is not None:
        return found
    if is_disk_full(fact):
        return StorageError(f"no space is left at {where}", hint=MAKE_ROOM)
    return StorageError(f"the store failed at {where}: {fact}", hint=advice_on(fact))
