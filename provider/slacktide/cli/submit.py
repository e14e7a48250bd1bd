"""The application that spark-submit runs: it executes one stored plan and prints one line of JSON.

    spark-submit …/slacktide/cli/submit.py --workspace ROOT --plan PLAN_ID

The line is the report of the run, or ``{"error": {"code", "message", "hint"}}``. Exit codes: 0 the
plan is committed (now or earlier; views that failed while others went on are in the report), 1 a
defect of ours, 2 the user must change something, 3 a retry may help. Where an answer was committed and
could not be published to its sink, both lines are printed, and the code is that of the error. Credentials of the object store
come from the environment.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from slacktide.errors import SlacktideError


def main(arguments: Sequence[str]) -> int:
    """Execute the plan that the arguments name and give the exit code."""
    from slacktide.errors import InvalidSettingError, InvariantError, SlacktideError

    try:
        given = _parser().parse_args(arguments)
        report = execute(given.workspace, given.plan)
    except _UsageError as error:
        return _failed(InvalidSettingError(str(error), hint="see the operator's documentation"))
    except SlacktideError as error:
        return _failed(error)
    except Exception as error:  # noqa: BLE001 - the edge of the program: a defect gets one line too
        traceback.print_exc()
        return _failed(InvariantError(f"{type(error).__name__}: {error}"))
    print_line(report)
    return _unpublished(report)


def _unpublished(report: dict[str, Any]) -> int:
    """Print why an answer was not published, where one was not, and give the exit code."""
    from slacktide.cli.cycle import gravest

    failures = [sink["error"] for sink in report["sinks"].values() if sink["error"]]
    code = gravest(failures)
    # The gravest one: of the others another attempt may make an end.
    first = next((failure for failure in failures if gravest([failure]) == code), None)
    if first is not None:
        print_line({"error": first})
    return code


def execute(root: str, plan_id: str) -> dict[str, Any]:
    """Execute a stored plan in the session of this application and give its report.

    Raises:
        SlacktideError: the run failed; nothing of it is visible.
    """
    from slacktide.cli.access import storage_options
    from slacktide.engine.workspace import Workspace
    from slacktide.spark.sessions.lease import submitted_session

    workspace = Workspace.open(root, storage_options=storage_options())
    with submitted_session() as spark:
        return workspace.refresh(spark, plan_id).to_dict()


class _UsageError(Exception):
    """The arguments are not as they must be."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="submit.py", description="Execute one stored plan.", allow_abbrev=False)
    parser.add_argument("--workspace", required=True, metavar="ROOT")
    parser.add_argument("--plan", required=True, metavar="PLAN_ID")
    return parser


def _failed(error: SlacktideError) -> int:
    print_line({"error": error.to_dict()})
    return error.exit_code


def print_line(document: dict[str, Any]) -> None:
    """Print a document as one line, whole even where others write to the same log."""
    sys.stdout.write(f"\n{json.dumps(document, ensure_ascii=False, default=str)}\n")
    sys.stdout.flush()


def forget_own_folder() -> None:
    """Take this file's folder from the path, where its names would hide those of other modules."""
    own = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != own]


if __name__ == "__main__":
    forget_own_folder()
    sys.exit(main(sys.argv[1:]))
