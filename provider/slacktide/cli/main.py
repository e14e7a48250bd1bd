"""The program ``slacktide``: commands, exit codes, and errors as one line or one document.

Exit codes: 0 done, 1 a defect of ours, 2 the user must change something, 3 a retry may help; 130
after Ctrl-C, 143 after SIGTERM, 129 where the terminal was closed and 141 where the reader of the
output went away, as shells count signals.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Annotated, TextIO, cast

import typer

from slacktide import __version__
from slacktide.cli import bench, costing, cycle, demo, inspection, reading, setup, source, view
from slacktide.cli.access import DEBUG
from slacktide.cli.screen import print_error
from slacktide.cli.termination import Terminated, heeding_termination
from slacktide.errors import InvalidSettingError, InvariantError, SlacktideError, UserError

INTERRUPTED, PIPE_CLOSED = 130, 141
# Typer carries Click inside itself since 0.26 and does not name this class; its children tell.
_TypedWrongly = cast("type[Exception]", typer.BadParameter.__mro__[2])

app = typer.Typer(
    name="slacktide",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (setup, source, view, cycle, reading, inspection, costing, demo, bench):
    commands.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def slacktide(
    context: typer.Context,
    workspace: Annotated[
        str | None,
        typer.Option(
            "--workspace",
            "-w",
            metavar="ROOT",
            envvar="SLACKTIDE_WORKSPACE",
            help="Path or URL of the workspace.",
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Keep the answers of Spark SQL queries up to date over data that arrives now and then."""
    context.obj = workspace


def main() -> None:
    """Run the program and end the process."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code; errors are printed, never raised."""
    as_json = "--json" in arguments
    try:
        with heeding_termination():
            code = app(list(arguments), prog_name="slacktide", standalone_mode=False)
            sys.stdout.flush()
    except Terminated as ending:
        told = _ended(f"ended by {ending.name}")
        return _failed(told, as_json=as_json, code=ending.exit_code)
    except BrokenPipeError:
        return _pipe_closed()
    except (KeyboardInterrupt, typer.Abort):
        return _failed(_ended("interrupted"), as_json=as_json, code=INTERRUPTED)
    except SlacktideError as error:
        _debug(error)
        return _failed(error, as_json=as_json, code=error.exit_code)
    except _TypedWrongly as error:
        return _mistyped(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the edge of the program: a defect gets one line too
        return _failed(_defect(error), as_json=as_json, code=InvariantError.exit_code)
    if code == INTERRUPTED:
        return _failed(_ended("interrupted"), as_json=as_json, code=INTERRUPTED)
    return code if isinstance(code, int) else 0


def _failed(error: SlacktideError, *, as_json: bool, code: int) -> int:
    try:
        print_error(error, as_json=as_json)
    except BrokenPipeError:
        return _pipe_closed()
    except OSError:  # the terminal is closed
        _silence(sys.stderr)
    return code


def _ended(how: str) -> UserError:
    return UserError(how, hint="what was not committed is not kept; run it again")


def _mistyped(error: Exception, *, as_json: bool) -> int:
    """Say what is wrong with a command line; of one that lacks its command people are told by the help, which was shown."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "slacktide")
    text = getattr(error, "format_message", error.__str__)().strip().rstrip(".")
    told = InvalidSettingError(text or f"{command} has no command", hint=f"see {command} --help")
    return (
        _failed(told, as_json=as_json, code=told.exit_code) if text or as_json else told.exit_code
    )


def _defect(error: Exception) -> InvariantError:
    """Keep the traceback of an error nobody foresaw, and say where it is."""
    text = "".join(traceback.format_exception(error))
    if os.environ.get(DEBUG):
        sys.stderr.write(text)
        where = "the traceback is above"
    else:
        handle, path = tempfile.mkstemp(prefix="slacktide-", suffix=".log", text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        where = f"a defect of Slacktide; the traceback is in {path}"
    return InvariantError(f"{type(error).__name__}: {error}", hint=where)


def _debug(error: SlacktideError) -> None:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)


def _pipe_closed() -> int:
    _silence(sys.stdout)
    return PIPE_CLOSED


def _silence(stream: TextIO) -> None:
    """Leave quietly: the interpreter must not flush into what is closed when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
