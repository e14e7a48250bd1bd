"""Failures of users' functions in Spark's Python workers, from the traceback that Spark passes on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slacktide.errors import FunctionError
from slacktide.store.record import FunctionRecord

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(
    r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)', re.MULTILINE
)
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[^']+)'")
_RAISED = re.compile(r"^(?P<said>[A-Za-z_][\w.]*(?::.*)?)$", re.MULTILINE)
_LETTERS = 300


def of_python(what: str, text: str, functions: Sequence[FunctionRecord]) -> FunctionError | None:
    """The error that a traceback tells of; None where there is no traceback.

    Args:
        what: the object that the work is for, as "view revenue".
        text: what Spark says.
        functions: that the work may call.
    """
    if _TRACEBACK not in text:
        return None
    missing = _MISSING.search(text)
    if missing is not None:
        return _not_installed(what, missing["module"], functions)
    traceback = text[text.rindex(_TRACEBACK) :]
    frames = list(_FRAME.finditer(traceback))
    raiser = _raiser(text, functions)
    name = "a function" if raiser is None else f"function {raiser.name} ({raiser.target})"
    where = f" at line {frames[-1]['line']} of {_file(frames[-1])}" if frames else ""
    return FunctionError(
        f"{what}: {name} raised {_last_line(traceback, frames)[:_LETTERS]}{where}",
        hint="correct the function, its declared type or the row, then run the refresh again; "
        "the last answer stays as it was",
    )


def _file(frame: re.Match[str]) -> str:
    """The name of a file alone: workers run copies in folders of Spark."""
    return frame["file"].rpartition("/")[2]


def _not_installed(what: str, module: str, functions: Sequence[FunctionRecord]) -> FunctionError:
    root = module.partition(".")[0]
    of = next((f for f in functions if f.target.partition(":")[0].partition(".")[0] == root), None)
    needs = "a function" if of is None else f"function {of.name} ({of.target})"
    return FunctionError(
        f"{what}: {needs} needs the module {module}, which Spark's Python workers do not have",
        hint="install it on every worker, or send it with spark.submit.pyFiles (--py-files); only a "
        "module of one file travels by itself",
    )


def _raiser(text: str, functions: Sequence[FunctionRecord]) -> FunctionRecord | None:
    """The function that raised: the one in whose frames it happened, or the only one."""
    frames = [(frame["file"], frame["name"]) for frame in _FRAME.finditer(text)]
    for function in functions:
        module, _, attribute = function.target.partition(":")
        stem = module.rpartition(".")[2]
        if any(name == attribute and f"/{stem}" in file for file, name in frames):
            return function
    return functions[0] if len(functions) == 1 else None


def _last_line(traceback: str, frames: Sequence[re.Match[str]]) -> str:
    """What was raised: the first line after the frames that is not indented, and what follows it."""
    rest = traceback[frames[-1].end() :] if frames else traceback.partition("\n")[2]
    found = _RAISED.search(rest)
    if found is None:
        return "an exception"
    said = rest[found.start() :].partition("\n\n")[0]
    return " ".join(line for line in said.splitlines() if not line.startswith(("\tat ", "JVM ")))
