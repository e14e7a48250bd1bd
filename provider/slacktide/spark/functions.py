"""Functions that views call, registered in a session by name and never pickled by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slacktide.common.names import may_name
from slacktide.errors import FunctionError
from slacktide.store.record import FunctionRecord

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import SparkSession

KINDS = ("python", "pandas")


def is_builtin(name: str) -> bool:
    """Whether Spark has a function of its own by a name, as of the version that is locked."""
    listed = resources.files("slacktide.spark").joinpath("builtins.txt").read_text(encoding="utf-8")
    return name.casefold() in listed.split()


def called(functions: Iterable[FunctionRecord], texts: Iterable[str]) -> list[FunctionRecord]:
    """The functions that texts may call: one that is not installed fails no other view."""
    text = "\n".join(texts)
    return [function for function in functions if may_name(text, function.name)]


def register_functions(session: SparkSession, functions: Iterable[FunctionRecord]) -> None:
    """Register functions under their names in one session.

    Raises:
        FunctionError: a module or function is not there, or its type is none of Spark's.
    """
    for function in functions:
        callable_, module = _load(function)
        _ship(session, module)
        try:
            session.udf.register(function.name, *_registration(function, callable_))
        except Exception as failure:
            raise FunctionError(
                f"function {function.name} cannot be registered: {failure}",
                hint="'returns' is a Spark type such as double; kind is python or pandas",
            ) from failure


def _registration(function: FunctionRecord, callable_: Callable[..., Any]) -> tuple[Any, ...]:
    from pyspark.sql.functions import udf
    from pyspark.sql.pandas.functions import pandas_udf

    # The kind is declared: neither hints of types nor a setting of the session makes it another one.
    make: Callable[..., Any] = (
        pandas_udf
        if function.declaration.get("kind", "python") == "pandas"
        else partial(udf, useArrow=False)
    )
    made = make(callable_, function.returns)
    is_deterministic = function.declaration.get("deterministic", True)
    return (made if is_deterministic else made.asNondeterministic(),)


def _load(function: FunctionRecord) -> tuple[Callable[..., Any], ModuleType]:
    name, _, attribute = function.target.partition(":")
    try:
        module = import_module(name)
        found = getattr(module, attribute)
    except (ImportError, AttributeError) as failure:
        raise FunctionError(
            f"function {function.name} is not at {function.target}: {failure}",
            hint="put its module on the Python path of the command and of Airflow's workers",
        ) from failure
    except (Exception, SystemExit) as failure:
        said = f"{type(failure).__name__}: {failure}".partition("\n")[0]
        raise FunctionError(
            f"function {function.name}: the module of {function.target} fails when it is imported: {said}",
            hint="correct the module, then run the refresh again; the last answer stays as it was",
        ) from failure
    if not callable(found):
        raise FunctionError(
            f"function {function.name}: {function.target} is not callable",
            hint="a target names a function",
        )
    return found, module


def _ship(session: SparkSession, module: ModuleType) -> None:
    """Send a module that is one file to the executors; packages must be installed there."""
    if module.__file__ is not None and "." not in module.__name__:
        path = Path(module.__file__)
        if path.name != "__init__.py":
            session.sparkContext.addPyFile(str(path))
